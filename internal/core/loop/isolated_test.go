package loop_test

import (
	"strings"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/core/loop"
)

var isolatedPolicy = loop.Policy{Gates: true, Verify: true, Isolate: true}

// beginIsolatedAttempt returns a verify loop whose tries in the session have failed.
func beginIsolatedAttempt(t *testing.T) *scenario {
	t.Helper()
	sc := inSession(t, isolatedPolicy)
	for _, f := range []string{"a", "b", "c"} {
		sc.feed(turnEnded(loop.Turn{ToolCalls: 1, ContextPercent: 40}), "inspect deep")
		sc.feed(loop.Event{Payload: loop.TreeInspected{Inspection: loop.Inspection{Changed: true}}}, "gates claim")
		want := map[string]string{"a": "turn 2 continue gates_failed", "b": "turn 3 continue gates_failed", "c": "turn 4 fresh fresh"}[f]
		sc.gates(red(f), want)
	}
	return sc
}

func isolatedTurnEnded(cost float64) loop.Event {
	return loop.Event{Payload: loop.TurnEnded{Isolated: true, Turn: loop.Turn{
		ToolCalls: 3, ContextPercent: 12, Rounds: 4, Usage: loop.Usage{Input: 10, CacheRead: 5, CostUSD: cost}, Claim: &loop.Claim{},
	}}}
}

func TestIsolatedAttemptsFollowFailedSessionAttempts(t *testing.T) {
	t.Parallel()
	sc := beginIsolatedAttempt(t)
	if sc.s.Phase != loop.TurningIsolated || !sc.s.InSession || !sc.s.Phase.OwnerActs() {
		t.Fatalf("%s, inSession %v", sc.s.Phase, sc.s.InSession)
	}
	sc.feed(turnEnded(userTurn), "") // the user types meanwhile
	sc.feed(isolatedTurnEnded(0.25), "inspect deep")
	want := loop.IsolatedTurn{Iteration: 4, From: sc.s.Isolated.From, Took: 2 * time.Minute, Rounds: 4, Usage: loop.Usage{Input: 10, CacheRead: 5, CostUSD: 0.25}}
	if *sc.s.Isolated != want || sc.s.ContextPercent != 40 {
		t.Errorf("%+v, context %d", *sc.s.Isolated, sc.s.ContextPercent)
	}
	sc.feed(loop.Event{Payload: loop.TreeInspected{Inspection: loop.Inspection{Changed: true}}}, "gates claim")
	sc.gates(red("d"), "turn 5 fresh fresh")
	sc.feed(isolatedTurnEnded(0.5), "inspect deep")
	sc.feed(loop.Event{Payload: loop.TreeInspected{Inspection: loop.Inspection{Changed: true}}}, "gates claim")
	sc.gates(green, "commit a")
	sc.committed("gates final")
	sc.gates(green, "finish verified")
	if sc.s.Usage.CostUSD != 0.75 || sc.s.Iteration != 5 {
		t.Errorf("cost %.2f after %d iterations", sc.s.Usage.CostUSD, sc.s.Iteration)
	}
}

func TestRepeatedFailureEndsIsolatedAttemptsEarly(t *testing.T) {
	t.Parallel()
	sc := beginIsolatedAttempt(t)
	for n, want := range []string{"turn 5 fresh fresh", "turn 6 fresh fresh", "turn 7 fresh fresh", "checkpoint"} {
		sc.feed(isolatedTurnEnded(0.5), "inspect deep")
		sc.feed(loop.Event{Payload: loop.TreeInspected{Inspection: loop.Inspection{Changed: true}}}, "gates claim")
		sc.gates(red("again"), want)
		if n < 3 && sc.s.Ladder.SameFailures != n {
			t.Errorf("%d the same after %d", sc.s.Ladder.SameFailures, n)
		}
	}
	sc.checkpointed("finish stuck")
}

