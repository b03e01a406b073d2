package loop_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
)

// inSession returns a loop in a user's session, in its first turn.
func inSession(t *testing.T, p loop.Policy) *scenario {
	t.Helper()
	p.InSession, p.Session = true, loop.Continue
	sc := begin(t, p)
	if !p.Gates {
		sc.checkpointed("turn 1 continue first")
		return sc
	}
	sc.checkpointed("gates baseline")
	sc.gates(red("x"), "turn 1 continue first")
	return sc
}

func turnEnded(t loop.Turn) loop.Event { return loop.Event{Payload: loop.TurnEnded{Turn: t}} }

func turnFailed(c loop.Class) loop.Event {
	return loop.Event{Payload: loop.AgentFailed{Failure: loop.Failure{Class: c, Message: "died"}}}
}

var userTurn = loop.Turn{ByUser: true, ToolCalls: 1}

func TestTurnInUserSessionIsNotInterrupted(t *testing.T) {
	t.Parallel()
	sc := inSession(t, loop.Policy{Gates: true})
	sc.feed(loop.Event{Payload: loop.LimitHit{Limit: loop.Duration}}, "")
	sc.feed(turnEnded(loop.Turn{ToolCalls: 1}), "inspect deep")
	sc.feed(loop.Event{Payload: loop.TreeInspected{Inspection: loop.Inspection{Changed: true}}}, "gates limit")
	sc.gates(green, "finish duration")

	sc = inSession(t, loop.Policy{})
	sc.feed(loop.Event{Payload: loop.Cancelled{Cause: loop.ByStop}}, "finish cancelled")
}

func TestLoginFailureInSessionPausesUntilNextTurn(t *testing.T) {
	t.Parallel()
	for _, c := range []loop.Class{loop.Login, loop.Billing, loop.Refused} {
		sc := inSession(t, loop.Policy{})
		sc.feed(turnFailed(c), "note")
		if sc.s.Phase != loop.Paused || sc.s.Pause {
			t.Fatalf("%s: %s", c, sc.s.Phase)
		}
		sc.feed(turnFailed(c), "note") // the user tried again
		sc.feed(turnEnded(userTurn), "turn 1 continue no_claim")
		sc.feed(turnFailed(c), "note")
		sc.feed(turnEnded(loop.Turn{ToolCalls: 1}), "inspect")
		sc.feed(loop.Event{Payload: loop.TreeInspected{Inspection: loop.Inspection{Shallow: true}}}, "turn 2 continue no_claim")
		sc.feed(turnFailed(c), "note")
		sc.feed(loop.Event{Payload: loop.Resumed{}}, "turn 2 continue interrupted")
		if sc.s.Usage.CostUSD != 0 || sc.s.Elapsed() >= sc.s.Now.Sub(sc.s.StartedAt) {
			t.Errorf("%s: the time in which it was held counts: %s", c, sc.s.Elapsed())
		}
	}
}

func TestNetworkFailurePausesLoopInSession(t *testing.T) {
	t.Parallel()
	sc := inSession(t, loop.Policy{})
	for range 10 {
		sc.feed(turnFailed(loop.Network), "wait")
		sc.feed(loop.Event{Payload: loop.TimerFired{}}, "turn 1 continue interrupted")
	}
	sc.feed(turnFailed(loop.Network), "note")
	sc.feed(loop.Event{Payload: loop.Resumed{}}, "turn 1 continue interrupted")
	sc.feed(turnFailed(loop.Network), "wait")
}

func TestTurnEndingDuringWaitCounts(t *testing.T) {
	t.Parallel()
	claimed := turnEnded(loop.Turn{ToolCalls: 1, Claim: &loop.Claim{}})

	sc := inSession(t, loop.Policy{Gates: true, Limits: loop.Limits{Iterations: 1}})
	sc.feed(turnFailed(loop.UsageLimit), "wait")
	sc.feed(claimed, "inspect deep") // the user bought more, and the agent continued
	sc.feed(loop.Event{Payload: loop.TreeInspected{Inspection: loop.Inspection{Changed: true}}}, "gates claim")
	if sc.s.Iteration != 1 {
		t.Errorf("iteration %d", sc.s.Iteration)
	}

	sc = inSession(t, loop.Policy{Gates: true})
	sc.feed(turnFailed(loop.Overloaded), "wait")
	sc.feed(turnEnded(userTurn), "turn 1 continue no_claim")
	sc.feed(turnFailed(loop.Overloaded), "wait")
	sc.feed(turnFailed(loop.UsageLimit), "wait")

	background := loop.Turn{ToolCalls: 1, Background: []string{"npm test"}}
	sc = inSession(t, loop.Policy{Gates: true, Limits: loop.Limits{Iterations: 2}})
	sc.feed(turnEnded(background), "wait")
	sc.feed(turnEnded(background), "inspect deep")
	sc.feed(loop.Event{Payload: loop.TreeInspected{Inspection: loop.Inspection{Changed: true}}}, "gates limit")
	if sc.s.Iteration != 2 {
		t.Errorf("the turn of the session that was woken is not counted: %d", sc.s.Iteration)
	}

	background.Background = []string{"a server"}
	sc = inSession(t, loop.Policy{Gates: true})
	sc.feed(turnEnded(background), "wait")
	sc.feed(turnEnded(userTurn), "turn 2 continue no_claim") // a user's turn ends the wait, even while a command runs
	sc.feed(turnEnded(background), "inspect")                // the loop waits only once for the same command

	background.Background = []string{"npm start"}
	sc = inSession(t, loop.Policy{Gates: true, Limits: loop.Limits{Iterations: 1}})
	sc.feed(turnEnded(background), "wait")
	sc.feed(claimed, "inspect deep")
	if sc.s.Iteration != 1 {
		t.Errorf("iteration %d of 1", sc.s.Iteration)
	}
}

