package loop_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
)

func TestReopenedLoopGetsNewLimits(t *testing.T) {
	t.Parallel()
	p := loop.Policy{Gates: true, Kind: loop.Change, Limits: loop.Limits{Iterations: 1, Duration: time.Hour}}
	sc := begin(t, p)
	sc.checkpointed("gates baseline")
	sc.gates(green, "turn 1 fresh first")
	sc.turn("", "gates limit")
	sc.gates(green, "finish iterations")
	sc.now = sc.now.Add(24 * time.Hour)
	sc.feed(loop.Event{Payload: loop.Reopened{Limits: p.Limits}}, "turn 2 fresh interrupted")
	sc.turn("done", "gates claim")
	sc.gates(proven, "commit a")
	sc.committed("gates final")
	sc.gates(green, "finish verified")
	if away, took := sc.s.TimeAway(sc.now), sc.s.Took(); away > 0 || took > time.Hour || sc.s.Elapsed() != took {
		t.Errorf("the day between its end and its reopening counts: away %s, took %s, worked %s", away, took, sc.s.Elapsed())
	}
	sc.feed(loop.Event{Payload: loop.Reopened{Limits: p.Limits}}, "note")
}

func TestReopeningRetriesBlockedTask(t *testing.T) {
	t.Parallel()
	p := loop.Policy{Gates: true, Kind: loop.Change, Limits: loop.Limits{Iterations: 9}}
	sc := begin(t, p, open("a", "b")...)
	sc.checkpointed("gates baseline")
	sc.gates(green, "turn 1 fresh first")
	sc.turn("blocked", "checkpoint")
	sc.checkpointed("checkpoint")
	sc.checkpointed("gates baseline")
	sc.gates(green, "turn 2 fresh next_task")
	sc.turn("done", "gates claim")
	sc.gates(proven, "commit b")
	sc.committed("gates final")
	sc.gates(green, "finish blocked")
	sc.feed(loop.Event{Payload: loop.Reopened{Limits: p.Limits}}, "checkpoint")
	if got, _ := sc.s.Task("a"); got.Status != loop.Open || sc.s.Current != "a" {
		t.Errorf("%+v", got)
	}
}

func TestReopeningKeepsRemainingLimits(t *testing.T) {
	t.Parallel()
	p := loop.Policy{Kind: loop.Change, Limits: loop.Limits{Iterations: 3, Duration: 2 * time.Hour, CostUSD: 5, Tokens: 100}}
	sc := begin(t, p)
	sc.checkpointed("turn 1 fresh first")
	sc.now = sc.now.Add(time.Hour)
	sc.feed(loop.Event{Payload: loop.Cancelled{Cause: "stop"}}, "interrupt")
	sc.feed(loop.Event{Payload: loop.TurnEnded{Turn: loop.Turn{}}}, "finish cancelled")
	if got := sc.s.LimitAfterReopen(loop.Limits{}); got != "" {
		t.Errorf("spent %q", got)
	}
	sc.now = sc.now.Add(24 * time.Hour)
	given := loop.Limits{Iterations: 1, CostUSD: -1}
	sc.feed(loop.Event{Payload: loop.Reopened{Limits: given}}, "turn 2 fresh interrupted")
	want := loop.Limits{Iterations: 2, Duration: 2 * time.Hour, Tokens: 100}
	if diff := cmp.Diff(want, sc.s.Policy.Limits); diff != "" {
		t.Errorf("limits (-want +got):\n%s", diff)
	}
	sc.feed(loop.Event{Payload: loop.Cancelled{Cause: "stop"}}, "interrupt")
	sc.feed(loop.Event{Payload: loop.TurnEnded{Turn: loop.Turn{}}}, "finish cancelled")
	if got := sc.s.LimitAfterReopen(loop.Limits{}); got != loop.Iterations {
		t.Errorf("spent %q, want its iterations", got)
	}
	if got := sc.s.LimitAfterReopen(loop.Limits{Iterations: 1}); got != "" {
		t.Errorf("with one more: spent %q", got)
	}
}

