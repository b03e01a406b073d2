package loop_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
)

func TestClaimOnLastIterationIsVerified(t *testing.T) {
	t.Parallel()
	sc := begin(t, loop.Policy{Gates: true, Limits: loop.Limits{Iterations: 1}})
	sc.checkpointed("gates baseline")
	sc.gates(green, "turn 1 fresh first")
	sc.turn("done", "gates claim")
	sc.gates(proven, "commit a")
	sc.committed("gates final")
	sc.gates(green, "finish verified")
}

func TestGatesRunOnceMoreAtLimit(t *testing.T) {
	t.Parallel()
	sc := begin(t, loop.Policy{Gates: true, Limits: loop.Limits{Iterations: 1}})
	sc.checkpointed("gates baseline")
	sc.gates(green, "turn 1 fresh first")
	sc.turn("", "gates limit")
	sc.gates(proven, "finish iterations")
}

// A budget ends the loop, and the user reads which of the two was used up.
func TestBudgetEndsLoopAndNamesExceededLimit(t *testing.T) {
	t.Parallel()
	for want, limits := range map[string]loop.Limits{
		"the budget of $0.15 was spent":       {CostUSD: 0.15},
		"the budget of $0.20 was spent":       {CostUSD: 0.2, Tokens: 1_900},
		"the budget of 2.0k tokens was spent": {CostUSD: 5, Tokens: 2_000},
	} {
		sc := begin(t, loop.Policy{Limits: limits})
		sc.checkpointed("turn 1 fresh first")
		for _, next := range [][2]string{{"inspect", "turn 2 continue no_claim"}, {"inspect deep", "finish budget"}} {
			sc.feed(loop.Event{Payload: loop.TurnEnded{Turn: loop.Turn{ToolCalls: 1, Usage: loop.Usage{CostUSD: 0.1, Input: 1_000}}}}, next[0])
			sc.feed(loop.Event{Payload: loop.TreeInspected{}}, next[1])
		}
		if sc.s.Reason != want {
			t.Errorf("%q, want %q", sc.s.Reason, want)
		}
	}
}

func TestTimeLimitInterruptsTurn(t *testing.T) {
	t.Parallel()
	sc := begin(t, loop.Policy{Gates: true, Limits: loop.Limits{Duration: 8 * time.Hour}})
	sc.checkpointed("gates baseline")
	sc.gates(green, "turn 1 fresh first")
	sc.now = sc.now.Add(8 * time.Hour)
	sc.feed(loop.Event{Payload: loop.LimitHit{Limit: loop.Duration}}, "interrupt")
	sc.feed(loop.Event{Payload: loop.AgentFailed{Turn: &loop.Turn{}, Failure: loop.Failure{Class: loop.Interrupted}}}, "inspect deep")
	sc.feed(loop.Event{Payload: loop.TreeInspected{Inspection: loop.Inspection{Changed: true}}}, "gates limit")
	sc.gates(green, "finish duration")
}

// At the time limit, gates that run before the work are stopped: there is no work to check.
func TestTimeLimitStopsBaselineGates(t *testing.T) {
	t.Parallel()
	sc := begin(t, loop.Policy{Gates: true, Limits: loop.Limits{Duration: 8 * time.Hour}})
	sc.checkpointed("gates baseline")
	sc.feed(loop.Event{Payload: loop.LimitHit{Limit: loop.Duration}}, "finish duration")
	sc = begin(t, loop.Policy{Gates: true, Limits: loop.Limits{Duration: 8 * time.Hour}})
	sc.checkpointed("gates baseline")
	sc.gates(loop.Gates{Status: gate.Unknown}, "wait")
	sc.feed(loop.Event{Payload: loop.LimitHit{Limit: loop.Duration}}, "finish duration")
}

// Claimed work is checked to the end, and the user is told why the loop continues.
func TestTimeLimitWaitsForGatesOfClaim(t *testing.T) {
	t.Parallel()
	sc := begin(t, loop.Policy{Gates: true, Limits: loop.Limits{Duration: 8 * time.Hour}})
	sc.checkpointed("gates baseline")
	sc.gates(green, "turn 1 fresh first")
	sc.turn("done", "gates claim")
	sc.now = sc.now.Add(8 * time.Hour)
	sc.feed(loop.Event{Payload: loop.LimitHit{Limit: loop.Duration}}, "note")
	sc.gates(proven, "commit a")
	sc.committed("gates final")
	sc.gates(green, "finish verified")
}

