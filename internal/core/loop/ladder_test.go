package loop_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/core/loop"
)

func TestRetryLadderEscalatesToSkip(t *testing.T) {
	t.Parallel()
	sc := begin(t, loop.Policy{Gates: true, Restore: true}, open("a", "b")...)
	sc.checkpointed("gates baseline")
	sc.gates(green, "turn 1 fresh first")
	for i, want := range []string{"turn 2 continue gates_failed", "turn 3 continue gates_failed", "turn 4 fresh fresh", "restore"} {
		sc.turn("done", "gates claim")
		sc.gates(red(fmt.Sprint(i)), want)
	}
	sc.feed(loop.Event{Payload: loop.Restored{Tree: "base"}}, "turn 5 fresh restored")
	sc.turn("done", "gates claim")
	sc.gates(red("last"), "restore")
	sc.feed(loop.Event{Payload: loop.Restored{Tree: "base"}}, "checkpoint") // skipped; task b
	sc.checkpointed("gates baseline")
	sc.gates(green, "turn 6 fresh next_task")
	sc.turn("done", "gates claim")
	sc.gates(proven, "commit b")
	sc.committed("gates final")
	sc.gates(green, "finish stuck")
	if len(sc.s.Lessons) != 1 || sc.s.Restores != 2 || sc.s.Refusals != 5 { // one for each refused claim
		t.Errorf("lessons %q, restores %d, refusals %d", sc.s.Lessons, sc.s.Restores, sc.s.Refusals)
	}
}

// No gate checks the turns of an exploration. A turn that ends normally resets the tries, so that a
// few failed turns neither undo nor end a long loop.
func TestSuccessfulExploreTurnResetsAttempts(t *testing.T) {
	t.Parallel()
	sc := begin(t, loop.Policy{Kind: loop.Explore, Restore: true})
	sc.checkpointed("turn 1 fresh first")
	for n := 2; n < 20; n += 2 {
		crashed := loop.Event{Payload: loop.AgentFailed{Turn: &loop.Turn{}, Failure: loop.Failure{Class: loop.Crashed, Message: "gone"}}}
		sc.feed(crashed, fmt.Sprintf("turn %d continue no_claim", n))
		sc.feed(loop.Event{Payload: loop.TurnEnded{Turn: loop.Turn{ToolCalls: 1}}}, "inspect")
		sc.feed(loop.Event{Payload: loop.TreeInspected{Inspection: loop.Inspection{Shallow: true}}}, fmt.Sprintf("turn %d continue no_claim", n+1))
	}
}

func TestSameFailureTwiceStartsFreshSession(t *testing.T) {
	t.Parallel()
	sc := begin(t, loop.Policy{Gates: true})
	sc.checkpointed("gates baseline")
	sc.gates(green, "turn 1 fresh first")
	sc.turn("done", "gates claim")
	sc.gates(red("same"), "turn 2 continue gates_failed")
	sc.turn("done", "gates claim")
	sc.gates(red("same"), "turn 3 fresh fresh")
	sc.turn("done", "gates claim")
	sc.gates(red("other"), "checkpoint") // keep: no restore, skipped
	sc.checkpointed("finish stuck")
}

func TestThreeIdleTurnsCountAsFailure(t *testing.T) {
	t.Parallel()
	sc := begin(t, loop.Policy{Gates: true})
	sc.checkpointed("gates baseline")
	sc.gates(green, "turn 1 fresh first")
	for _, want := range []string{"turn 2 continue no_claim", "turn 3 continue no_claim", "turn 4 fresh fresh"} {
		sc.feed(loop.Event{Payload: loop.TurnEnded{Turn: loop.Turn{}}}, "inspect")
		sc.feed(loop.Event{Payload: loop.TreeInspected{Inspection: loop.Inspection{Shallow: true}}}, want)
	}
}

func TestBlockedTaskIsRestoredAndEndsLoop(t *testing.T) {
	t.Parallel()
	sc := begin(t, loop.Policy{Gates: true, Restore: true})
	sc.checkpointed("gates baseline")
	sc.gates(green, "turn 1 fresh first")
	sc.turn("blocked", "restore")
	sc.feed(loop.Event{Payload: loop.Restored{Tree: "base"}}, "finish blocked")
	if diff := cmp.Diff("no key", sc.s.Reason); diff != "" {
		t.Error(diff)
	}
}

func TestThirdViolationEndsLoopTampered(t *testing.T) {
	t.Parallel()
	sc := begin(t, loop.Policy{Gates: true})
	sc.checkpointed("gates baseline")
	sc.gates(green, "turn 1 fresh first")
	bad := loop.Inspection{Changed: true, Tampered: []string{"Makefile"}}
	sc.turnWithInspection("done", bad, "restore_files; turn 2 continue violation")
	sc.turnWithInspection("", bad, "restore_files; turn 3 fresh violation")
	sc.turnWithInspection("done", bad, "restore_files; finish tampered")
}

// The reason of a turn that was cut off is told to the next turn, and to no later one.
func TestFailedTurnIsReportedToNextTurnOnly(t *testing.T) {
	t.Parallel()
	sc := begin(t, loop.Policy{Gates: true})
	sc.checkpointed("gates baseline")
	sc.gates(green, "turn 1 fresh first")
	sc.agentFails(loop.Crashed, "turn 2 continue no_claim")
	if f := sc.s.Failing; f == nil || !f.NoWork {
		t.Fatalf("failing: %+v", f)
	}
	sc.feed(loop.Event{Payload: loop.TurnEnded{Turn: loop.Turn{ToolCalls: 1}}}, "inspect")
	sc.feed(loop.Event{Payload: loop.TreeInspected{Inspection: loop.Inspection{Shallow: true}}}, "turn 3 continue no_claim")
	if sc.s.Failing != nil {
		t.Errorf("still failing: %+v", sc.s.Failing)
	}
}
