package loop_test

import (
	"testing"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
)

func TestCancelInterruptsTurnButFinishesCommit(t *testing.T) {
	t.Parallel()
	sc := begin(t, loop.Policy{})
	sc.checkpointed("turn 1 fresh first")
	sc.feed(loop.Event{Payload: loop.Cancelled{Cause: loop.ByTerm}}, "interrupt")
	sc.agentFails(loop.Interrupted, "finish cancelled")
	if got := sc.s.Outcome.ExitCode(sc.s.Stop.Cause); got != 143 {
		t.Errorf("exit code %d", got)
	}

	sc = begin(t, loop.Policy{})
	sc.checkpointed("turn 1 fresh first")
	sc.turn("done", "gates claim") // these gates are the user's commit hooks
	sc.gates(loop.Gates{Status: gate.Pass, WorkResult: loop.WorkResult{Evidence: gate.EvidenceUnknown}}, "commit a")
	sc.feed(loop.Event{Payload: loop.Cancelled{Cause: loop.ByInterrupt}}, "")
	sc.committed("finish cancelled")

	sc = begin(t, loop.Policy{})
	sc.checkpointed("turn 1 fresh first")
	sc.feed(loop.Event{Payload: loop.Cancelled{Cause: loop.ByHangup}}, "interrupt")
	sc.feed(loop.Event{Payload: loop.Cancelled{Cause: loop.ByHangup}}, "finish cancelled")
}
