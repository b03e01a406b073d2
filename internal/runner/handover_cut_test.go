package runner_test

import (
	"context"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/agent/agenttest"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/launch"
	"github.com/pawl-dev/pawl/internal/record"
)

// handoverWithKills takes a loop from its session to a runner and into another session. The current
// owner is killed after a number of steps; the next one continues from the journal.
type handoverWithKills struct {
	logObserver
	st     *sessionLoop
	runner agent.Agent
	steps  int
	kill   func()
	asked  bool // the other session has asked for the loop
}

func (v *handoverWithKills) Stepped(s loop.State, e loop.Event, acts []loop.Action) {
	v.logObserver.Stepped(s, e, acts)
	if e.Kind() == loop.KindHandedOver && !s.InSession && !v.asked {
		v.asked = true
		v.st.sendMessage(record.MessageToSession, "")
	}
	if v.steps--; v.steps == 0 {
		v.kill()
	}
}

// next has whoever is to continue the loop do so. Whether they were killed at it
// shows in the journal alone.
func (v *handoverWithKills) next() loop.State {
	ctx, kill := context.WithCancel(v.t.Context())
	defer kill()
	v.kill = kill
	switch m := v.st.memory(); {
	case m.State.InSession && m.State.Phase == loop.HandingOver, !m.State.InSession && m.State.Phase != loop.HandingOver:
		_, _ = v.st.runAfterHandoverWith(ctx, v.runner, v)
	case !m.State.InSession:
		_, _ = launch.TakeIntoSession(ctx, v.st.loop, v.st.env, launch.SessionOptions{Session: launch.UserSession{Session: "7a2d"}, Observer: v, GateTimeout: time.Hour})
	case m.State.Phase == loop.Turning && m.Bound.Session == "7a2d":
		v.st.editAsAgent("have.txt", "one\ntwo\n")
		v.st.journalEvent(loop.Event{Payload: loop.TurnEnded{Turn: loop.Turn{ToolCalls: 1, Claim: &loop.Claim{}}}})
		_, _ = v.st.runDriverWith(ctx, v)
	default:
		_, _ = v.st.runDriverWith(ctx, v)
	}
	return v.st.memory().State
}

func TestHandoverSurvivesKillAtEveryStep(t *testing.T) {
	t.Parallel()
	for steps := 1; ; steps += agenttest.Stride(6) {
		st := beginInSession(t, words, requestWithHandover(nil))
		st.journalEvent(loop.Event{Payload: loop.TurnEnded{Turn: loop.Turn{ToolCalls: 1, ContextPercent: 95}}})
		v := &handoverWithKills{logObserver: logObserver{t}, st: st, runner: st.scriptedAgent("-- 1/sleep --\n60s\n"), steps: steps}
		s := st.memory().State
		for range 10 {
			if s = v.next(); s.Phase == loop.Ended {
				break
			}
		}
		if s.Outcome != loop.Verified || s.Iteration != 2 || s.Turns > 3 {
			t.Fatalf("killed after %d steps: %s %s in iteration %d after %d turns: %s", steps, s.Phase, s.Outcome, s.Iteration, s.Turns, s.Reason)
		}
		st.checkHistoryUnchanged()
		if v.steps > 0 { // no owner was killed
			break
		}
	}
}

// An isolated attempt whose owner is killed at any step is restarted as the same iteration.
func TestIsolatedAttemptSurvivesKillAtEveryStep(t *testing.T) {
	t.Parallel()
	for steps := 1; ; steps += agenttest.Stride(6) {
		st := beginIsolatedLoop(t, "-- 1/files/notes.txt --\nno idea\n-- 2/files/have.txt --\none\ntwo\n", nil, nil)
		v := &handoverWithKills{logObserver: logObserver{t}, st: st, steps: steps}
		s := st.memory().State
		for range 10 {
			if s = v.next(); s.Phase == loop.Ended {
				break
			}
		}
		// The script counts its turns, also those whose owner was killed.
		if s.Outcome != loop.Verified || s.Iteration < 4 || s.Iteration > 5 || s.Turns != s.Iteration {
			t.Fatalf("killed after %d steps: %s %s in iteration %d after %d turns: %s", steps, s.Phase, s.Outcome, s.Iteration, s.Turns, s.Reason)
		}
		st.checkHistoryUnchanged()
		if v.steps > 0 {
			break
		}
	}
}
