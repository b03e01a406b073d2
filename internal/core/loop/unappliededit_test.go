package loop_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/core/loop"
)

// beginWithWaitingTask returns a loop over three tasks; the last depends on the first. The first asks in its
// first turn, and the second is the current one.
func beginWithWaitingTask(t *testing.T, p loop.Policy, proposed string) *scenario {
	t.Helper()
	p.Gates = true
	tasks := open("a", "b", "c")
	tasks[2].DependsOn = []string{"a"}
	sc := begin(t, p, tasks...)
	sc.checkpointed("gates baseline")
	sc.gates(green, "turn 1 fresh first")
	sc.feed(loop.Event{Payload: loop.QuestionAsked{Question: loop.Question{Text: "UTC?", Proposed: proposed}}}, "")
	sc.turn("", "checkpoint")
	sc.feed(loop.Event{Payload: loop.QuestionAsked{Question: loop.Question{Text: "UTC?", Proposed: proposed}}}, "") // once more
	sc.feed(loop.Event{Payload: loop.Checkpointed{Tree: "half"}}, "restore")
	if back := pending[loop.Restore](sc); back.Tree != "base" {
		t.Fatalf("back to %+v", back)
	}
	sc.feed(loop.Event{Payload: loop.Restored{Tree: "base"}}, "checkpoint")
	sc.checkpointed("gates baseline")
	sc.gates(green, "turn 2 fresh next_task")
	return sc
}

// finishTask brings the current task to its end.
func (sc *scenario) finishTask(task, next string) {
	sc.t.Helper()
	sc.turn("done", "gates claim")
	sc.gates(proven, "commit "+task)
	sc.committed(next)
}

// While a task waits for its answer, other tasks are worked on. Without others the loop waits, which
// does not count for limits. The answer brings back the task's work.
func TestOtherTasksContinueWhileOneAwaitsAnswer(t *testing.T) {
	t.Parallel()
	sc := beginWithWaitingTask(t, loop.Policy{}, "")
	sc.finishTask("b", "wait")
	if q, waits := sc.s.AwaitedAnswer(); !waits || q.Task != "a" {
		t.Fatalf("waits for %+v", q)
	}
	before := sc.s.Elapsed()
	sc.feed(loop.Event{Payload: loop.OwnerChanged{}}, "wait")
	sc.feed(loop.Event{Payload: loop.Answered{Answer: "UTC"}}, "checkpoint")
	if sc.s.Elapsed() != before {
		t.Errorf("the wait counts: %s", sc.s.Elapsed()-before)
	}
	sc.checkpointed("gates baseline")
	sc.gates(green, "reapply_work")
	if back := pending[loop.ReapplyWork](sc); back.Base != "base" || back.Work != "half" {
		t.Errorf("brought back %+v", back)
	}
	sc.feed(loop.Event{Payload: loop.WorkReapplied{Tree: "t", Conflicts: []string{"shop.go"}}}, "turn 3 fresh fresh")
	notes := sc.notes()
	if !strings.Contains(notes, "You asked: UTC?\nThe answer: UTC|") || !strings.Contains(notes, "shop.go. Your version: git show half:PATH") {
		t.Errorf("told %q", notes)
	}
	sc.finishTask("a", "checkpoint")
	sc.checkpointed("gates baseline")
	sc.gates(green, "turn 4 fresh next_task")
}

// Saved work stays with its task if the loop stops before it is back, or if another task is the
// current one.
func TestSavedWorkStaysWithItsTask(t *testing.T) {
	t.Parallel()
	sc := beginWithWaitingTask(t, loop.Policy{}, "")
	sc.feed(loop.Event{Payload: loop.Answered{Answer: "UTC", Task: "a"}}, "")
	sc.finishTask("b", "checkpoint")
	sc.feed(loop.Event{Payload: loop.Cancelled{Cause: loop.ByStop}}, "finish cancelled")
	sc.feed(loop.Event{Payload: loop.Concluded{}}, "")
	sc.feed(loop.Event{Payload: loop.Reopened{}}, "checkpoint")
	sc.checkpointed("gates baseline")
	sc.gates(green, "reapply_work")
	if back := pending[loop.ReapplyWork](sc); back.Task != "a" || back.Work != "half" {
		t.Errorf("brought back %+v", back)
	}
	sc.feed(loop.Event{Payload: loop.WorkReapplied{Tree: "t"}}, "turn 3 fresh fresh")
	sc.finishTask("a", "checkpoint")
	sc.checkpointed("gates baseline")
	sc.gates(green, "turn 4 fresh next_task")
}

