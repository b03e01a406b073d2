package loop_test

import (
	"testing"

	"github.com/pawl-dev/pawl/internal/core/loop"
)

func turnWithContext(percent int) loop.Event {
	return turnEnded(loop.Turn{ToolCalls: 1, ContextPercent: percent})
}

func handedOver(to loop.Owner) loop.Event { return loop.Event{Payload: loop.HandedOver{To: to}} }

var shallowInspection = loop.Event{Payload: loop.TreeInspected{Inspection: loop.Inspection{Shallow: true}}}

func TestFullContextHandoverNeedsConsent(t *testing.T) {
	t.Parallel()
	sc := inSession(t, loop.Policy{Handover: true, HandoverAt: 80})
	sc.feed(turnWithContext(79), "inspect")
	sc.feed(shallowInspection, "turn 2 continue no_claim")
	sc.feed(turnWithContext(80), "inspect")
	sc.feed(shallowInspection, "handover")
	sc.feed(handedOver(loop.OwnerRunner), "turn 3 fresh fresh")
	if sc.s.InSession || sc.s.ContextPercent != 0 || sc.s.Handover.To != "" {
		t.Errorf("%+v", sc.s)
	}
	sc.feed(turnWithContext(80), "inspect")
	sc.feed(shallowInspection, "turn 4 continue no_claim")

	sc = inSession(t, loop.Policy{HandoverAt: 80})
	sc.feed(turnWithContext(95), "inspect")
	sc.feed(shallowInspection, "turn 2 continue no_claim")
}

func TestFailedHandoverKeepsLoopInSession(t *testing.T) {
	t.Parallel()
	sc := inSession(t, loop.Policy{Handover: true, HandoverAt: 80})
	sc.feed(turnWithContext(90), "inspect")
	sc.feed(shallowInspection, "handover")
	sc.feed(loop.Event{Payload: loop.HandedOver{To: loop.OwnerSession, Failed: true, Why: "no client"}}, "note; turn 2 continue no_claim")
	sc.feed(turnWithContext(95), "inspect")
	sc.feed(shallowInspection, "turn 3 continue no_claim")
	sc.feed(loop.Event{Payload: loop.HandoverRequested{To: loop.OwnerRunner, Why: "pawl handover"}}, "")
	sc.feed(turnWithContext(95), "inspect")
	sc.feed(shallowInspection, "handover")
}

// The recap contains the last line of each try.
func TestRecapKeepsLastLineOfEachAttempt(t *testing.T) {
	t.Parallel()
	sc := inSession(t, loop.Policy{Gates: true})
	for said, want := range map[string]string{
		"I tried A.\n\nIt needs a lock.\n<promise>DONE</promise>\n": "It needs a lock.",
		"It needs a lock. <promise>DONE</promise>":                  "It needs a lock.",
		"<promise>DONE</promise>":                                   "", "": "",
	} {
		s := sc.s
		for _, e := range []loop.Event{
			turnEnded(loop.Turn{ToolCalls: 1, Text: said, Claim: &loop.Claim{}}),
			{Payload: loop.TreeInspected{Inspection: loop.Inspection{Changed: true}}},
			{Payload: loop.GatesFinished{Gates: red("x")}},
		} {
			e.At = sc.now
			s, _ = loop.Step(s, e)
		}
		if h := s.History; len(h) == 0 || h[len(h)-1].LastAgentLine != want {
			t.Errorf("%q is remembered as %+v", said, h)
		}
	}
}

func TestFailedSessionAttemptsAreHandedOver(t *testing.T) {
	t.Parallel()
	sc := inSession(t, loop.Policy{Gates: true, Handover: true, HandoverAt: 80})
	for _, f := range []string{"a", "b"} {
		sc.turn("done", "gates claim")
		sc.gates(red(f), "turn "+map[string]string{"a": "2", "b": "3"}[f]+" continue gates_failed")
	}
	sc.turn("done", "gates claim")
	sc.gates(red("c"), "handover")
	sc.feed(handedOver(loop.OwnerRunner), "turn 4 fresh fresh")
	sc.turn("done", "gates claim")
	sc.gates(proven, "commit a")
	sc.committed("gates final")
	sc.gates(green, "finish verified")
}

// If an owner dies during a handover, one owner continues, and each iteration counts once.
func TestOwnerDeathDuringHandoverLeavesOneOwner(t *testing.T) {
	t.Parallel()
	sc := inSession(t, loop.Policy{Handover: true, HandoverAt: 80})
	sc.feed(turnWithContext(90), "inspect")
	sc.feed(shallowInspection, "handover")
	sc.feed(loop.Event{Payload: loop.OwnerChanged{}}, "handover")
	sc.feed(handedOver(loop.OwnerRunner), "turn 2 fresh fresh")
	sc.feed(loop.Event{Payload: loop.OwnerChanged{}}, "turn 2 continue interrupted")
	sc.feed(handedOver(loop.OwnerSession), "turn 2 continue fresh")
	if sc.s.Iteration != 2 || !sc.s.InSession {
		t.Errorf("iteration %d, inSession %v", sc.s.Iteration, sc.s.InSession)
	}
}

// A session that replaces another counts as a new owner: it has another context and knows nothing yet.
func TestAnotherSessionTakesLoopOver(t *testing.T) {
	t.Parallel()
	sc := inSession(t, loop.Policy{Handover: true, HandoverAt: 80})
	sc.feed(turnWithContext(90), "inspect")
	sc.feed(shallowInspection, "handover")
	sc.feed(handedOver(loop.OwnerSession), "turn 2 continue fresh")
	if sc.s.Handover.Failed || sc.s.ContextPercent != 0 {
		t.Errorf("%+v", sc.s)
	}
	sc.feed(handedOver(loop.OwnerSession), "turn 2 continue fresh")
}

func TestTakingLoopFromRunnerInterruptsItsTurn(t *testing.T) {
	t.Parallel()
	sc := begin(t, loop.Policy{Gates: true, Session: loop.PerTask}, open("a", "b")...)
	sc.checkpointed("gates baseline")
	sc.gates(green, "turn 1 fresh first")
	sc.feed(loop.Event{Payload: loop.HandoverRequested{To: loop.OwnerSession, Why: "taken"}}, "interrupt")
	sc.agentFails(loop.Interrupted, "handover")
	sc.feed(handedOver(loop.OwnerSession), "turn 1 continue fresh")

	sc.turn("done", "gates claim")
	sc.gates(proven, "commit a")
	sc.committed("checkpoint")
	sc.checkpointed("gates baseline")
	sc.gates(green, "turn 2 continue next_task") // no fresh context without consent
}

func TestHandoverRequestResumesPausedLoop(t *testing.T) {
	t.Parallel()
	sc := begin(t, loop.Policy{})
	sc.checkpointed("turn 1 fresh first")
	sc.feed(loop.Event{Payload: loop.PauseRequested{}}, "")
	sc.turn("", "")
	sc.feed(loop.Event{Payload: loop.HandoverRequested{To: loop.OwnerSession}}, "handover")
	sc.feed(loop.Event{Payload: loop.HandoverRequested{To: loop.OwnerRunner}}, "turn 2 continue no_claim") // the user changed their mind
}

func TestEndedLoopIsReopenedByAnotherOwner(t *testing.T) {
	t.Parallel()
	sc := inSession(t, loop.Policy{})
	sc.turn("blocked", "checkpoint")
	sc.checkpointed("finish blocked")
	sc.feed(loop.Event{Payload: loop.Reopened{Owner: loop.OwnerRunner, Limits: sc.s.Policy.Limits}}, "turn 2 fresh interrupted")
}