func TestUsageLimitWaitsCountAgainstNoLimit(t *testing.T) {
	t.Parallel()
	sc := begin(t, loop.Policy{Gates: true, Limits: loop.Limits{Iterations: 1, Duration: time.Hour}})
	sc.checkpointed("gates baseline")
	sc.gates(green, "turn 1 fresh first")
	for range 3 {
		until := sc.now.Add(5 * time.Hour)
		sc.feed(loop.Event{Payload: loop.AgentFailed{Turn: &loop.Turn{ContextPercent: -1}, Failure: loop.Failure{Class: loop.UsageLimit, Until: until}}}, "wait")
		sc.now = until
		sc.feed(loop.Event{Payload: loop.TimerFired{}}, "turn 1 continue interrupted")
	}
	if got := sc.s.Elapsed(); got > 10*time.Minute {
		t.Errorf("%s count", got)
	}
	if n := sc.s.Tasks[0].Turns; n != 1 {
		t.Errorf("%d attempts of a task whose iteration was begun again", n)
	}
}

// A usage limit may reset between the agent's request and its event.
func TestElapsedUsageLimitIsRetriedSoon(t *testing.T) {
	t.Parallel()
	sc := begin(t, loop.Policy{Gates: true, Limits: loop.Limits{Iterations: 1}})
	sc.checkpointed("gates baseline")
	sc.gates(green, "turn 1 fresh first")
	for _, want := range []time.Duration{5 * time.Second, 10 * time.Second, 20 * time.Second} {
		sc.feed(loop.Event{Payload: loop.AgentFailed{Failure: loop.Failure{Class: loop.UsageLimit, Until: sc.now.Add(-time.Minute)}}}, "wait")
		wait := pending[loop.Wait](sc)
		if got := wait.Until.Sub(sc.now); got != want {
			t.Errorf("waits %s, want %s", got, want)
		}
		sc.now = wait.Until
		sc.feed(loop.Event{Payload: loop.TimerFired{}}, "turn 1 continue interrupted")
	}
}

func TestFailureClassDecidesNextStep(t *testing.T) {
	t.Parallel()
	cases := map[loop.Class]string{
		loop.Overloaded: "wait", loop.Network: "wait", loop.NotStarted: "wait", loop.UsageLimit: "wait",
		loop.Login: "finish error", loop.Billing: "finish error",
		loop.Refused: "turn 2 continue no_claim", loop.Crashed: "turn 2 continue no_claim",
		loop.TimedOut: "turn 2 continue no_claim", loop.Silent: "turn 2 continue no_claim",
		loop.OverBudget: "inspect deep", loop.Interrupted: "turn 1 continue interrupted",
		"unheard-of": "turn 2 continue no_claim",
	}
	for class, want := range cases {
		t.Run(string(class), func(t *testing.T) {
			t.Parallel()
			sc := begin(t, loop.Policy{Gates: true})
			sc.checkpointed("gates baseline")
			sc.gates(green, "turn 1 fresh first")
			sc.agentFails(class, want)
		})
	}
}

// A loop whose time runs out while its agent is cut off says so.
func TestTimeLimitReasonNamesLastTurnFailure(t *testing.T) {
	t.Parallel()
	for name, f := range map[string]loop.Failure{
		"network":              {Class: loop.Network, Message: "the API cannot be reached"},
		"in the client's turn": {Class: loop.Interrupted, Message: "the turn was interrupted", RetriedError: "the API cannot be reached"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sc := begin(t, loop.Policy{Limits: loop.Limits{Duration: time.Hour}})
			sc.checkpointed("turn 1 fresh first")
			if f.Class == loop.Network {
				sc.feed(loop.Event{Payload: loop.AgentFailed{Failure: f}}, "wait")
				sc.feed(loop.Event{Payload: loop.LimitHit{Limit: loop.Duration}}, "finish duration")
			} else {
				sc.feed(loop.Event{Payload: loop.LimitHit{Limit: loop.Duration}}, "interrupt")
				sc.feed(loop.Event{Payload: loop.AgentFailed{Failure: f}}, "inspect deep")
				sc.feed(loop.Event{Payload: loop.TreeInspected{Inspection: loop.Inspection{}}}, "finish duration")
			}
			if want := "the time limit of 1h was reached; the last turn failed: the API cannot be reached"; sc.s.Reason != want {
				t.Errorf("%s, want %s", sc.s.Reason, want)
			}
		})
	}
}

