package loop_test

import (
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
)

// committing returns a loop whose work the gates passed, and whose commit is pending.
func committing(t *testing.T, p loop.Policy) *scenario {
	t.Helper()
	p.Gates = true
	sc := begin(t, p)
	sc.checkpointed("gates baseline")
	first := "turn 1 fresh first"
	if p.InSession {
		first = "turn 1 continue first"
	}
	sc.gates(green, first)
	sc.turn("done", "gates claim")
	sc.gates(proven, "commit a")
	return sc
}

func (sc *scenario) fault(f loop.Faulted, want string) {
	sc.t.Helper()
	sc.feed(loop.Event{Payload: f}, want)
}

// A branch that keeps moving ends the loop after three more gate runs. pawl resume commits without a
// turn.
func TestBranchThatKeepsMovingEndsLoop(t *testing.T) {
	t.Parallel()
	sc := committing(t, loop.Policy{})
	moved := loop.Faulted{Error: "HEAD moved", Hint: "pawl resume", Moved: true}
	for range 3 {
		sc.fault(moved, "note; gates claim")
		sc.gates(proven, "commit a")
	}
	sc.fault(moved, "finish error")
	if sc.s.Reason != "HEAD moved" || !sc.s.CommitPending() {
		t.Errorf("ended with %q, commit pending: %t", sc.s.Reason, sc.s.CommitPending())
	}
	sc.feed(loop.Event{Payload: loop.Reopened{}}, "commit a")
	sc.fault(moved, "note; gates claim")
	sc.gates(proven, "commit a")
	sc.committed("gates final")
}

// A limit that is reached while the branch moves ends the loop.
func TestBranchThatMovesPastLimitEndsLoop(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		limits loop.Limits
		first  loop.EventPayload
		late   time.Duration
		want   string
	}{
		"noticed by the owner": {loop.Limits{Duration: time.Hour}, loop.LimitHit{Limit: loop.Duration}, 0, "finish duration"},
		"time is up":           {loop.Limits{Duration: time.Hour}, nil, 2 * time.Hour, "finish duration"},
		"money is spent":       {loop.Limits{CostUSD: 0.1}, nil, 0, "finish budget"},
		"last iteration":       {loop.Limits{Iterations: 1}, nil, 0, "note; gates claim"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sc := committing(t, loop.Policy{Limits: tt.limits})
			if tt.first != nil {
				sc.feed(loop.Event{Payload: tt.first}, "")
			}
			sc.now = sc.now.Add(tt.late)
			sc.fault(loop.Faulted{Error: "HEAD moved", Hint: "pawl resume", Moved: true}, tt.want)
			if sc.s.Hint != "" {
				t.Errorf("it advises to resume without a higher limit: %q", sc.s.Hint)
			}
			if sc.s.Phase == loop.Ended {
				sc.feed(loop.Event{Payload: loop.Reopened{Limits: loop.Limits{Duration: time.Hour, CostUSD: 1}}}, "commit a")
			}
		})
	}
}

// After pawl stop, every fault ends the loop as cancelled. pawl resume commits the work unless it is
// lost.
func TestFaultAfterCancellationEndsCancelled(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		fault  loop.Faulted
		resume string
	}{
		"disk full":       {loop.Faulted{Error: "disk full"}, "commit a"},
		"branch moved":    {loop.Faulted{Error: "HEAD moved", Moved: true}, "commit a"},
		"needs the user":  {loop.Faulted{Error: "HEAD is detached", NeedsUser: true}, "commit a"},
		"git lost a tree": {loop.Faulted{Error: "no such tree", Lost: true}, "turn 2 fresh interrupted"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sc := committing(t, loop.Policy{})
			sc.feed(loop.Event{Payload: loop.Cancelled{Cause: loop.ByStop}}, "")
			sc.fault(tt.fault, "finish cancelled")
			if sc.s.Reason != "stopped by pawl stop" {
				t.Errorf("reason %q", sc.s.Reason)
			}
			sc.feed(loop.Event{Payload: loop.Reopened{}}, tt.resume)
		})
	}
	t.Run("restoring", func(t *testing.T) {
		t.Parallel()
		sc := begin(t, loop.Policy{Restore: true}, open("a", "b")...)
		sc.checkpointed("turn 1 fresh first")
		sc.turn("blocked", "restore")
		sc.feed(loop.Event{Payload: loop.Cancelled{Cause: loop.ByStop}}, "")
		sc.fault(loop.Faulted{Error: "disk full"}, "finish cancelled")
	})
}

