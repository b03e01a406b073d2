package loop

import (
	"fmt"
	"strings"
)

// Progress counts the done tasks and those that need the user: "8 of 10 tasks done, 2 need you". It
// is "" for a single task.
func (s State) Progress() string {
	if len(s.Tasks) < 2 {
		return ""
	}
	done, unproven, need, open, leftOut := 0, 0, 0, 0, 0
	for _, t := range s.Tasks {
		switch {
		case t.LeftOut:
			leftOut++
		case t.Status == Done:
			done++
			if t.Unproven() {
				unproven++
			}
		case t.NeedsUser():
			need++
		default:
			open++
		}
	}
	words := fmt.Sprintf("%d of %d tasks done", done, len(s.Tasks))
	if unproven > 0 {
		words += fmt.Sprintf(" (%d not proven)", unproven)
	}
	switch {
	case need == 1:
		words += ", 1 needs you"
	case need > 1:
		words += fmt.Sprintf(", %d need you", need)
	}
	if leftOut > 0 {
		words += fmt.Sprintf(", %d left out", leftOut)
	}
	if open > 0 {
		words += fmt.Sprintf(", %d open", open)
	}
	return words
}

// TaskPosition returns the task's number in order of completion, and the total. Tasks that a user
// left out do not count.
func (s State) TaskPosition(id string) (nth, of int) {
	nth, of = 1, 1
	for _, t := range s.Tasks {
		if t.ID == id || t.LeftOut {
			continue
		}
		if of++; t.Status != Open {
			nth++
		}
	}
	return nth, of
}

// Headline says how the loop with this ID ended, with its progress.
func (s State) Headline(id string) string {
	ended := " ended " + strings.ToUpper(string(s.Outcome))
	if p := s.Progress(); p != "" {
		return id + " · " + p + " ·" + ended
	}
	return id + ended
}

// NeedsUser reports whether the task ended without its work, and not because a user left it out.
func (t Task) NeedsUser() bool {
	return !t.LeftOut && (t.Status == Skipped || t.Status == Blocked || t.Status == Unchanged)
}

// Unproven reports whether a done task lacks evidence and no user accepted it. A task ticked by the
// user is not a claim.
func (t Task) Unproven() bool {
	return t.Status == Done && !t.Accepted && (!t.DoneEarlier || t.Evidence != "") && !t.meets(t.Evidence)
}

// UnprovenTasks returns the IDs of the Unproven tasks.
func (s State) UnprovenTasks() []string { return s.Tasks.IDs(Task.Unproven) }

// label names a task by its ID and title.
func (t Task) label() string {
	if t.Title == "" {
		return "task " + t.ID
	}
	return fmt.Sprintf("task %s (%s)", t.ID, t.Title)
}
