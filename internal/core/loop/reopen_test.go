package loop_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
)

func TestALoopThatEndedIsReopenedWithItsLimitsAnew(t *testing.T) {
	t.Parallel()
	p := loop.Policy{Gates: true, Kind: loop.Change, Limits: loop.Limits{Iterations: 1, Duration: time.Hour}}
	sc := begin(t, p)
	sc.checkpointed("gates baseline")
	sc.gates(green, "turn 1 fresh first")
	sc.turn("", "gates limit")
	sc.gates(green, "finish iterations")
	sc.now = sc.now.Add(24 * time.Hour)
	sc.feed(loop.Event{Kind: loop.Reopened, Start: &loop.Start{Policy: p}}, "turn 2 fresh interrupted")
	sc.turn("done", "gates claim")
	sc.gates(proven, "tick a; commit a")
	sc.committed("gates final")
	sc.gates(green, "finish verified")
	sc.feed(loop.Event{Kind: loop.Reopened, Start: &loop.Start{Policy: p}}, "notify")
}

func TestReopeningTakesUpWhatWasSetAside(t *testing.T) {
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
	sc.gates(proven, "tick b; commit b")
	sc.committed("gates final")
	sc.gates(green, "finish blocked")
	sc.feed(loop.Event{Kind: loop.Reopened, Start: &loop.Start{Policy: p}}, "checkpoint")
	if got, _ := sc.s.Task("a"); got.Status != loop.Open || sc.s.Current != "a" {
		t.Errorf("%+v", got)
	}
}

func TestNothingBacksOffForEver(t *testing.T) {
	t.Parallel()
	sc := begin(t, loop.Policy{Limits: loop.Limits{Iterations: 3}})
	sc.checkpointed("turn 1 fresh first")
	for i := 0; sc.s.Phase != loop.Ended; i++ {
		if i > 200 {
			t.Fatal("classes that take turns back off for ever")
		}
		e := loop.Event{Kind: loop.AgentFailed, At: sc.now, Failure: &loop.Failure{Class: []loop.Class{loop.Network, loop.Overloaded}[i%2]}}
		if sc.s.Phase == loop.Waiting {
			e = loop.Event{Kind: loop.TimerFired, At: sc.now}
		}
		sc.s, _ = loop.Step(sc.s, e)
	}

	sc = begin(t, loop.Policy{})
	sc.checkpointed("turn 1 fresh first")
	var gaps []time.Duration
	for range 5 {
		sc.feed(loop.Event{Kind: loop.AgentFailed, Failure: &loop.Failure{Class: loop.UsageLimit, Until: sc.now.Add(time.Minute + time.Second)}}, "wait")
		gap := sc.s.Pending[0].Until.Sub(sc.now)
		gaps = append(gaps, gap)
		sc.now = sc.now.Add(gap)
		sc.feed(loop.Event{Kind: loop.TimerFired}, "turn 1 continue interrupted")
	}
	if gaps[4] < 40*time.Second || gaps[4] <= gaps[1] {
		t.Errorf("a usage limit that is always about to end is asked every %s", gaps)
	}
}

func TestAGateThatIsNotThereBuysNoTurn(t *testing.T) {
	t.Parallel()
	sc := begin(t, loop.Policy{Gates: true})
	sc.checkpointed("gates baseline")
	sc.gates(loop.Gates{Status: gate.Unknown, CannotStart: true, Reason: "gochek: not found"}, "finish error")
}

func TestWhatWasSaidIsSaidUntilATurnHasEnded(t *testing.T) {
	t.Parallel()
	sc := begin(t, loop.Policy{})
	sc.feed(loop.Event{Kind: loop.MessageArrived, ID: "m1", Text: "first"}, "")
	sc.feed(loop.Event{Kind: loop.MessageArrived, ID: "m1", Text: "first"}, "") // delivered twice
	sc.checkpointed("turn 1 fresh first")
	sc.feed(loop.Event{Kind: loop.MessageArrived, ID: "m2", Text: "second"}, "")
	sc.fails(loop.Network, "wait")
	sc.feed(loop.Event{Kind: loop.TimerFired}, "turn 1 continue interrupted")
	if diff := cmp.Diff([]string{"first", "second"}, sc.s.Pending[0].Notes); diff != "" {
		t.Error(diff)
	}
	sc.feed(loop.Event{Kind: loop.MessageArrived, ID: "m3", Text: "third"}, "")
	sc.turn("", "turn 2 continue go_on")
	if diff := cmp.Diff([]string{"third"}, sc.s.Pending[0].Notes); diff != "" {
		t.Error(diff)
	}
}

func TestANewOwnerPutsBackWhatWasToBePutBack(t *testing.T) {
	t.Parallel()
	sc := begin(t, loop.Policy{Gates: true})
	sc.checkpointed("gates baseline")
	sc.gates(green, "turn 1 fresh first")
	sc.turnSeen("", loop.Seen{Changed: true, Tampered: []string{"check.sh"}}, "put_back; turn 2 continue struck")
	sc.feed(loop.Event{Kind: loop.OwnerLost}, "put_back; turn 2 continue interrupted")
}

func TestASecondCancelDoesNotCutACommit(t *testing.T) {
	t.Parallel()
	sc := begin(t, loop.Policy{Gates: true})
	sc.checkpointed("gates baseline")
	sc.gates(green, "turn 1 fresh first")
	sc.turn("done", "gates claim")
	sc.gates(proven, "tick a; commit a")
	sc.feed(loop.Event{Kind: loop.Cancelled, Text: loop.ByInterrupt}, "")
	sc.feed(loop.Event{Kind: loop.Cancelled, Text: loop.ByInterrupt}, "")
	sc.committed("finish cancelled")
}
