package narrate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/figure"
)

// Task returns a task's status and what it cost.
func Task(t loop.Task) string {
	words := string(t.Status)
	switch {
	case t.DoneEarlier:
		words += " before this loop"
	case t.LeftOut:
		words = "left out"
	case len(t.Rejected) > 0:
		words = "open again"
	case t.Undone && t.Status == loop.Open:
		words = "open again: a restore undid its work"
	}
	if t.Evidence != "" && t.Status != loop.Open {
		words += ", " + Result(t)
	}
	if t.Accepted && Result(t) != Approved {
		words += ", approved"
	}
	var took []string
	if t.Turns > 0 {
		took = append(took, figure.Count(t.Turns, "attempt"))
	}
	if t.Took > 0 {
		took = append(took, figure.Duration(t.Took))
	}
	if t.CostUSD > 0 {
		took = append(took, figure.Money(t.CostUSD))
	}
	if len(took) > 0 {
		words += " · " + strings.Join(took, ", ")
	}
	if t.Commit != "" {
		words += " · " + t.Commit[:min(7, len(t.Commit))]
	}
	return words
}

// Result returns the word for how a task ended.
func Result(t loop.Task) string {
	switch {
	case t.Status == loop.Done && len(t.TestsChanged) > 0 && t.Accepted:
		return Approved
	case t.Status == loop.Done && len(t.TestsChanged) > 0:
		return ToApprove
	case t.Status == loop.Done && t.Evidence != "": // a task that the user ticked has none
		return string(t.Evidence)
	}
	return string(t.Status)
}

// ToApprove is the result of a task that passes only with tests that the agent changed.
const ToApprove = "to approve"

// Approved is the result of such a task after the user has accepted its work.
const Approved = "approved"

// Evidence says what shows that the task's work is done.
func Evidence(t loop.Task) string {
	switch {
	case t.Status == loop.Unchanged:
		return "claimed done, but changed no files"
	case t.Status != loop.Done:
		return t.Why
	case t.Accepted && len(t.TestsChanged) > 0:
		return PassesOnlyWith(t) + "; accepted by pawl approve"
	case t.Accepted:
		return "no test proves it; accepted by pawl approve"
	case len(t.TestsChanged) > 0:
		return PassesOnlyWith(t)
	case t.Evidence == gate.Proven && len(t.Flipped) > 0:
		names := t.Flipped
		if len(names) > 3 {
			names = append(slices.Clone(names[:3]), fmt.Sprintf("%d more", len(t.Flipped)-3))
		}
		return strings.Join(names, ", ") + " failed before and " + figure.Verb(len(t.Flipped), "passes", "pass") + " now"
	case t.Evidence == gate.Unproven && len(t.StillRed)+len(t.TestsNotRun) == 0 && !t.OnlyText && t.Why != "":
		return "please review: " + t.Why // a test may prove some of it
	case t.Evidence == gate.Unproven:
		return loop.UnprovenSummary(t) + ": please review"
	}
	return t.Why
}

// PassesOnlyWith lists the changes of tests and gate inputs that a task needs and that wait for
// approval: its own, those of earlier tasks, or the tests that it removed.
func PassesOnlyWith(t loop.Task) string {
	if t.TestsRemoved {
		return "old tests are gone: " + plan.Few(t.TestsChanged, 4)
	}
	earlier := slices.DeleteFunc(slices.Clone(t.TestsChanged), func(file string) bool {
		return len(t.ChangedTests) == 0 || slices.ContainsFunc(t.ChangedTests, func(c loop.TestChange) bool { return c.Path == file })
	})
	own := slices.DeleteFunc(slices.Clone(t.TestsChanged), func(file string) bool { return slices.Contains(earlier, file) })
	switch {
	case len(earlier) == 0:
		return "passes only with its changes of " + plan.Few(own, 4)
	case len(own) == 0:
		return "passes only with what an earlier task changed: " + plan.Few(earlier, 4)
	}
	return "passes only with its changes of " + plan.Few(own, 4) + ", and with what an earlier task changed: " + plan.Few(earlier, 4)
}

// TaskActivity says what happens with a task now, "" for most. working means that the loop is at work.
func TaskActivity(st loop.State, t loop.Task, working bool) string {
	for _, q := range st.Unanswered() {
		switch {
		case q.Task != t.ID:
		case q.Approve != "":
			return "waits for your approval"
		default:
			return "waits for your answer"
		}
	}
	if working && t.ID == st.Current && t.Status == loop.Open {
		return AtWork
	}
	return ""
}

// AtWork is what TaskActivity returns for the current task.
const AtWork = "in progress"

// PlanLine returns a line with a task of the plan and its status.
func PlanLine(st loop.State, t loop.Task, working bool) string {
	words := Task(t)
	if now := TaskActivity(st, t, working); now != "" {
		words = now + ", " + words
	}
	if why := plan.OneLine(t.Why, 120); why != "" && (t.NeedsUser() || t.Status == loop.Open && !t.Undone) {
		words += " · " + why
	}
	return strings.TrimSpace(plan.OneLine(t.ID, 40)+"  "+plan.OneLine(t.Title, 80)) + ": " + words
}

// ID returns a task's id for the user. The goal without a plan has none.
func ID(t loop.Task) string {
	if t.ID == loop.GoalTask {
		return ""
	}
	return t.ID
}

// Name returns a task's id and title. The goal of a prompt has only a title.
func Name(t loop.Task) string {
	if t.ID == loop.GoalTask && t.Title == "" {
		return "the goal"
	}
	return strings.TrimSpace(plan.OneLine(ID(t), 40) + " " + plan.OneLine(t.Title, 80))
}

// TaskInSentence returns a task's name in a sentence, such as: task 3 (parse CSV).
func TaskInSentence(id, title string) string {
	if id == loop.GoalTask {
		return fmt.Sprintf("the goal %q", title)
	}
	return fmt.Sprintf("task %s (%s)", id, title)
}
