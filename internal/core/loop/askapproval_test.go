package loop_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
)

// awaitedApproval returns the approval that the loop waits for.
func (sc *scenario) awaitedApproval() string {
	q, _ := sc.s.AwaitedAnswer()
	return strings.Join(append([]string{string(q.Approve) + " " + q.Text}, q.Lines()...), "|")
}

func (sc *scenario) answer(answer, want string) {
	sc.t.Helper()
	sc.feed(loop.Event{Payload: loop.Answered{Answer: answer}}, want)
}

func beginWithApproval(t *testing.T, at ...loop.Approval) *scenario {
	t.Helper()
	sc := begin(t, loop.Policy{Gates: true, Approve: at})
	sc.checkpointed("gates baseline")
	sc.gates(green, "turn 1 fresh first")
	return sc
}

// Accepted work is shown before it is committed. Time, the death of an owner and a pause do not
// approve it. A no sends its reason to the agent.
func TestTaskApprovalPrecedesCommit(t *testing.T) {
	t.Parallel()
	sc := beginWithApproval(t, loop.ApproveTask)
	sc.turn("done", "gates claim")
	found := loop.Gates{Status: gate.Pass, Reason: "TestX turned green", Tree: "done", WorkResult: loop.WorkResult{Evidence: gate.Proven, Flipped: []string{"TestX"}}}
	sc.gates(found, "wait")
	want := "task accept the work: task a|evidence: proven; TestX turned green|failed before, passes now: TestX|git diff base done"
	if diff := cmp.Diff(want, sc.awaitedApproval()); diff != "" {
		t.Fatal(diff)
	}
	before := sc.s.Elapsed()
	sc.feed(loop.Event{Payload: loop.TimerFired{}}, "wait")
	sc.feed(loop.Event{Payload: loop.OwnerChanged{}}, "wait")
	sc.feed(loop.Event{Payload: loop.PauseRequested{}}, "")
	sc.feed(loop.Event{Payload: loop.Resumed{}}, "wait")
	sc.feed(loop.Event{Payload: loop.MessageArrived{Text: "yes"}}, "") // a message does not approve
	if sc.s.Elapsed() != before {
		t.Errorf("the wait counts: %s", sc.s.Elapsed()-before)
	}
	sc.answer("keep the old flag", "turn 2 continue no_claim")
	if notes := sc.notes(); notes != "yes|The user does not accept your work on this task: keep the old flag" {
		t.Errorf("told %q", notes)
	}
	sc.turn("done", "gates claim")
	sc.gates(found, "wait")
	sc.feed(loop.Event{Payload: loop.PauseRequested{}}, "")
	sc.answer("Yes", "") // in a pause
	sc.feed(loop.Event{Payload: loop.Resumed{}}, "commit a")
	sc.committed("gates final")
	sc.gates(green, "finish verified")
}

// A loop that ends while it waits for an approval asks again once it is reopened, and the answer counts:
// the work needs no other turn. Files may have changed meanwhile, so it is inspected first.
func TestReopenedLoopWaitsForItsApproval(t *testing.T) {
	t.Parallel()
	reopen := func(sc *scenario, want string) {
		t.Helper()
		sc.feed(loop.Event{Payload: loop.Cancelled{Cause: loop.ByStop}}, "finish cancelled")
		sc.feed(loop.Event{Payload: loop.Concluded{}}, "")
		sc.feed(loop.Event{Payload: loop.Reopened{}}, "inspect deep")
		sc.feed(loop.Event{Payload: loop.TreeInspected{Inspection: loop.Inspection{Changed: true}}}, want)
	}
	for answer, want := range map[string]string{"yes": "commit a", "keep the old flag": "turn 2 continue no_claim"} {
		sc := beginWithApproval(t, loop.ApproveTask)
		sc.turn("done", "gates claim")
		sc.gates(proven, "wait")
		asked := sc.awaitedApproval()
		reopen(sc, "gates claim")
		sc.gates(proven, "wait")
		if got := sc.awaitedApproval(); got != asked {
			t.Errorf("asks %q, asked %q before", got, asked)
		}
		sc.answer(answer, want)
	}
	for answer, want := range map[string]string{"yes": "gates claim", "no": "turn 2 continue no_claim"} {
		sc := beginWithApproval(t, loop.ApproveClaim)
		sc.turn("done", "wait")
		reopen(sc, "wait")
		sc.answer(answer, want)
	}
	sc := beginWithApproval(t, loop.ApproveTask) // unproven work that was refused once is not refused again
	sc.turn("done", "gates claim")
	sc.gates(green, "turn 2 continue claim_refused")
	sc.turn("done", "gates claim")
	sc.gates(green, "wait")
	reopen(sc, "gates claim")
	sc.gates(green, "wait")
	sc.answer("yes", "commit a")

	sc = beginWithApproval(t, loop.ApproveTask) // the user undid the work
	sc.turn("done", "gates claim")
	sc.gates(proven, "wait")
	sc.feed(loop.Event{Payload: loop.Cancelled{Cause: loop.ByStop}}, "finish cancelled")
	sc.feed(loop.Event{Payload: loop.Concluded{}}, "")
	sc.feed(loop.Event{Payload: loop.Reopened{}}, "inspect deep")
	sc.feed(loop.Event{Payload: loop.TreeInspected{}}, "turn 2 continue claim_refused")
}