// A number of tries that the user set is used up even if they fail the same way. Only the paid tries
// after them end early.
func TestConfiguredAttemptsAreUsedDespiteRepeatedFailure(t *testing.T) {
	t.Parallel()
	p := isolatedPolicy
	p.Tries = 5
	sc := inSession(t, p)
	for _, want := range []string{
		"turn 2 continue gates_failed", "turn 3 continue gates_failed", "turn 4 continue gates_failed", "turn 5 continue gates_failed",
		"turn 6 fresh fresh",
	} {
		sc.feed(turnEnded(loop.Turn{ToolCalls: 1, ContextPercent: 40}), "inspect deep")
		sc.feed(loop.Event{Payload: loop.TreeInspected{Inspection: loop.Inspection{Changed: true}}}, "gates claim")
		sc.gates(red("same"), want)
	}
	for _, want := range []string{"turn 7 fresh fresh", "checkpoint"} {
		sc.feed(isolatedTurnEnded(0.5), "inspect deep")
		sc.feed(loop.Event{Payload: loop.TreeInspected{Inspection: loop.Inspection{Changed: true}}}, "gates claim")
		sc.gates(red("same"), want)
	}
	sc.checkpointed("finish stuck")
}

// An isolated try may report that it cannot do the task, if the gates fail too.
func TestBlockedIsolatedAttemptEndsLoopIfGatesFail(t *testing.T) {
	t.Parallel()
	cannot := loop.Event{Payload: loop.TurnEnded{Isolated: true, Turn: loop.Turn{ToolCalls: 3, Claim: &loop.Claim{Blocked: true, Reason: "no key"}}}}
	seen := loop.Event{Payload: loop.TreeInspected{Inspection: loop.Inspection{Changed: true}}}
	sc := beginIsolatedAttempt(t)
	sc.feed(cannot, "inspect deep")
	sc.feed(seen, "gates claim")
	sc.gates(red("d"), "checkpoint")
	sc.checkpointed("finish blocked")
	if sc.s.Reason != "no key" {
		t.Errorf("blocked: %s", sc.s.Reason)
	}
	sc = beginIsolatedAttempt(t)
	sc.feed(cannot, "inspect deep")
	sc.feed(seen, "gates claim")
	sc.gates(green, "commit a")
}

func TestUnstartableIsolatedAttemptReturnsToSession(t *testing.T) {
	t.Parallel()
	sc := beginIsolatedAttempt(t)
	sc.feed(loop.Event{Payload: loop.AgentFailed{Isolated: true, Failure: loop.Failure{Class: loop.NotStarted, Message: "no client"}}},
		"note; turn 4 continue gates_failed")
	if sc.s.Phase != loop.Turning || !strings.Contains(sc.s.Failing.Reason, "no client") || !strings.Contains(sc.s.Failing.Reason, "TestX fails") {
		t.Errorf("%s: %+v", sc.s.Phase, sc.s.Failing)
	}
	sc.feed(turnEnded(loop.Turn{ToolCalls: 1}), "inspect deep")
	sc.feed(loop.Event{Payload: loop.TreeInspected{Inspection: loop.Inspection{Changed: true}}}, "gates claim")
	sc.gates(red("d"), "turn 5 continue gates_failed")
}

func TestWorkOfInterruptedIsolatedAttemptIsGated(t *testing.T) {
	t.Parallel()
	for _, c := range []loop.Class{loop.TimedOut, loop.OverBudget, loop.Crashed, loop.Silent} {
		sc := beginIsolatedAttempt(t)
		sc.feed(loop.Event{Payload: loop.AgentFailed{Isolated: true, Failure: loop.Failure{Class: c, Message: "cut"}}}, "inspect deep")
		sc.feed(loop.Event{Payload: loop.TreeInspected{Inspection: loop.Inspection{Changed: true}}}, "gates claim")
		sc.gates(green, "commit a")
		if sc.s.Isolated.Died != "cut" || sc.s.Stop.Limit != "" {
			t.Errorf("%s: %+v", c, sc.s.Isolated)
		}
	}
	sc := beginIsolatedAttempt(t)
	sc.feed(loop.Event{Payload: loop.AgentFailed{Isolated: true, Failure: loop.Failure{Class: loop.UsageLimit}}}, "wait")
	sc.feed(loop.Event{Payload: loop.TimerFired{}}, "turn 4 fresh interrupted")
}

