package loop_test

import (
	"testing"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
)

// Gate inputs read the facts: they follow the state, and permissions come from the user.
func TestFactsFollowClaimFromTurnToCommit(t *testing.T) {
	t.Parallel()
	sc := begin(t, loop.Policy{Gates: true})
	if f := sc.s.Facts(); !f.BeforeFirstTurn || f.Start.Tree != "" || f.Claimed {
		t.Errorf("before the first turn: %+v", f)
	}
	sc.checkpointed("gates baseline")
	sc.gates(green, "turn 1 fresh first")
	sc.feed(loop.Event{Payload: loop.Approved{Paths: []string{"a_test.go"}}}, "")
	sc.turn("done", "gates claim")
	if f := sc.s.Facts(); f.BeforeFirstTurn || !f.Claimed || !f.TurnSinceGates || f.Start.Tree != sc.s.Start.Tree || f.ClaimGates != nil || !f.MayChange("a_test.go") || f.MayChange("b_test.go") {
		t.Errorf("while the gates judge: %+v", f)
	}
	proven := green
	proven.Evidence, proven.Tree, proven.Head = gate.Proven, "tree", "head"
	sc.gates(proven, "commit a")
	f := sc.s.Facts()
	if f.ClaimGates == nil || f.ClaimGates.Head != "head" || f.ClaimGatedAt.IsZero() || f.TurnSinceGates || f.Turns != 1 || f.Iteration != 1 || f.Elapsed != sc.s.Elapsed() {
		t.Errorf("while it is committed: %+v", f)
	}
	if a, ok := f.Tasks.Task("a"); !ok || a.Status != loop.Open || f.Tasks.Wanted([]string{"a"}) != gate.Proven {
		t.Errorf("%+v", a)
	}
}
