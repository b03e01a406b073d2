package loop

import (
	"fmt"
	"strings"
)

// Progress says how many tasks of a plan are done and how many need the user:
// "8 of 10 tasks done, 2 need you". It is "" for a goal that is one task.
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

// Place says which of the loop's tasks this one is, in the order in which they end, and of
// how many. A task that a user leaves out counts for nothing.
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

// Headline says how a loop ended, behind its id: what was done leads.
func (s State) Headline(id string) string {
	ended := " ended " + strings.ToUpper(string(s.Outcome))
	if p := s.Progress(); p != "" {
		return id + " · " + p + " ·" + ended
	}
	return id + ended
}

// NeedsUser tells whether a task has ended without its work, and not by a user's word.
func (t Task) NeedsUser() bool {
	return !t.LeftOut && (t.Status == Skipped || t.Status == Blocked || t.Status == Unchanged)
}

// Unproven tells whether a task that is done has not enough evidence, and no user has
// accepted it. A task that no loop did (the user ticked it) is nobody's claim.
func (t Task) Unproven() bool {
	return t.Status == Done && !t.Accepted && (!t.DoneEarlier || t.Evidence != "") && !t.meets(t.Evidence)
}

// UnprovenTasks are the ids of those.
func (s State) UnprovenTasks() []string {
	var ids []string
	for _, t := range s.Tasks {
		if t.Unproven() {
			ids = append(ids, t.ID)
		}
	}
	return ids
}

// label names a task by its id and title.
func (t Task) label() string {
	if t.Title == "" {
		return "task " + t.ID
	}
	return fmt.Sprintf("task %s (%s)", t.ID, t.Title)
}