// At a limit the gates run once more, and the user reads that only the claim is missing.
func TestLimitReasonSaysGatesPassWithoutClaim(t *testing.T) {
	t.Parallel()
	for _, gates := range []loop.Gates{{Status: gate.Pass, Green: true}, {Status: gate.Pass /* red as before */}, {Status: gate.Fail}} {
		want := "the limit of 1 iteration was reached"
		if gates.Green {
			want += "; the gates pass now, but the agent has not claimed to be done"
		}
		sc := begin(t, loop.Policy{Gates: true, Limits: loop.Limits{Iterations: 1}})
		sc.checkpointed("gates baseline")
		sc.gates(red("x"), "note; turn 1 fresh first")
		sc.turn("working", "gates limit")
		sc.feed(loop.Event{Payload: loop.GatesFinished{Gates: gates}}, "finish iterations")
		if sc.s.Reason != want {
			t.Errorf("%s, green %t: %q, want %q", gates.Status, gates.Green, sc.s.Reason, want)
		}
	}
}

// A refusal of a finished task is not the reason of a later limit.
func TestLimitReasonOmitsRefusalOfFinishedTask(t *testing.T) {
	t.Parallel()
	weak := green
	weak.Reason = "nothing failed before"
	sc := begin(t, loop.Policy{Gates: true, Limits: loop.Limits{Iterations: 2}}, open("a", "b")...)
	sc.checkpointed("gates baseline")
	sc.gates(green, "turn 1 fresh first")
	sc.turn("done", "gates claim")
	sc.gates(weak, "turn 2 continue claim_refused")
	sc.turn("done", "gates claim")
	sc.gates(weak, "commit a")
	sc.committed("finish iterations")
	if sc.s.Reason != "the limit of 2 iterations was reached" {
		t.Error(sc.s.Reason)
	}
}

// A crash is a failed try of the task. A client that also crashes with the next task is itself broken.
func TestCrashesInTwoTasksAreAClientError(t *testing.T) {
	t.Parallel()
	for tasks, ends := range map[int]string{1: "finish stuck", 2: "checkpoint"} {
		sc := begin(t, loop.Policy{}, open("a", "b")[:tasks]...)
		sc.checkpointed("turn 1 fresh first")
		for _, want := range []string{"turn 2 continue no_claim", "turn 3 continue no_claim", "turn 4 fresh fresh", "checkpoint"} {
			sc.agentFails(loop.Crashed, want)
		}
		sc.checkpointed(ends)
		if tasks == 2 {
			sc.checkpointed("turn 5 fresh next_task")
			sc.agentFails(loop.Crashed, "finish error")
		}
	}
}

func TestInspectionRemarksAreReported(t *testing.T) {
	t.Parallel()
	sc := begin(t, loop.Policy{})
	sc.checkpointed("turn 1 fresh first")
	sc.turnWithInspection("", loop.Inspection{Changed: true, Remarks: []string{"the branch was switched back"}}, "note; turn 2 continue no_claim")
}