// The user fixes what prevents a commit: the work is committed without another turn.
func TestHeldCommitIsRepeated(t *testing.T) {
	t.Parallel()
	held := loop.Faulted{Error: "main is checked out, which is protected", Hint: "git switch", NeedsUser: true}
	t.Run("by a runner", func(t *testing.T) {
		t.Parallel()
		sc := committing(t, loop.Policy{})
		sc.fault(held, "note")
		sc.feed(loop.Event{Payload: loop.Resumed{}}, "commit a")
		sc.committed("gates final")
	})
	t.Run("stopped meanwhile", func(t *testing.T) {
		t.Parallel()
		sc := committing(t, loop.Policy{})
		sc.fault(held, "note")
		sc.feed(loop.Event{Payload: loop.Cancelled{Cause: loop.ByStop}}, "finish cancelled")
		sc.feed(loop.Event{Payload: loop.Reopened{}}, "commit a")
	})
	t.Run("its tests are rejected meanwhile", func(t *testing.T) {
		t.Parallel()
		sc := begin(t, loop.Policy{})
		sc.checkpointed("turn 1 fresh first")
		sc.turn("done", "gates claim")
		sc.gates(loop.Gates{Status: gate.Pass, WorkResult: loop.WorkResult{TestsChanged: []string{"a_test.go"}}}, "commit a")
		sc.fault(held, "note")
		sc.feed(loop.Event{Payload: loop.Rejected{Paths: []string{"a_test.go"}}}, "")
		sc.feed(loop.Event{Payload: loop.Resumed{}}, "inspect deep")
		sc.feed(loop.Event{Payload: loop.TreeInspected{Inspection: loop.Inspection{Changed: true, RejectedTests: []string{"a_test.go"}}}}, "restore_files; turn 2 continue no_claim")
	})
	t.Run("by turns of a session", func(t *testing.T) {
		t.Parallel()
		sc := committing(t, loop.Policy{InSession: true})
		sc.fault(held, "note")
		sc.feed(loop.Event{Payload: loop.AgentFailed{Failure: loop.Failure{Class: loop.Crashed}}}, "")
		sc.feed(loop.Event{Payload: loop.TurnEnded{Turn: loop.Turn{ByUser: true}}}, "gates claim")
		sc.gates(proven, "commit a")
		sc.fault(held, "note")
		sc.feed(loop.Event{Payload: loop.TurnEnded{Turn: loop.Turn{ToolCalls: 1}}}, "gates claim")
		sc.gates(proven, "commit a")
		if sc.s.Trouble.HoldReason != "" || sc.s.Turns != 2 {
			t.Errorf("held %q, %d turns", sc.s.Trouble.HoldReason, sc.s.Turns)
		}
	})
}

// Gates that could not run because of the user's checkout run again after it is fixed.
func TestHeldGatesRunAgain(t *testing.T) {
	t.Parallel()
	held := loop.Faulted{Error: "HEAD is detached", NeedsUser: true}
	t.Run("of a claim", func(t *testing.T) {
		t.Parallel()
		sc := begin(t, loop.Policy{Gates: true})
		sc.checkpointed("gates baseline")
		sc.fault(held, "note")
		sc.feed(loop.Event{Payload: loop.Resumed{}}, "gates baseline")
		sc.gates(green, "turn 1 fresh first")
		sc.turn("done", "gates claim")
		sc.fault(held, "note")
		sc.feed(loop.Event{Payload: loop.Resumed{}}, "gates claim")
		sc.gates(proven, "commit a")
	})
	t.Run("that never give a result", func(t *testing.T) {
		t.Parallel()
		sc := begin(t, loop.Policy{Gates: true, InSession: true})
		sc.checkpointed("gates baseline")
		sc.gates(green, "turn 1 continue first")
		sc.turn("done", "gates claim")
		for range 3 {
			sc.gates(loop.Gates{Status: gate.Unknown}, "wait")
			sc.feed(loop.Event{Payload: loop.TimerFired{}}, "gates claim")
		}
		sc.gates(loop.Gates{Status: gate.Unknown}, "note")
		sc.feed(loop.Event{Payload: loop.Resumed{}}, "gates claim")
		sc.gates(proven, "commit a")
	})
	t.Run("before a checkpoint there is nothing to continue", func(t *testing.T) {
		t.Parallel()
		sc := begin(t, loop.Policy{})
		sc.fault(held, "finish error")
		sc.feed(loop.Event{Payload: loop.Reopened{}}, "checkpoint")
	})
}

// A commit that was repeated after a fault leaves nothing pending: the loop may end without a claim.
func TestRepeatedCommitIsNotPendingTwice(t *testing.T) {
	t.Parallel()
	sc := committing(t, loop.Policy{})
	sc.fault(loop.Faulted{Error: "disk full"}, "finish error")
	sc.feed(loop.Event{Payload: loop.Reopened{}}, "commit a")
	sc.fault(loop.Faulted{Error: "HEAD moved", Moved: true}, "note; gates claim")
	sc.gates(loop.Gates{Status: gate.Fail, Reason: "red"}, "turn 2 continue gates_failed")
	sc.feed(loop.Event{Payload: loop.Cancelled{Cause: loop.ByStop}}, "interrupt")
	sc.feed(loop.Event{Payload: loop.AgentFailed{Failure: loop.Failure{Class: loop.Interrupted}}}, "finish cancelled")
	if sc.s.CommitPending() {
		t.Error("a commit is pending")
	}
	sc.feed(loop.Event{Payload: loop.Reopened{}}, "turn 3 fresh interrupted")
}