func TestRetryDelayIsBounded(t *testing.T) {
	t.Parallel()
	sc := begin(t, loop.Policy{Limits: loop.Limits{Iterations: 3}})
	sc.checkpointed("turn 1 fresh first")
	for i := 0; sc.s.Outcome == ""; i++ {
		if i > 200 {
			t.Fatal("classes that take turns back off for ever")
		}
		e := loop.Event{At: sc.now, Payload: loop.AgentFailed{Failure: loop.Failure{Class: []loop.Class{loop.Network, loop.Overloaded}[i%2]}}}
		if sc.s.Phase == loop.Waiting {
			e = loop.Event{At: sc.now, Payload: loop.TimerFired{}}
		}
		sc.s, _ = loop.Step(sc.s, e)
	}

	sc = begin(t, loop.Policy{})
	sc.checkpointed("turn 1 fresh first")
	var gaps []time.Duration
	for range 5 {
		sc.feed(loop.Event{Payload: loop.AgentFailed{Failure: loop.Failure{Class: loop.UsageLimit, Until: sc.now.Add(time.Minute + time.Second)}}}, "wait")
		gap := pending[loop.Wait](sc).Until.Sub(sc.now)
		gaps = append(gaps, gap)
		sc.now = sc.now.Add(gap)
		sc.feed(loop.Event{Payload: loop.TimerFired{}}, "turn 1 continue interrupted")
	}
	if gaps[4] < 40*time.Second || gaps[4] <= gaps[1] {
		t.Errorf("a usage limit that is always about to end is asked every %s", gaps)
	}
}

func TestMissingGateCommandStartsNoTurn(t *testing.T) {
	t.Parallel()
	sc := begin(t, loop.Policy{Gates: true})
	sc.checkpointed("gates baseline")
	sc.gates(loop.Gates{Status: gate.Unknown, CannotStart: true, Reason: "gochek: not found"}, "finish error")
	sc = begin(t, loop.Policy{Gates: true})
	sc.checkpointed("gates baseline")
	sc.gates(loop.Gates{Status: gate.Unknown, ChangesTrackedFiles: true, Reason: "make gen changes a.go"}, "finish error")
}

func TestUserMessageIsRepeatedUntilATurnEnds(t *testing.T) {
	t.Parallel()
	sc := begin(t, loop.Policy{})
	sc.feed(loop.Event{ID: "m1", Payload: loop.MessageArrived{Text: "first"}}, "")
	sc.feed(loop.Event{ID: "m1", Payload: loop.MessageArrived{Text: "first"}}, "") // delivered twice
	sc.checkpointed("turn 1 fresh first")
	sc.feed(loop.Event{ID: "m2", Payload: loop.MessageArrived{Text: "second"}}, "")
	sc.agentFails(loop.Network, "wait")
	sc.feed(loop.Event{Payload: loop.TimerFired{}}, "turn 1 continue interrupted")
	sc.checkNotes("first", "second")
	sc.feed(loop.Event{ID: "m3", Payload: loop.MessageArrived{Text: "third"}}, "")
	sc.turn("", "turn 2 continue no_claim")
	sc.checkNotes("third")
}

func TestNewOwnerRestoresProtectedFiles(t *testing.T) {
	t.Parallel()
	sc := begin(t, loop.Policy{Gates: true})
	sc.checkpointed("gates baseline")
	sc.gates(green, "turn 1 fresh first")
	sc.turnWithInspection("", loop.Inspection{Changed: true, Tampered: []string{"check.sh"}}, "restore_files; turn 2 continue violation")
	sc.feed(loop.Event{Payload: loop.OwnerChanged{}}, "restore_files; turn 2 continue interrupted")
}

func TestSecondCancelDoesNotInterruptCommit(t *testing.T) {
	t.Parallel()
	sc := begin(t, loop.Policy{Gates: true})
	sc.checkpointed("gates baseline")
	sc.gates(green, "turn 1 fresh first")
	sc.turn("done", "gates claim")
	sc.gates(proven, "commit a")
	sc.feed(loop.Event{Payload: loop.Cancelled{Cause: loop.ByInterrupt}}, "")
	sc.feed(loop.Event{Payload: loop.Cancelled{Cause: loop.ByInterrupt}}, "")
	sc.committed("finish cancelled")
}