func TestRetryCountIsBounded(t *testing.T) {
	t.Parallel()
	for _, class := range []loop.Class{loop.Overloaded, loop.Interrupted} {
		sc := begin(t, loop.Policy{})
		sc.checkpointed("turn 1 fresh first")
		for i := 0; sc.s.Outcome == ""; i++ {
			if i > 50 {
				t.Fatalf("%s: backs off for ever", class)
			}
			e := loop.Event{At: sc.now, Payload: loop.AgentFailed{Failure: loop.Failure{Class: class}}}
			if sc.s.Phase == loop.Waiting {
				e = loop.Event{At: sc.now, Payload: loop.TimerFired{}}
			}
			sc.s, _ = loop.Step(sc.s, e)
		}
		if sc.s.Outcome != loop.Errored || sc.s.Iteration != 1 {
			t.Errorf("%s: %s after %d iterations", class, sc.s.Outcome, sc.s.Iteration)
		}
	}
}

func TestUnknownGateResultIsRetriedWithoutFailedAttempt(t *testing.T) {
	t.Parallel()
	sc := begin(t, loop.Policy{Gates: true})
	sc.checkpointed("gates baseline")
	sc.gates(unknownResult, "wait")
	sc.feed(loop.Event{Payload: loop.TimerFired{}}, "gates baseline")
	sc.gates(green, "turn 1 fresh first")
	sc.turn("done", "gates claim")
	for range 3 {
		sc.gates(unknownResult, "wait")
		sc.feed(loop.Event{Payload: loop.TimerFired{}}, "gates claim")
	}
	sc.gates(unknownResult, "finish error")
	if sc.s.Ladder.Tries != 0 {
		t.Error("the agent was blamed")
	}
}

func TestFailingFinalGateAddsLastTask(t *testing.T) {
	t.Parallel()
	sc := begin(t, loop.Policy{Gates: true})
	sc.checkpointed("gates baseline")
	stillRed := loop.Gates{Status: gate.Pass, WorkResult: loop.WorkResult{Evidence: gate.Proven}}
	sc.feed(loop.Event{Payload: loop.GatesFinished{Gates: loop.Gates{Status: gate.Pass}}}, "turn 1 fresh first")
	sc.turn("done", "gates claim")
	sc.feed(loop.Event{Payload: loop.GatesFinished{Gates: stillRed}}, "commit a")
	sc.committed("gates final")
	sc.gates(red("x"), "checkpoint")
	sc.checkpointed("gates baseline")
	sc.feed(loop.Event{Payload: loop.GatesFinished{Gates: loop.Gates{Status: gate.Pass}}}, "turn 2 fresh next_task")
	sc.turn("done", "gates claim")
	sc.feed(loop.Event{Payload: loop.GatesFinished{Gates: stillRed}}, "turn 3 continue gates_failed")
	sc.turn("done", "gates claim")
	sc.gates(proven, "commit final-gates")
	sc.committed("gates final")
	sc.gates(green, "finish verified")
}

func TestVerifyLoopIsVerifiedWithoutClaim(t *testing.T) {
	t.Parallel()
	sc := begin(t, loop.Policy{Gates: true, Verify: true})
	sc.checkpointed("gates baseline")
	sc.gates(red("x"), "turn 1 fresh first")
	sc.feed(loop.Event{Payload: loop.TurnEnded{Turn: loop.Turn{ToolCalls: 1}}}, "inspect deep")
	sc.feed(loop.Event{Payload: loop.TreeInspected{Inspection: loop.Inspection{Changed: true}}}, "gates claim")
	sc.gates(green, "commit a")
	sc.committed("gates final")
	sc.gates(green, "finish verified")
}

func TestAnswerExploreAndPeriodicLoopsEnd(t *testing.T) {
	t.Parallel()
	sc := begin(t, loop.Policy{Kind: loop.Answer})
	sc.checkpointed("turn 1 fresh first")
	sc.feed(loop.Event{Payload: loop.TurnEnded{Turn: loop.Turn{Claim: &loop.Claim{}, Text: "42"}}}, "inspect deep")
	sc.feed(loop.Event{Payload: loop.TreeInspected{Inspection: loop.Inspection{}}}, "finish unverified")
	if sc.s.Answer != "42" {
		t.Errorf("answer %q", sc.s.Answer)
	}

	sc = begin(t, loop.Policy{Kind: loop.Explore, Limits: loop.Limits{Iterations: 1}})
	sc.checkpointed("turn 1 fresh first")
	sc.turn("", "finish finished")

	sc = begin(t, loop.Policy{Kind: loop.Periodic, Every: 5 * time.Minute, Limits: loop.Limits{Iterations: 2}})
	sc.checkpointed("turn 1 fresh first")
	sc.turn("", "wait")
	sc.feed(loop.Event{Payload: loop.TimerFired{}}, "turn 2 fresh fresh")
	sc.turn("", "finish finished")
}

