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

func TestCancelOfFinishingLoopKeepsItsOutcome(t *testing.T) {
	t.Parallel()
	sc := begin(t, loop.Policy{})
	s, _ := loop.Step(sc.s, loop.Event{At: sc.now, Payload: loop.Cancelled{Cause: loop.ByStop}})
	for range 2 {
		next, acts := loop.Step(s, loop.Event{Payload: loop.Cancelled{Cause: loop.ByTerm}})
		_, interrupts := loop.FindAction[loop.Interrupt](acts)
		if next.Phase != loop.Finishing || next.Outcome != s.Outcome || next.Stop.Cause != loop.ByStop || !interrupts || len(acts) != 1 {
			t.Errorf("%s %s by %s, does %v", next.Phase, next.Outcome, next.Stop.Cause, acts)
		}
		s = next
	}
}