// The work of the end is repeated after a crash, and nothing changes the outcome.
func TestInterruptedFinishIsRepeated(t *testing.T) {
	t.Parallel()
	sc := begin(t, loop.Policy{Gates: true})
	s, _ := loop.Step(sc.s, loop.Event{At: sc.now, Payload: loop.Cancelled{Cause: loop.ByStop}})
	if s.Phase != loop.Finishing || !s.Phase.OwnerActs() || s.Outcome != loop.CancelledEnd {
		t.Fatalf("%s %s", s.Phase, s.Outcome)
	}
	for _, e := range []loop.Event{
		{Payload: loop.LimitHit{Limit: loop.Duration}},
		{Payload: loop.PauseRequested{}},
		{Payload: loop.Resumed{}},
		{Payload: loop.MessageArrived{Text: "continue"}},
	} {
		next, acts := loop.Step(s, e)
		if next.Phase != loop.Finishing || next.Outcome != s.Outcome || next.Stop.Cause != loop.ByStop || len(acts) != 0 {
			t.Errorf("%s: %s %s by %s, does %v", e.Kind(), next.Phase, next.Outcome, next.Stop.Cause, acts)
		}
		s = next
	}
	s, acts := loop.Step(s, loop.Event{Payload: loop.OwnerChanged{}})
	if _, finishes := loop.FindAction[loop.Finish](acts); !finishes || len(acts) != 1 {
		t.Fatalf("the new owner does %v", acts)
	}
	failed, _ := loop.Step(s, loop.Event{Payload: loop.Faulted{Error: "disk full"}})
	s, _ = loop.Step(s, loop.Event{Payload: loop.Concluded{}})
	if s.Phase != loop.Ended || failed.Phase != loop.Ended || failed.Outcome != loop.CancelledEnd {
		t.Errorf("%s; after a fault %s %s", s.Phase, failed.Phase, failed.Outcome)
	}
}

// A loop that could not be set up begins as a new one.
func TestLoopStartsAfterFailedSetUp(t *testing.T) {
	t.Parallel()
	p := loop.Policy{Gates: true, Kind: loop.Change, Limits: loop.Limits{Iterations: 9}}
	sc := &scenario{t: t, now: time.Unix(0, 0)}
	sc.feed(loop.Event{Payload: loop.Faulted{Error: "the disk is full"}}, "finish error")
	sc.feed(loop.Event{Payload: loop.Concluded{}}, "")
	sc.feed(loop.Event{Payload: loop.Started{Policy: p, Tasks: open("a")}}, "checkpoint")
	if s := sc.s; s.Outcome != "" || s.Reason != "" || !s.EndedAt.IsZero() || len(s.Tasks) != 1 {
		t.Errorf("%+v", s)
	}
	sc.feed(loop.Event{Payload: loop.Cancelled{Cause: loop.ByStop}}, "finish cancelled")
	sc.feed(loop.Event{Payload: loop.Concluded{}}, "")
	sc.feed(loop.Event{Payload: loop.Started{Policy: p, Tasks: open("a", "b")}}, "")
	if sc.s.Phase != loop.Ended || len(sc.s.Tasks) != 1 {
		t.Errorf("a loop that was begun begins again: %+v", sc.s)
	}
}

// If the branch moved after the gates ran, they run again.
func TestMovedBranchIsGatedAgain(t *testing.T) {
	t.Parallel()
	p := loop.Policy{Gates: true, Kind: loop.Change, Limits: loop.Limits{Iterations: 9}}
	sc := begin(t, p)
	sc.checkpointed("gates baseline")
	sc.gates(green, "turn 1 fresh first")
	sc.turn("done", "gates claim")
	sc.gates(proven, "commit a")
	sc.feed(loop.Event{Payload: loop.Faulted{Error: "HEAD moved", Moved: true}}, "note; gates claim")
	sc.gates(proven, "commit a")
	sc.committed("gates final")
}