func TestTurnsDuringGatesOrPauseAreIgnored(t *testing.T) {
	t.Parallel()
	sc := inSession(t, loop.Policy{Gates: true})
	sc.feed(turnEnded(loop.Turn{ToolCalls: 1, Claim: &loop.Claim{}}), "inspect deep")
	sc.feed(turnEnded(userTurn), "")
	sc.feed(loop.Event{Payload: loop.TreeInspected{Inspection: loop.Inspection{Changed: true}}}, "gates claim")
	sc.feed(turnEnded(userTurn), "")
	sc.feed(loop.Event{Payload: loop.AgentFailed{Turn: &userTurn, Failure: loop.Failure{Class: loop.Crashed}}}, "")
	sc.feed(turnEnded(loop.Turn{}), "note") // no turn of the loop is running that could end
	sc.feed(loop.Event{Payload: loop.PauseRequested{}}, "")
	sc.gates(red("x"), "")
	before := sc.s
	sc.feed(turnEnded(loop.Turn{ToolCalls: 1, Claim: &loop.Claim{}}), "")
	sc.feed(turnFailed(loop.Login), "")
	if sc.s.Phase != loop.Paused || sc.s.Turns != before.Turns {
		t.Errorf("%s after %d turns", sc.s.Phase, sc.s.Turns)
	}
	sc.feed(loop.Event{Payload: loop.Resumed{}}, "turn 2 continue gates_failed")
}

func TestViolationInSessionAsksAgentToRestore(t *testing.T) {
	t.Parallel()
	sc := inSession(t, loop.Policy{Gates: true})
	for n, want := range []string{"restore_files; turn 2 continue violation", "restore_files; turn 3 continue violation", "restore_files; finish tampered"} {
		sc.feed(turnEnded(loop.Turn{ToolCalls: 1, Claim: &loop.Claim{}}), "inspect deep")
		sc.feed(loop.Event{Payload: loop.TreeInspected{Inspection: loop.Inspection{Tampered: []string{"check.sh"}}}}, want)
		if n == 0 && !strings.Contains(sc.s.Failing.Reason, "restore them, or ask the user") {
			t.Errorf("told %q", sc.s.Failing.Reason)
		}
	}
	if slices.ContainsFunc(sc.s.History, func(a loop.RecapLine) bool { return strings.Contains(a.What, "restored") }) {
		t.Errorf("history: %v", sc.s.History)
	}
}

func TestThreeFailedAttemptsInSessionEndStuck(t *testing.T) {
	t.Parallel()
	sc := inSession(t, loop.Policy{Gates: true})
	sc.turn("done", "gates claim")
	sc.gates(red("a"), "turn 2 continue gates_failed")
	sc.turn("done", "gates claim")
	sc.gates(red("b"), "turn 3 continue gates_failed")
	sc.turn("done", "gates claim")
	sc.gates(red("c"), "checkpoint")
	sc.checkpointed("finish stuck")
}

func TestUnknownGateResultsPauseLoopInSession(t *testing.T) {
	t.Parallel()
	sc := inSession(t, loop.Policy{Gates: true, Limits: loop.Limits{Iterations: 2}})
	sc.turn("done", "gates claim")
	for range 3 {
		sc.gates(loop.Gates{Status: gate.Unknown}, "wait")
		sc.feed(loop.Event{Payload: loop.TimerFired{}}, "gates claim")
	}
	sc.gates(loop.Gates{Status: gate.Unknown}, "note") // for example because the user keeps editing
	sc.feed(turnEnded(userTurn), "gates claim")
	sc.gates(red("a"), "turn 2 continue gates_failed")
	sc.feed(loop.Event{Payload: loop.AgentFailed{Turn: &userTurn, Failure: loop.Failure{Class: loop.Crashed}}}, "turn 2 continue no_claim")
	if sc.s.Ladder.Tries != 1 || sc.s.Turns != 1 {
		t.Errorf("what is nobody's fault counts: %+v after %d turns", sc.s.Ladder, sc.s.Turns)
	}
}

func TestWithoutGatesClaimEndsLoopInSession(t *testing.T) {
	t.Parallel()
	for _, changed := range []bool{true, false} {
		sc := inSession(t, loop.Policy{})
		sc.feed(turnEnded(loop.Turn{Claim: &loop.Claim{}}), "inspect deep")
		if seen := (loop.Event{Payload: loop.TreeInspected{Inspection: loop.Inspection{Changed: changed}}}); !changed {
			sc.feed(seen, "finish unverified")
		} else {
			sc.feed(seen, "gates claim")
			sc.gates(loop.Gates{Status: gate.Pass}, "commit a")
			sc.committed("finish unverified")
		}
	}
}

// Another process may send more messages than a prompt can hold.
func TestPendingMessagesAreBounded(t *testing.T) {
	t.Parallel()
	sc := inSession(t, loop.Policy{})
	for range 1000 {
		sc.feed(loop.Event{Payload: loop.MessageArrived{Text: "old"}}, "")
	}
	sc.feed(loop.Event{Payload: loop.MessageArrived{Text: "new"}}, "note")
	if n := sc.s.Messages; len(n) != 1000 || n[999].Text != "new" {
		t.Errorf("%d messages, the last %q", len(n), n[len(n)-1].Text)
	}
}