func TestLimitOrCancelEndsIsolatedAttempt(t *testing.T) {
	t.Parallel()
	sc := beginIsolatedAttempt(t)
	sc.feed(loop.Event{Payload: loop.LimitHit{Limit: loop.Duration}}, "interrupt")
	sc.feed(loop.Event{Payload: loop.AgentFailed{Isolated: true, Failure: loop.Failure{Class: loop.Interrupted, Message: "limit"}}}, "inspect deep")
	sc.feed(loop.Event{Payload: loop.TreeInspected{Inspection: loop.Inspection{Changed: true}}}, "gates claim")
	sc.gates(red("d"), "finish duration")
	sc = beginIsolatedAttempt(t)
	sc.feed(loop.Event{Payload: loop.Cancelled{Cause: loop.ByStop}}, "interrupt")
	cut := loop.Turn{Rounds: 3, Usage: loop.Usage{CostUSD: 0.8}}
	sc.feed(loop.Event{Payload: loop.AgentFailed{Isolated: true, Turn: &cut, Failure: loop.Failure{Class: loop.Interrupted}}}, "finish cancelled")
	if sc.s.Usage.CostUSD != 0.8 || sc.s.Isolated.Rounds != 3 {
		t.Errorf("what it cost is lost: %+v, %+v", sc.s.Usage, sc.s.Isolated)
	}
	sc = beginIsolatedAttempt(t)
	sc.feed(loop.Event{Payload: loop.Cancelled{Cause: loop.ByStop}}, "interrupt")
	sc.feed(loop.Event{Payload: loop.Cancelled{Cause: loop.ByStop}}, "finish cancelled")
}

// A claim does not end an explore or a periodic loop.
func TestExploreAndPeriodicLoopsIgnoreClaims(t *testing.T) {
	t.Parallel()
	for _, p := range []loop.Policy{{Kind: loop.Explore, Gates: true}, {Kind: loop.Explore}} {
		p.Limits.Iterations = 2
		sc := inSession(t, p)
		sc.feed(turnEnded(loop.Turn{Claim: &loop.Claim{}, ToolCalls: 0}), "inspect")
		sc.feed(loop.Event{Payload: loop.TreeInspected{Inspection: loop.Inspection{Changed: true, TickedByAgent: []string{"a"}}}}, "turn 2 continue no_claim")
		sc.feed(turnEnded(loop.Turn{Claim: &loop.Claim{}}), "inspect deep")
		sc.feed(shallowInspection, "finish finished")
	}
	sc := inSession(t, loop.Policy{Kind: loop.Periodic, Every: time.Minute, Limits: loop.Limits{Iterations: 2}})
	sc.feed(turnEnded(loop.Turn{Claim: &loop.Claim{}}), "inspect")
	sc.feed(shallowInspection, "wait")
	sc.feed(loop.Event{Payload: loop.TimerFired{}}, "turn 2 continue no_claim")
	sc.feed(turnEnded(loop.Turn{}), "inspect deep")
	sc.feed(shallowInspection, "finish finished") // no wait: no turn follows
}

// An isolated try whose owner died is begun again, unless it is no longer needed.
func TestIsolatedAttemptIsRestartedAfterOwnerDeath(t *testing.T) {
	t.Parallel()
	beginIsolatedAttempt(t).feed(loop.Event{Payload: loop.OwnerChanged{}}, "turn 4 fresh fresh")
	for want, before := range map[string]loop.Event{
		"inspect deep":     {Payload: loop.LimitHit{Limit: loop.Duration}},
		"finish cancelled": {Payload: loop.Cancelled{Cause: loop.ByStop}},
	} {
		sc := beginIsolatedAttempt(t)
		sc.feed(before, "interrupt")
		sc.feed(loop.Event{Payload: loop.OwnerChanged{}}, want)
	}
}
