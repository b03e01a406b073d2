package memory

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/plan"
)

// MutationResult says for which functions of a commit a test fails if they are broken
// (mutation testing).
type MutationResult struct {
	Commit     string   `json:"commit"`
	Tasks      []string `json:"tasks"`                // ids of the tasks in the commit
	Functions  int      `json:"functions"`            // that the commit added or changed
	Tried      int      `json:"tried"`                // of these, how many were broken in time
	Detected   int      `json:"detected"`             // of these, how many made a test fail
	Undetected []string `json:"undetected,omitempty"` // the other functions that were tried, with file and line
	Untried    []string `json:"untried,omitempty"`    // names of the functions that were not tried
	Missed     []string `json:"missed,omitempty"`     // lines that no test notices, with file, line, function and what they did
}

// maxNamedFunctions bounds the functions that a line names.
const maxNamedFunctions = 6

// String returns a line such as "task T1: 7 of 9 changed functions are tested: not parseRow,
// Sub". The task is omitted if there is only the goal.
func (t MutationResult) String() string {
	words := ""
	if !slices.Contains(t.Tasks, loop.GoalTask) {
		words = "task "
		if len(t.Tasks) > 1 {
			words = "tasks "
		}
		words += plan.OneLine(strings.Join(t.Tasks, ", "), 60) + ": "
	}
	switch {
	case t.Functions == 0:
	case t.Tried == 0:
		words += "no changed function was tried"
	default:
		words += TestedFunctions(t.Detected, t.Functions)
	}
	if len(t.Undetected) > 0 {
		words += ": not " + plan.OneLine(plan.Few(t.Undetected, maxNamedFunctions), 0)
	}
	if left := t.Functions - t.Tried; left > 0 {
		words += fmt.Sprintf("; %d not tried", left)
		if len(t.Untried) > 0 {
			words += ": " + plan.OneLine(plan.Few(t.Untried, maxNamedFunctions), 0)
		}
	}
	if len(t.Missed) > 0 {
		if t.Functions > 0 {
			words += "; "
		}
		words += "no test notices when " + strings.Join(t.Missed, ", ")
	}
	return words
}

// TestedFunctions says how many of the changed functions are tested.
func TestedFunctions(tested, changed int) string {
	if tested == 1 && changed == 1 {
		return "the one changed function is tested"
	}
	return fmt.Sprintf("%d of %d changed functions are tested", tested, changed)
}

// Note returns the note for the journal.
func (t MutationResult) Note() Note { return Note{Level: loop.Info, Text: t.String(), Mutation: &t} }

// Untested returns by task the functions of its commit that no test checks. A task whose
// commit was not tried is not in it.
func (m Memory) Untested() map[string][]string {
	untested := map[string][]string{}
	for _, r := range m.Mutations {
		if r.Tried == 0 || r.Tried < r.Functions && len(r.Undetected) == 0 {
			continue
		}
		for _, id := range r.Tasks {
			untested[id] = r.Undetected
		}
	}
	return untested
}

// MutationLines returns a line for each commit with mutation tests.
func (m Memory) MutationLines() []string {
	var lines []string
	for _, t := range m.Mutations {
		lines = append(lines, t.String())
	}
	return lines
}
