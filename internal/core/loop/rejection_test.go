package loop_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
)

// Rejected changes no longer wait, and work that was done with them is open again. The current task
// continues first; then the tests are restored and the other task begins again.
func TestRejectionReopensTasksWithRejectedChanges(t *testing.T) {
	t.Parallel()
	sc := beginFirstTurn(t, open("a", "b")...)
	sc.turn("done", "gates claim")
	sc.gates(passWithChangedTests("a_test.go"), "commit a")
	sc.committed("checkpoint")
	sc.checkpointed("gates baseline")
	sc.gates(green, "turn 2 fresh next_task")
	sc.feed(loop.Event{Payload: loop.Rejected{Paths: []string{"a_test.go"}, Why: "it is the contract"}}, "")
	a, _ := sc.s.Task("a")
	if a.Status != loop.Open || a.Why != "its change of a_test.go was rejected: it is the contract" || a.IfApproved != nil {
		t.Errorf("%+v", a)
	}
	if len(sc.s.Unapproved()) != 0 || sc.s.AsksUser() || !slices.Equal(sc.s.AwaitingApproval(), []string{"a_test.go"}) {
		t.Errorf("waits %v, judges nothing %v", sc.s.Unapproved(), sc.s.AwaitingApproval())
	}
	sc.turn("done", "gates claim")
	sc.gates(proven, "commit b")
	sc.committed("edit")
	sc.feed(loop.Event{Payload: loop.PlanEdited{Edits: sc.s.Edits}}, "restore_files; checkpoint")
	if a, _ := sc.s.Task("a"); sc.s.Current != "a" || a.Why != "" || len(sc.s.AwaitingApproval()) != 0 {
		t.Errorf("at work: %s, %+v", sc.s.Current, a)
	}
	if told := sc.s.Messages[len(sc.s.Messages)-1].Text; !strings.HasPrefix(told, "This task was done, and is open again: its change of a_test.go was rejected: it is the contract.") {
		t.Error(told)
	}
	sc.checkpointed("gates baseline")
	sc.gates(green, "turn 3 fresh next_task")
	sc.turn("done", "gates claim")
	sc.gates(proven, "commit a")
	sc.committed("gates final")
	sc.gates(green, "finish verified")
}

// After the end, a rejection leaves work, and the loop can be resumed.
func TestRejectionAfterEndLeavesLoopResumable(t *testing.T) {
	t.Parallel()
	for name, paths := range map[string][]string{"by name": {"a_test.go"}, "all": {loop.AllTests}, "of another": {"c_test.go"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sc := beginFirstTurn(t, open("a", "b")...)
			sc.turn("done", "gates claim")
			sc.gates(passWithChangedTests("a_test.go"), "commit a")
			sc.committed("checkpoint")
			sc.checkpointed("gates baseline")
			sc.gates(green, "turn 2 fresh next_task")
			sc.turn("done", "gates claim")
			sc.gates(proven, "commit b")
			sc.committed("gates final")
			sc.gates(green, "finish unverified")
			reason := sc.s.Reason
			sc.feed(loop.Event{Payload: loop.Rejected{Paths: paths, Why: "the contract"}}, "")
			if name == "of another" {
				if diff := cmp.Diff([]any{reason, 1, 0}, []any{sc.s.Reason, len(sc.s.Unapproved()), len(sc.s.Rejected)}); diff != "" {
					t.Error(diff)
				}
				return
			}
			want := []any{loop.Unverified, "you rejected test changes that the work needs: task a", 0, true}
			if diff := cmp.Diff(want, []any{sc.s.Outcome, sc.s.Reason, len(sc.s.Unapproved()), sc.s.HasWorkLeft()}); diff != "" {
				t.Error(diff)
			}
			sc.feed(loop.Event{Payload: loop.Reopened{Limits: sc.s.Policy.Limits}}, "edit")
			sc.feed(loop.Event{Payload: loop.PlanEdited{Edits: sc.s.Edits}}, "restore_files; checkpoint")
			if told := sc.s.Messages[len(sc.s.Messages)-1].Text; !strings.Contains(told, "its change of a_test.go was rejected: the contract.") {
				t.Error(told)
			}
		})
	}
}

// A rejection while the loop waits for the approval of its end reopens the work.
func TestRejectionWhileEndAwaitsApprovalReopensWork(t *testing.T) {
	t.Parallel()
	sc := begin(t, loop.Policy{Gates: true, Approve: []loop.Approval{loop.ApproveEnd}}, loop.Task{ID: loop.GoalTask, Status: loop.Open})
	sc.checkpointed("gates baseline")
	sc.gates(green, "turn 1 fresh first")
	sc.turn("done", "gates claim")
	sc.gates(passWithChangedTests("a_test.go"), "commit goal")
	sc.committed("gates final")
	sc.gates(green, "wait")
	sc.feed(loop.Event{Payload: loop.Rejected{Paths: []string{"a_test.go"}}}, "")
	sc.feed(loop.Event{Payload: loop.Answered{Task: string(loop.ApproveEnd), Answer: "yes"}}, "restore_files; checkpoint")
}

// The last task of a loop also begins again, because only then the original tests are restored.
func TestRejectionOfLastTaskRestartsIt(t *testing.T) {
	t.Parallel()
	sc := beginFirstTurn(t, open("a")...)
	sc.turn("done", "gates claim")
	sc.gates(passWithChangedTests("a_test.go"), "commit a")
	sc.committed("gates final")
	sc.gates(green, "finish unverified")
	sc.feed(loop.Event{Payload: loop.Rejected{Paths: []string{"a_test.go"}}}, "")
	sc.feed(loop.Event{Payload: loop.Reopened{Limits: sc.s.Policy.Limits}}, "edit")
	sc.feed(loop.Event{Payload: loop.PlanEdited{Edits: sc.s.Edits}}, "restore_files; checkpoint")
}

// The user rejects tests that a review accepted: the loop is not verified any more.
func TestRejectionOfReviewedTestsEndsVerified(t *testing.T) {
	t.Parallel()
	sc := begin(t, loop.Policy{Gates: true, Reviews: true}, loop.Task{ID: "a", Status: loop.Open, Wanted: gate.Unproven})
	sc.checkpointed("gates baseline")
	sc.gates(green, "turn 1 fresh first")
	sc.turn("done", "gates claim")
	sc.gates(passWithChangedTests("a_test.go"), "gates review")
	sc.gates(loop.Gates{Status: gate.Pass, WorkResult: loop.WorkResult{Approved: []string{"a_test.go"}}}, "commit a")
	sc.committed("gates final")
	sc.gates(green, "finish verified")
	sc.feed(loop.Event{Payload: loop.Rejected{Paths: []string{"a_test.go"}}}, "")
	if sc.s.Outcome != loop.Unverified || sc.s.Reason != "you rejected test changes that the work needs" {
		t.Errorf("%s: %s", sc.s.Outcome, sc.s.Reason)
	}
}
