package loop_test

import (
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
)

func limitsChanged(l loop.Limits) loop.Event {
	return loop.Event{Payload: loop.LimitsChanged{Limits: l}}
}

// Only the given limits change, as totals. A repeated event changes nothing.
func TestLimitChangeKeepsOtherLimits(t *testing.T) {
	t.Parallel()
	sc := begin(t, loop.Policy{Limits: loop.Limits{Iterations: 2, Duration: time.Hour, CostUSD: 5}})
	sc.checkpointed("turn 1 fresh first")
	e := limitsChanged(loop.Limits{Iterations: 3, CostUSD: -1})
	e.ID = "limit-1"
	sc.feed(e, "")
	sc.feed(limitsChanged(loop.Limits{Iterations: 4}), "")
	sc.feed(e, "")
	if got, want := sc.s.Policy.Limits, (loop.Limits{Iterations: 4, Duration: time.Hour}); got != want {
		t.Errorf("limits %+v, want %+v", got, want)
	}
	for range 3 {
		sc.feed(loop.Event{Payload: loop.TurnEnded{Turn: loop.Turn{ToolCalls: 1}}}, "inspect")
		sc.s, _ = loop.Step(sc.s, loop.Event{Payload: loop.TreeInspected{Inspection: loop.Inspection{}}})
	}
	if sc.s.Iteration != 4 {
		t.Errorf("iteration %d", sc.s.Iteration)
	}
	sc.turnWithInspection("", loop.Inspection{}, "finish iterations")
}

// A limit below the current usage ends the loop before its next turn, with a message.
func TestLimitBelowUsageEndsLoopBeforeNextTurn(t *testing.T) {
	t.Parallel()
	sc := begin(t, loop.Policy{Gates: true, Limits: loop.Limits{Iterations: 9}})
	sc.checkpointed("gates baseline")
	sc.gates(green, "turn 1 fresh first")
	sc.turn("", "turn 2 continue no_claim")
	sc.feed(limitsChanged(loop.Limits{Iterations: 1}), "note")
	sc.feed(loop.Event{Payload: loop.TurnEnded{Turn: loop.Turn{ToolCalls: 1}}}, "inspect deep")
	sc.feed(loop.Event{Payload: loop.TreeInspected{Inspection: loop.Inspection{Changed: true}}}, "gates limit")
	sc.gates(green, "finish iterations")
}

// It ends a wait at once.
func TestLimitBelowUsageEndsWait(t *testing.T) {
	t.Parallel()
	sc := begin(t, loop.Policy{Limits: loop.Limits{CostUSD: 9}})
	sc.checkpointed("turn 1 fresh first")
	sc.feed(loop.Event{Payload: loop.AgentFailed{Turn: &loop.Turn{Usage: loop.Usage{CostUSD: 1}}, Failure: loop.Failure{Class: loop.UsageLimit, Until: sc.now.Add(time.Hour)}}}, "wait")
	sc.feed(limitsChanged(loop.Limits{CostUSD: 0.5}), "note; finish budget")
}

// If a limit that was reached during a turn or the final gates is raised, the loop continues and
// begins the turn again.
func TestRaisedLimitContinuesLoopThatReachedIt(t *testing.T) {
	t.Parallel()
	at := func() *scenario {
		sc := begin(t, loop.Policy{Gates: true, Limits: loop.Limits{Iterations: 9, Duration: time.Hour}})
		sc.checkpointed("gates baseline")
		sc.gates(green, "turn 1 fresh first")
		sc.now = sc.now.Add(time.Hour)
		sc.feed(loop.Event{Payload: loop.LimitHit{Limit: loop.Duration}}, "interrupt")
		return sc
	}
	sc := at()
	sc.feed(limitsChanged(loop.Limits{Duration: 2 * time.Hour}), "")
	sc.agentFails(loop.Interrupted, "turn 1 continue interrupted")

	sc = at()
	sc.feed(loop.Event{Payload: loop.AgentFailed{Turn: &loop.Turn{}, Failure: loop.Failure{Class: loop.Interrupted}}}, "inspect deep")
	sc.feed(loop.Event{Payload: loop.TreeInspected{Inspection: loop.Inspection{Changed: true}}}, "gates limit")
	sc.feed(limitsChanged(loop.Limits{Duration: -1}), "")
	sc.gates(loop.Gates{Status: gate.Fail, Reason: "TestX fails"}, "turn 2 continue no_claim")

	sc = at()
	sc.feed(limitsChanged(loop.Limits{Iterations: 20}), "note")
	sc.feed(loop.Event{Payload: loop.AgentFailed{Turn: &loop.Turn{}, Failure: loop.Failure{Class: loop.Interrupted}}}, "inspect deep")
	sc.feed(loop.Event{Payload: loop.TreeInspected{Inspection: loop.Inspection{}}}, "gates limit")
	sc.gates(green, "finish duration")
}

// The limit of a turn is what was left of the budget when it began.
func TestTurnStoppedByOldBudgetIsRestarted(t *testing.T) {
	t.Parallel()
	sc := begin(t, loop.Policy{Limits: loop.Limits{CostUSD: 1}})
	sc.checkpointed("turn 1 fresh first")
	sc.feed(limitsChanged(loop.Limits{CostUSD: 3}), "")
	spent := loop.Event{Payload: loop.AgentFailed{Turn: &loop.Turn{Usage: loop.Usage{CostUSD: 1}}, Failure: loop.Failure{Class: loop.OverBudget}}}
	sc.feed(spent, "turn 1 continue interrupted")
	sc.feed(spent, "inspect deep")
	sc.feed(loop.Event{Payload: loop.TreeInspected{Inspection: loop.Inspection{}}}, "finish budget")
}

// A loop that has not begun begins with the changed limits.
func TestLimitsCanChangeBeforeStart(t *testing.T) {
	t.Parallel()
	s, _ := loop.Step(loop.State{}, limitsChanged(loop.Limits{Iterations: 5, Duration: -1}))
	s, _ = loop.Step(s, limitsChanged(loop.Limits{Iterations: 3})) // the other stays
	s, _ = loop.Step(s, loop.Event{Payload: loop.Started{Policy: loop.Policy{Limits: loop.Limits{Iterations: 9, Duration: time.Hour, Tokens: 7}}, Tasks: open("a")}})
	if got, want := s.Policy.Limits, (loop.Limits{Iterations: 3, Tokens: 7}); got != want {
		t.Errorf("limits %+v, want %+v", got, want)
	}
}

// changeLimits changes limits at random. It leaves the budget, so that the checks know how far a turn
// may exceed it.
func (w *randomWalk) changeLimits() {
	if w.oneIn(3) {
		w.feed(limitsChanged(loop.Limits{Iterations: 1 + w.r.IntN(40), Duration: time.Duration(w.r.IntN(4)-1) * 4 * time.Hour}))
	}
}
