package record

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/plan"
)

// Tested says which functions of a commit its tests prove: those of which a test fails
// when they are broken (mutation testing).
type Tested struct {
	Commit    string   `json:"commit"`
	Tasks     []string `json:"tasks"`             // ids of those that the commit did
	Functions int      `json:"functions"`         // that the commit added or changed
	Tried     int      `json:"tried"`             // of these, those that were broken in time
	Noticed   int      `json:"noticed"`           // of these, those of which a test failed
	Not       []string `json:"not,omitempty"`     // names of the other ones that were tried
	Untried   []string `json:"untried,omitempty"` // names of those that were not tried
}

// untestedNamed bounds the functions in a line.
const untestedNamed = 6

// String is "T1: 7 of 9 changed functions are tested: not parseRow, Sub", without the
// task where there is only the goal.
func (t Tested) String() string {
	words := ""
	if !slices.Contains(t.Tasks, GoalTask) {
		words = plan.OneLine(strings.Join(t.Tasks, ", "), 60) + ": "
	}
	if t.Tried == 0 {
		words += "no changed function was tried"
	} else {
		words += fmt.Sprintf("%d of %d changed functions are tested", t.Noticed, t.Tried)
	}
	if len(t.Not) > 0 {
		words += ": not " + someNames(t.Not)
	}
	if left := t.Functions - t.Tried; left > 0 {
		words += fmt.Sprintf("; %d not tried", left)
		if len(t.Untried) > 0 {
			words += ": " + someNames(t.Untried)
		}
	}
	return words
}

// someNames are the first of some functions, and how many more there are.
func someNames(all []string) string {
	var names []string
	for _, name := range all[:min(len(all), untestedNamed)] {
		names = append(names, plan.OneLine(name, 60))
	}
	words := strings.Join(names, ", ")
	if more := len(all) - untestedNamed; more > 0 {
		words += fmt.Sprintf(" and %d more", more)
	}
	return words
}

// Note is it as a note in the journal.
func (t Tested) Note() Note { return Note{Level: loop.Info, Text: t.String(), Tested: &t} }

// TestedWords are a line for each commit of which that is known.
func (m Memory) TestedWords() []string {
	var lines []string
	for _, t := range m.Tested {
		lines = append(lines, t.String())
	}
	return lines
}