func TestOutcomeOfPlanDoneBeforeStart(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name  string
		tasks []loop.Task
		want  loop.Outcome
	}{
		{"by a user", []loop.Task{{ID: "a", Status: loop.Done, DoneEarlier: true}}, loop.Finished},
		{"verified by a loop", []loop.Task{{ID: "a", Status: loop.Done, DoneEarlier: true, WorkResult: loop.WorkResult{Evidence: gate.Proven}}}, loop.Finished},
		{"unproven by a loop", []loop.Task{{ID: "a", Status: loop.Done, DoneEarlier: true, WorkResult: loop.WorkResult{Evidence: gate.Unproven}}}, loop.Unverified},
		{"no task at all", nil, loop.Errored},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, _ := loop.Step(loop.State{}, loop.Event{Payload: loop.Started{Tasks: c.tasks}})
			if s.Outcome != c.want {
				t.Errorf("%s, want %s", s.Outcome, c.want)
			}
		})
	}
}

func TestNewOwnerContinuesSameIteration(t *testing.T) {
	t.Parallel()
	sc := begin(t, loop.Policy{Gates: true, Limits: loop.Limits{Iterations: 1, Duration: time.Hour}})
	sc.feed(loop.Event{Payload: loop.OwnerChanged{}}, "checkpoint")
	sc.checkpointed("gates baseline")
	sc.feed(loop.Event{Payload: loop.OwnerChanged{}}, "gates baseline")
	sc.gates(green, "turn 1 fresh first")
	sc.now = sc.now.Add(10 * time.Hour) // time without an owner does not count
	sc.feed(loop.Event{Payload: loop.OwnerChanged{}}, "turn 1 continue interrupted")
	sc.turn("done", "gates claim")
	sc.gates(proven, "commit a")
	sc.feed(loop.Event{Payload: loop.OwnerChanged{}}, "commit a")
	sc.committed("gates final")
}

func TestEachOutcomeHasAnExitCode(t *testing.T) {
	t.Parallel()
	want := map[loop.Outcome]int{
		loop.Verified: 0, loop.Finished: 0, loop.Errored: 1, loop.Unverified: 3, loop.Iterations: 10, loop.Duration: 11,
		loop.Budget: 12, loop.Stuck: 13, loop.BlockedEnd: 14, loop.Tampered: 15, loop.CancelledEnd: 130, "": 1,
	}
	for o, code := range want {
		if got := o.ExitCode(loop.ByInterrupt); got != code {
			t.Errorf("%s: %d, want %d", o, got, code)
		}
	}
	if got := loop.CancelledEnd.ExitCode(loop.ByHangup); got != 129 {
		t.Errorf("hangup: %d", got)
	}
	if got := loop.CancelledEnd.ExitCode(loop.ByPipe); got != 141 {
		t.Errorf("closed pipe: %d", got)
	}
}

func TestGatesAfterEveryTurnInformWithoutFailedAttempt(t *testing.T) {
	t.Parallel()
	sc := begin(t, loop.Policy{Gates: true, EveryTurn: true})
	sc.checkpointed("gates baseline")
	sc.gates(green, "turn 1 fresh first")
	for i := range 5 {
		sc.feed(loop.Event{Payload: loop.TurnEnded{Turn: loop.Turn{ToolCalls: 1}}}, "inspect deep")
		sc.feed(loop.Event{Payload: loop.TreeInspected{Inspection: loop.Inspection{Changed: true}}}, "gates turn")
		sc.gates(red("same"), fmt.Sprintf("turn %d continue no_claim", i+2))
	}
	if sc.s.Failing == nil || sc.s.Ladder.Tries != 0 {
		t.Errorf("failing %v, tries %d", sc.s.Failing, sc.s.Ladder.Tries)
	}
}
