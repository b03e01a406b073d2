package loop_test

import (
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
)

func TestUserTickCompletesCurrentTask(t *testing.T) {
	t.Parallel()
	sc := begin(t, loop.Policy{Gates: true}, loop.Task{ID: "a", Status: loop.Open}, loop.Task{ID: "b", Status: loop.Open})
	sc.checkpointed("gates baseline")
	sc.gates(green, "turn 1 fresh first")
	sc.feed(loop.Event{Payload: loop.TurnEnded{Turn: loop.Turn{ToolCalls: 1, Claim: &loop.Claim{}}}}, "inspect deep")
	sc.feed(loop.Event{Payload: loop.TreeInspected{Inspection: loop.Inspection{Changed: true, TickedByUser: []string{"a"}}}}, "checkpoint")
	a, _ := sc.s.Task("a")
	if a.Status != loop.Done || !a.DoneEarlier || sc.s.Claim != nil || sc.s.Current != "b" {
		t.Fatalf("%+v, claim %v, at work %s", a, sc.s.Claim, sc.s.Current)
	}
}

func TestUserTickOfLastTaskFinishesLoop(t *testing.T) {
	t.Parallel()
	sc := begin(t, loop.Policy{})
	sc.checkpointed("turn 1 fresh first")
	sc.feed(loop.Event{Payload: loop.TurnEnded{Turn: loop.Turn{ToolCalls: 1}}}, "inspect")
	sc.feed(loop.Event{Payload: loop.TreeInspected{Inspection: loop.Inspection{Shallow: true, TickedByUser: []string{"a"}}}}, "finish finished")
}

func TestSecondStartFailureOfNewClientIsAnError(t *testing.T) {
	t.Parallel()
	sc := begin(t, loop.Policy{})
	sc.checkpointed("turn 1 fresh first")
	fails := loop.Event{Payload: loop.AgentFailed{Failure: loop.Failure{Class: loop.NotStarted, Message: "no such option", Hint: "read the manual"}}}
	sc.feed(fails, "wait")
	sc.feed(loop.Event{Payload: loop.TimerFired{}}, "turn 1 continue interrupted")
	sc.feed(fails, "finish error")
	if sc.s.Hint != "read the manual" {
		t.Errorf("hint %q", sc.s.Hint)
	}
}

func TestMissingClientIsAnErrorUnlessItWorkedBefore(t *testing.T) {
	t.Parallel()
	missing := loop.Event{Payload: loop.AgentFailed{Failure: loop.Failure{Class: loop.NotStarted, Missing: true, Message: "no such file"}}}
	sc := begin(t, loop.Policy{})
	sc.checkpointed("turn 1 fresh first")
	sc.feed(missing, "finish error")

	sc = begin(t, loop.Policy{})
	sc.checkpointed("turn 1 fresh first")
	sc.turn("", "turn 2 continue no_claim")
	sc.feed(missing, "wait")
}

func TestCommitWithMissingFilesHasUnknownEvidence(t *testing.T) {
	t.Parallel()
	for name, p := range map[string]loop.Policy{"a task": {Gates: true}, "a verify loop": {Gates: true, Verify: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sc := begin(t, p)
			sc.checkpointed("gates baseline")
			sc.gates(green, "turn 1 fresh first")
			sc.feed(loop.Event{Payload: loop.TurnEnded{Turn: loop.Turn{ToolCalls: 1, Claim: &loop.Claim{}}}}, "inspect deep")
			sc.feed(loop.Event{Payload: loop.TreeInspected{Inspection: loop.Inspection{Changed: true}}}, "gates claim")
			sc.s, _ = loop.Step(sc.s, loop.Event{At: sc.now.Add(time.Minute), Payload: loop.GatesFinished{Gates: loop.Gates{
				Status:     gate.Pass,
				Green:      true,
				WorkResult: loop.WorkResult{Evidence: gate.Proven},
				Proof:      loop.Proof{MissingFromCommit: []string{"mine.txt"}},
			}}})
			if sc.s.Phase != loop.Committing || sc.s.Claim.Gates.Evidence != gate.EvidenceUnknown {
				t.Errorf("%s with %+v", sc.s.Phase, sc.s.Claim.Gates)
			}
		})
	}
}
