package loop_test

import (
	"strings"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
)

var missing = loop.Gates{Status: gate.Unknown, CannotStart: true, Reason: "check: a command was not found (exit 127)"}

// unclear feeds a result that stays the same each of the times that the gates run again.
func (sc *scenario) unclear(g loop.Gates, times int, p loop.Purpose, want string) {
	sc.t.Helper()
	for range times {
		sc.gates(g, "wait")
		sc.feed(loop.Event{Payload: loop.TimerFired{}}, "gates "+string(p))
	}
	sc.gates(g, want)
}

// A gate that could start when the task began: the agent may have removed what it needs, so it is
// told once.
func TestGateThatCannotStartIsToldToTheAgentOnce(t *testing.T) {
	t.Parallel()
	sc := begin(t, loop.Policy{Gates: true}, open("a", "b")...)
	sc.checkpointed("gates baseline")
	sc.gates(green, "turn 1 fresh first")
	sc.turn("done", "gates claim")
	sc.unclear(missing, sc.s.Bounds().UnknownResults, loop.ForClaim, "turn 2 continue claim_refused")
	if f := sc.s.Failing; f == nil || !strings.Contains(f.Reason, missing.Reason) || f.Remedy == "" {
		t.Errorf("the agent is told %+v", f)
	}
	sc.turn("done", "gates claim")
	sc.unclear(missing, sc.s.Bounds().UnknownResults, loop.ForClaim, "finish error")
	if !strings.Contains(sc.s.Reason, missing.Reason) || sc.s.Tasks[1].Status != loop.Open {
		t.Errorf("%s, %+v", sc.s.Reason, sc.s.Tasks)
	}
}

// Before a task's first turn nobody but the user can fix it. It may be a service that is back within the
// hour, and waiting costs nothing.
func TestGateThatCannotStartBeforeATaskEndsTheLoopAfterAnHour(t *testing.T) {
	t.Parallel()
	sc := begin(t, loop.Policy{Gates: true}, open("a", "b")...)
	sc.checkpointed("gates baseline")
	sc.gates(green, "turn 1 fresh first")
	sc.turn("done", "gates claim")
	sc.gates(proven, "commit a")
	sc.committed("checkpoint")
	sc.checkpointed("gates baseline")
	from := sc.s.Now
	for range sc.s.MaxReruns(missing) {
		sc.gates(missing, "wait")
		sc.now = pending[loop.Wait](sc).Until
		sc.feed(loop.Event{Payload: loop.TimerFired{}}, "gates baseline")
	}
	if took := sc.s.Now.Sub(from); took < time.Hour || took > 2*time.Hour {
		t.Errorf("it waits for %s", took)
	}
	sc.gates(missing, "finish error")
}

// After a task that failed to the end, what passed on the same tree before runs again: the cause may
// lie outside of the work. A task that is blocked says nothing about the gates.
func TestBaselineRunsAgainAfterATaskThatFailed(t *testing.T) {
	t.Parallel()
	sc := begin(t, loop.Policy{Gates: true, Tries: 1}, open("a", "b", "c")...)
	sc.checkpointed("gates baseline")
	sc.checkAgain(false)
	sc.gates(green, "turn 1 fresh first")
	sc.turn("blocked", "checkpoint")
	sc.feed(loop.Event{Payload: loop.Checkpointed{}}, "checkpoint")
	sc.checkpointed("gates baseline")
	sc.checkAgain(false)
	sc.gates(green, "turn 2 fresh next_task")
	sc.turn("done", "gates claim")
	sc.gates(red("1"), "turn 3 fresh fresh")
	sc.turn("done", "gates claim")
	sc.gates(red("2"), "checkpoint")
	sc.feed(loop.Event{Payload: loop.Checkpointed{}}, "checkpoint")
	sc.checkpointed("gates baseline")
	sc.checkAgain(true)
	sc.gates(missing, "wait")
	sc.feed(loop.Event{Payload: loop.TimerFired{}}, "gates baseline")
	sc.checkAgain(true)
}

func (sc *scenario) checkAgain(want bool) {
	sc.t.Helper()
	if got := pending[loop.RunGates](sc).Again; got != want {
		sc.t.Fatalf("again: %v, want %v", got, want)
	}
}