// If a fault or a user ended the loop before the final gates, they still have to run, though each task
// is done.
func TestReopeningRunsInterruptedFinalGatesAgain(t *testing.T) {
	t.Parallel()
	p := loop.Policy{Gates: true, Kind: loop.Change, Limits: loop.Limits{Iterations: 9}}
	for _, end := range []loop.Event{{Payload: loop.Faulted{Error: "the disk is full"}}, {Payload: loop.Cancelled{Cause: loop.ByInterrupt}}} {
		sc := begin(t, p)
		sc.checkpointed("gates baseline")
		sc.gates(green, "turn 1 fresh first")
		sc.turn("done", "gates claim")
		sc.gates(proven, "commit a")
		sc.committed("gates final")
		want := "finish error"
		if end.Kind() == loop.KindCancelled {
			want = "finish cancelled"
		}
		sc.feed(end, want)
		sc.feed(loop.Event{Payload: loop.Concluded{}}, "")
		sc.feed(loop.Event{Payload: loop.Reopened{Limits: p.Limits}}, "gates final")
		sc.gates(green, "finish verified")
		sc.feed(loop.Event{Payload: loop.Concluded{}}, "")
		sc.feed(loop.Event{Payload: loop.Reopened{Limits: p.Limits}}, "note")
	}
}

// A task that was stopped before its checkpoint has no start tree. With that of the task before, the
// other task's tests would prove it.
func TestReopenedTaskWithoutCheckpointGetsOne(t *testing.T) {
	t.Parallel()
	p := loop.Policy{Gates: true, Kind: loop.Change, Limits: loop.Limits{Iterations: 9}}
	sc := begin(t, p, open("a", "b")...)
	sc.checkpointed("gates baseline")
	sc.gates(green, "turn 1 fresh first")
	sc.turn("done", "gates claim")
	sc.gates(proven, "commit a")
	sc.committed("checkpoint")
	sc.feed(loop.Event{Payload: loop.Cancelled{Cause: "stop"}}, "finish cancelled")
	sc.feed(loop.Event{Payload: loop.Reopened{Limits: p.Limits}}, "checkpoint")
	sc.checkpointed("gates baseline")
	sc.gates(green, "turn 2 fresh next_task")
}

// TestEveryExhaustedLimitIsNamed: the options that are named are enough to continue, also besides those
// that the user gave.
func TestEveryExhaustedLimitIsNamed(t *testing.T) {
	t.Parallel()
	all := loop.Limits{Iterations: 1, Duration: time.Hour, CostUSD: 5, Tokens: 100}
	for _, c := range []struct {
		name          string
		limits, given loop.Limits
		want          string
	}{
		{"none", loop.Limits{Iterations: 9}, loop.Limits{}, ""},
		{"one", loop.Limits{Iterations: 1, Duration: 9 * time.Hour}, loop.Limits{}, "--max-iterations 10"},
		{"two", loop.Limits{Iterations: 1, Duration: time.Hour}, loop.Limits{}, "--max-iterations 10 --max-duration 2h"},
		{"the other one", loop.Limits{Iterations: 1, Duration: time.Hour}, loop.Limits{Iterations: 5}, "--max-duration 2h"},
		{"all", all, loop.Limits{}, "--max-iterations 10 --max-duration 2h --max-cost 5 --max-tokens 1000000"},
		{"all but tokens", all, loop.Limits{Tokens: -1}, "--max-iterations 10 --max-duration 2h --max-cost 5"},
	} {
		s := loop.State{Phase: loop.Ended, Policy: loop.Policy{Kind: loop.Change, Limits: c.limits}, Clock: loop.Clock{StartedAt: time.Unix(0, 0), Now: time.Unix(7200, 0)}}
		s.Iteration, s.Usage = 1, loop.Usage{Input: 200, CostUSD: 6}
		s.EndedAt = s.Now
		if got := s.MoreFlags(c.given); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
