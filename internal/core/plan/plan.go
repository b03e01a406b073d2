// Package plan holds what a plan says, free of any file format: tasks in the
// order of the file, each with a done mark, and the choice of the next one.
//
// Bytes become a Plan in internal/planfile, which also ticks: a plan is the
// user's own file, so nothing here ever prints one. Ids and titles come from
// that file and are hostile text; they are compared here, never interpreted.
package plan

import "slices"

// Plan is one file of tasks.
type Plan struct {
	Format   string   `json:"format"`             // codec that read it: checklist, ralphex, prd, prdjson, featurelist
	Title    string   `json:"title,omitempty"`    // "" if the file has none
	Overview string   `json:"overview,omitempty"` // prose that belongs to no task, for the prompt
	Gates    []string `json:"gates,omitempty"`    // validation commands the plan itself names; run only after trust
	Tasks    []Task   `json:"tasks"`              // in the order of the file
}

// Task is one unit of work with a done mark.
type Task struct {
	ID        string   `json:"id"`                   // unique within the plan; made from the position where the file gives none
	Title     string   `json:"title"`                // one line
	Detail    string   `json:"detail,omitempty"`     // description, detail block: for the prompt, as written
	Criteria  []string `json:"criteria,omitempty"`   // acceptance criteria, steps, sub-items
	Context   []string `json:"context,omitempty"`    // what the sections and items that it is part of say, from the outermost
	Done      bool     `json:"done"`                 // the mark in the file
	Optional  bool     `json:"optional,omitempty"`   // worked on after all others
	Priority  int      `json:"priority,omitempty"`   // lower is sooner; 0 = none given, after all that have one
	DependsOn []string `json:"depends_on,omitempty"` // ids
	Evidence  string   `json:"evidence,omitempty"`   // evidence wanted for this task alone; "" = the loop's
	Scope     []string `json:"scope,omitempty"`      // globs of the files that it may change, from the root; none: any
	// AllowTestChanges: the plan says that this task may change existing tests.
	AllowTestChanges bool `json:"allow_test_changes,omitempty"`
	Line             int  `json:"line"` // 1-based line of the mark
}

// SameButMark reports whether two tasks differ at most in their marks and lines.
func (t Task) SameButMark(other Task) bool {
	return t.ID == other.ID && t.AsksForSame(other) && slices.Equal(t.Context, other.Context) &&
		t.Optional == other.Optional && t.Priority == other.Priority && slices.Equal(t.DependsOn, other.DependsOn) &&
		t.Evidence == other.Evidence && slices.Equal(t.Scope, other.Scope) && t.AllowTestChanges == other.AllowTestChanges
}

// AsksForSame reports whether two tasks ask for the same.
func (t Task) AsksForSame(other Task) bool {
	return t.Title == other.Title && t.Detail == other.Detail && slices.Equal(t.Criteria, other.Criteria)
}