// An answer during another task waits for its own task.
func TestAnswerWaitsUntilItsTaskIsCurrent(t *testing.T) {
	t.Parallel()
	sc := beginWithWaitingTask(t, loop.Policy{}, "")
	sc.feed(loop.Event{Payload: loop.Answered{Answer: "UTC", Task: "a"}}, "")
	if len(sc.s.Messages) > 0 {
		t.Errorf("the other task is told %v", sc.s.Messages)
	}
	sc.finishTask("b", "checkpoint")
	if sc.s.Current != "a" || len(sc.s.Messages) != 1 {
		t.Errorf("%s continues, told %v", sc.s.Current, sc.s.Messages)
	}
}

// A question times out, whatever task is the current one.
func TestQuestionTimesOutDuringAnotherTask(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ proposed, next, status string }{
		{"UTC", "note; checkpoint", "open"},
		{"", "gates final", "blocked"},
	} {
		sc := beginWithWaitingTask(t, loop.Policy{AnswerWithin: 5 * time.Minute}, c.proposed)
		sc.finishTask("b", c.next)
		if a, _ := sc.s.Task("a"); string(a.Status) != c.status || len(sc.s.Unanswered()) > 0 {
			t.Errorf("proposed %q: %+v", c.proposed, a)
		}
	}
}

// Two tasks that ask wait for either answer.
func TestEitherOfTwoAnswersContinuesLoop(t *testing.T) {
	t.Parallel()
	sc := beginWithWaitingTask(t, loop.Policy{}, "")
	sc.feed(loop.Event{Payload: loop.QuestionAsked{Question: loop.Question{Text: "Blue?"}}}, "")
	sc.turn("", "wait") // nothing else can be done: the work on it stays where it is
	sc.feed(loop.Event{Payload: loop.Answered{Answer: "UTC", Task: "a"}}, "checkpoint")
	sc.feed(loop.Event{Payload: loop.Checkpointed{Tree: "half of b"}}, "restore")
	sc.feed(loop.Event{Payload: loop.Restored{Tree: "base"}}, "checkpoint")
	var asked []string
	for _, q := range sc.s.Unanswered() {
		asked = append(asked, q.Task+" "+q.Text)
	}
	if diff := cmp.Diff([]string{"b Blue?"}, asked); diff != "" || sc.s.Current != "a" {
		t.Errorf("%s at work, %s", sc.s.Current, diff)
	}
}

// checkQuestions checks that no turn begins for a task that waits for an answer. A runner waits for
// one only if no other task is left.
func (w *randomWalk) checkQuestions(before loop.State, e loop.Event, acts []loop.Action) {
	kind := e.Kind()
	w.checkApprovalAsked(before, e, acts)
	asked := map[string]bool{}
	for _, q := range w.s.Unanswered() {
		asked[q.Task] = true
	}
	for _, a := range acts {
		if turn, begins := a.Payload.(loop.BeginTurn); begins && asked[turn.Task] {
			w.t.Errorf("a turn of %s begins, which waits for an answer", turn.Task)
		}
		wait, _ := a.Payload.(loop.Wait)
		if q, _ := w.s.AwaitedAnswer(); wait.Task == "" || w.s.InSession || q.Approve != "" {
			continue
		}
		for _, t := range w.s.Tasks {
			waits := slices.ContainsFunc(t.DependsOn, func(id string) bool {
				on, _ := w.s.Task(id)
				return on.Status != loop.Done
			})
			if t.Status == loop.Open && !asked[t.ID] && !waits {
				w.t.Errorf("after %s it waits for an answer, and could work on %s: %+v", kind, t.ID, w.s.Tasks)
			}
		}
	}
}

func (w *randomWalk) checkNothingAfterTheEnd(before loop.State, e loop.Event, acts []loop.Action) {
	if before.Phase == loop.Ended && len(acts) > 0 && e.Kind() != loop.KindReopened {
		w.t.Errorf("%s after the end does %v", e.Kind(), acts)
	}
}
