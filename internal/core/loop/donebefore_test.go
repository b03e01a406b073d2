package loop_test

import (
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
)

// beginWithCompletePlan starts a loop over a plan that has nothing open.
func beginWithCompletePlan(t *testing.T, p loop.Policy, want string) *scenario {
	t.Helper()
	p.Limits.Iterations = 9
	sc := &scenario{t: t, now: time.Date(2026, 11, 20, 20, 0, 0, 0, time.UTC)}
	tasks := []loop.Task{{ID: "a", Status: loop.Done, DoneEarlier: true}}
	sc.feed(loop.Event{Payload: loop.Started{Policy: p, Tasks: tasks}}, want)
	return sc
}

// The outcome of a plan without open tasks depends on its gates.
func TestGatesDecideOutcomeOfCompletePlan(t *testing.T) {
	t.Parallel()
	beginWithCompletePlan(t, loop.Policy{Kind: loop.Change}, "finish finished")
	for _, c := range []struct {
		gates  loop.Gates
		want   string
		reason string
	}{
		{green, "finish finished", "every task was done before, and the gates pass"},
		{red("x"), "finish error", "every task was done before, but a gate fails: TestX fails"},
	} {
		sc := beginWithCompletePlan(t, loop.Policy{Kind: loop.Change, Gates: true}, "gates final")
		sc.gates(c.gates, c.want)
		if sc.s.Reason != c.reason || sc.s.Iteration != 0 {
			t.Errorf("%q after iteration %d", sc.s.Reason, sc.s.Iteration)
		}
	}
	sc := beginWithCompletePlan(t, loop.Policy{Kind: loop.Change, Gates: true}, "gates final")
	for range 3 {
		sc.gates(unknownResult, "wait")
		sc.feed(loop.Event{Payload: loop.TimerFired{}}, "gates final")
	}
	sc.gates(unknownResult, "finish unverified")
}

// If it is resumed, the loop works on the red gate.
func TestReopenedCompletePlanFixesFailingGate(t *testing.T) {
	t.Parallel()
	sc := beginWithCompletePlan(t, loop.Policy{Kind: loop.Change, Gates: true}, "gates final")
	sc.gates(red("x"), "finish error")
	sc.feed(loop.Event{Payload: loop.Reopened{}}, "checkpoint")
	sc.checkpointed("gates baseline")
	sc.gates(red("x"), "note; turn 1 fresh first")
	sc.turn("done", "gates claim")
	sc.gates(loop.Gates{Status: gate.Pass, Green: true, WorkResult: loop.WorkResult{Evidence: gate.Proven}}, "commit final-gates")
	sc.committed("gates final")
	sc.gates(green, "finish verified")
}

// For an agent whose tool calls are hidden, only the missing claim is known.
func TestMissingClaimReasonMentionsHiddenToolCalls(t *testing.T) {
	t.Parallel()
	sc := begin(t, loop.Policy{Gates: true})
	sc.checkpointed("gates baseline")
	sc.gates(green, "turn 1 fresh first")
	for _, want := range []string{"turn 2 continue no_claim", "turn 3 continue no_claim", "turn 4 fresh fresh"} {
		sc.feed(loop.Event{Payload: loop.TurnEnded{Turn: loop.Turn{ToolCallsHidden: true}}}, "inspect")
		sc.feed(loop.Event{Payload: loop.TreeInspected{Inspection: loop.Inspection{}}}, want)
	}
	if want := "nothing was claimed: 3 turns in a row without the promise that the prompt asks for (Pawl cannot see this agent's tool calls)"; sc.s.Failing.Reason != want {
		t.Errorf("%q, want %q", sc.s.Failing.Reason, want)
	}
}

// The promise of another tool is named, so that the user sees the mistake.
func TestMissingClaimReasonNamesWrongPromise(t *testing.T) {
	t.Parallel()
	sc := begin(t, loop.Policy{Gates: true})
	sc.checkpointed("gates baseline")
	sc.gates(green, "turn 1 fresh first")
	for _, want := range []string{"turn 2 continue no_claim", "turn 3 continue no_claim", "turn 4 fresh fresh"} {
		sc.feed(loop.Event{Payload: loop.TurnEnded{Turn: loop.Turn{OtherPromise: &loop.OtherPromise{Said: "COMPLETE", Asked: "DONE"}}}}, "inspect")
		sc.feed(loop.Event{Payload: loop.TreeInspected{Inspection: loop.Inspection{}}}, want)
	}
	if want := "nothing was claimed: 3 turns in a row ended with <promise>COMPLETE</promise>, and the promise is DONE"; sc.s.Failing.Reason != want {
		t.Errorf("%q, want %q", sc.s.Failing.Reason, want)
	}
}
