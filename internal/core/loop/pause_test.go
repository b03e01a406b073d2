package loop_test

import (
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/core/loop"
)

// A pause requested during a turn starts before the wait for a usage limit.
func TestPauseRequestedDuringTurnPrecedesWait(t *testing.T) {
	t.Parallel()
	sc := begin(t, loop.Policy{Kind: loop.Change})
	sc.checkpointed("turn 1 fresh first")
	sc.feed(loop.Event{Payload: loop.PauseRequested{}}, "")
	if sc.s.Phase != loop.Turning {
		t.Fatalf("a turn under way is cut off: %s", sc.s.Phase)
	}
	sc.feed(loop.Event{Payload: loop.AgentFailed{Failure: loop.Failure{Class: loop.UsageLimit, Until: sc.now.Add(5 * time.Hour)}}}, "note")
	if sc.s.Phase != loop.Paused {
		t.Fatalf("it is %s", sc.s.Phase)
	}
	sc.feed(loop.Event{Payload: loop.Resumed{}}, "turn 1 continue interrupted")
}

// A pause during a wait begins when it is requested.
func TestPauseDuringWaitStartsAtOnce(t *testing.T) {
	t.Parallel()
	sc := begin(t, loop.Policy{Kind: loop.Change})
	sc.checkpointed("turn 1 fresh first")
	before := sc.s.Elapsed()
	sc.feed(loop.Event{Payload: loop.AgentFailed{Failure: loop.Failure{Class: loop.UsageLimit, Until: sc.now.Add(5 * time.Hour)}}}, "wait")
	sc.now = sc.now.Add(3 * time.Hour)
	sc.feed(loop.Event{Payload: loop.PauseRequested{}}, "")
	if !sc.s.AwayFrom.Equal(sc.s.Now) {
		t.Errorf("paused since %s, asked at %s", sc.s.AwayFrom, sc.s.Now)
	}
	sc.now = sc.now.Add(time.Hour)
	sc.feed(loop.Event{Payload: loop.Resumed{}}, "turn 1 continue interrupted")
	if got := sc.s.Elapsed() - before; got > 10*time.Minute {
		t.Errorf("the wait or the pause counts: %s", got)
	}
}

func TestPauseRequestedDuringTurnPrecedesNextTurn(t *testing.T) {
	t.Parallel()
	sc := begin(t, loop.Policy{})
	sc.checkpointed("turn 1 fresh first")
	sc.feed(loop.Event{Payload: loop.PauseRequested{}}, "")
	sc.turn("", "")
	if sc.s.Phase != loop.Paused {
		t.Fatalf("phase %s", sc.s.Phase)
	}
	sc.feed(loop.Event{Payload: loop.MessageArrived{Text: "look at the mock server"}}, "")
	sc.feed(loop.Event{Payload: loop.Resumed{}}, "turn 2 continue no_claim")
	sc.checkNotes("look at the mock server")
}