// Approving unproven work during the loop counts as much as after its end.
func TestApprovedUnprovenTaskIsVerified(t *testing.T) {
	t.Parallel()
	sc := beginWithApproval(t, loop.ApproveTask)
	sc.turn("done", "gates claim")
	sc.gates(green, "turn 2 continue claim_refused")
	sc.turn("done", "gates claim")
	sc.gates(green, "wait")
	sc.answer("yes", "commit a")
	sc.committed("gates final")
	sc.gates(green, "finish verified")
	if got := sc.s.Tasks[0]; !got.Accepted || got.Evidence != gate.Unproven {
		t.Errorf("accepted %v, evidence %s", got.Accepted, got.Evidence)
	}
}

func TestClaimApprovalPrecedesGates(t *testing.T) {
	t.Parallel()
	sc := beginWithApproval(t, loop.ApproveClaim)
	sc.turn("done", "wait")
	if got := sc.awaitedApproval(); !strings.HasSuffix(got, "|git diff base; git status --short") { // shows new files, too
		t.Error(got)
	}
	sc.answer("no", "turn 2 continue no_claim")
	sc.turn("done", "wait")
	sc.answer("yes", "gates claim")
	sc.gates(proven, "commit a")
}

func TestPlanApprovalPrecedesFirstTurn(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]string{"yes": "checkpoint", "task 2 first": "finish cancelled"} {
		sc := &scenario{t: t}
		policy := loop.Policy{Kind: loop.Change, Approve: []loop.Approval{loop.ApprovePlan}}
		sc.feed(loop.Event{Payload: loop.Started{Policy: policy, Tasks: open("a", "b")}}, "wait")
		if got := sc.awaitedApproval(); got != "plan start with this plan?|open: task a|open: task b" {
			t.Errorf("asks %q", got)
		}
		sc.answer(answer, want)
		if answer != "yes" && !strings.Contains(sc.s.Reason, answer) {
			t.Errorf("ended %q", sc.s.Reason)
		}
	}
}

func TestEndApprovalPrecedesVerifiedEnd(t *testing.T) {
	t.Parallel()
	sc := beginWithApproval(t, loop.ApproveEnd)
	sc.turn("done", "gates claim")
	sc.gates(proven, "commit a")
	sc.committed("gates final")
	sc.gates(green, "wait")
	if got := sc.awaitedApproval(); got != "end end verified?|task a: done proven" {
		t.Errorf("asks %q", got)
	}
	sc.answer("the README lacks it", "checkpoint")
	sc.checkpointed("gates baseline")
	sc.gates(green, "turn 2 fresh next_task")
	if notes := sc.notes(); !strings.Contains(notes, "the README lacks it") {
		t.Errorf("told %q", notes)
	}
	sc.turn("done", "gates claim")
	sc.gates(proven, "commit final-gates")
	sc.committed("gates final")
	sc.gates(green, "wait")
	sc.answer("yes", "finish verified")
}

// A question that the agent asks late does not replace the approval that the loop waits for.
func TestQuestionDoesNotReplaceApproval(t *testing.T) {
	t.Parallel()
	sc := beginWithApproval(t, loop.ApproveTask)
	sc.turn("done", "gates claim")
	sc.gates(proven, "wait")
	sc.feed(loop.Event{Payload: loop.QuestionAsked{Question: loop.Question{Text: "which?"}}}, "note")
	sc.answer("yes", "commit a")
}

// randomApprovals returns the approval points of a random walk.
func (w *randomWalk) randomApprovals() []loop.Approval {
	if w.oneIn(4) {
		return loop.Approvals()[w.r.IntN(3):]
	}
	return nil
}

// answerApproval answers an approval that a random walk waits for.
func (w *randomWalk) answerApproval() loop.EventPayload {
	if q, asks := w.s.AwaitedAnswer(); asks && q.Approve != "" && !w.oneIn(4) {
		return loop.Answered{Answer: []string{"yes", "yes", "yes", "no", "not so"}[w.r.IntN(5)], Task: q.Task}
	}
	return loop.TimerFired{}
}

// checkApprovalAsked checks that what needs an approval happens only after it.
func (w *randomWalk) checkApprovalAsked(before loop.State, e loop.Event, acts []loop.Action) {
	for _, a := range acts {
		var at loop.Approval
		stop := false
		switch p := a.Payload.(type) {
		case loop.Commit:
			at, stop = loop.ApproveTask, true
		case loop.Finish:
			at, stop = loop.ApproveEnd, w.s.Outcome == loop.Verified
		case loop.RunGates:
			at, stop = loop.ApproveClaim, p.Purpose == loop.ForClaim && !before.Policy.Verify && before.Phase == loop.Inspecting
		}
		asked := slices.Contains(w.start.Approve, at)
		answered, yes := e.Payload.(loop.Answered)
		yes = yes && loop.Approves(answered.Answer)
		for _, q := range before.Questions {
			yes = yes || q.Approve == at && q.Answer == "yes"
		}
		if c := before.Claim; at == loop.ApproveTask && c != nil && c.Gates != nil {
			yes = yes || c.Gates.Accepted // the commit is repeated
		}
		if again := e.Kind() == loop.KindOwnerChanged || e.Kind() == loop.KindHandedOver || e.Kind() == loop.KindReopened; stop && asked && !yes && !again {
			w.t.Errorf("%s on %s while %s without a yes", a.Kind(), e.Kind(), before.Phase)
		}
	}
}
