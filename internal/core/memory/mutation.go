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
	Survived   []string `json:"survived,omitempty"`   // mutations that no test noticed, with file, line, function and the change
}

// maxListedFunctions bounds the functions that a line names.
const maxListedFunctions = 6

// String returns a line such as "task T1: 7 of 9 changed functions are tested: not parseRow,
// Sub". The task is omitted if there is only the goal.
func (r MutationResult) String() string {
	text := ""
	if !slices.Contains(r.Tasks, loop.GoalTask) {
		text = "task "
		if len(r.Tasks) > 1 {
			text = "tasks "
		}
		text += plan.OneLine(strings.Join(r.Tasks, ", "), 60) + ": "
	}
	switch {
	case r.Functions == 0:
	case r.Tried == 0:
		text += "no changed function was tried"
	default:
		text += TestedFunctions(r.Detected, r.Functions)
	}
	if len(r.Undetected) > 0 {
		text += ": not " + plan.OneLine(plan.Few(r.Undetected, maxListedFunctions), 0)
	}
	if untried := r.Functions - r.Tried; untried > 0 {
		text += fmt.Sprintf("; %d not tried", untried)
		if len(r.Untried) > 0 {
			text += ": " + plan.OneLine(plan.Few(r.Untried, maxListedFunctions), 0)
		}
	}
	if len(r.Survived) > 0 {
		if r.Functions > 0 {
			text += "; "
		}
		text += "no test notices when " + strings.Join(r.Survived, ", ")
	}
	return text
}

// TestedFunctions says how many of the changed functions are tested.
func TestedFunctions(tested, changed int) string {
	if tested == 1 && changed == 1 {
		return "the one changed function is tested"
	}
	return fmt.Sprintf("%d of %d changed functions are tested", tested, changed)
}

// Note returns the note for the journal.
func (r MutationResult) Note() Note { return Note{Level: loop.Info, Text: r.String(), Mutation: &r} }

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
