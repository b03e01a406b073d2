// Package plan defines plans independently of file formats: tasks in the order of the file, each with
// a done mark. It also chooses the next task.
//
// Package planfile reads and ticks plan files. Ids and titles come from such files and are hostile
// text; this package only compares them.
package plan

import "slices"

// Plan is one file of tasks.
type Plan struct {
	Format   string   `json:"format"`             // codec that read it: checklist, ralphex, prd, prdjson, featurelist
	Title    string   `json:"title,omitempty"`    // "" if the file has none
	Overview string   `json:"overview,omitempty"` // prose that belongs to no task, for the prompt
	Gates    []string `json:"gates,omitempty"`    // validation commands in the plan; need the user's trust
	Tasks    []Task   `json:"tasks"`              // in the order of the file
}

// Task is one unit of work with a done mark.
type Task struct {
	ID        string   `json:"id"`                   // unique in the plan; the position if the file has none
	Title     string   `json:"title"`                // one line
	Detail    string   `json:"detail,omitempty"`     // description, as written
	Criteria  []string `json:"criteria,omitempty"`   // acceptance criteria, steps, sub-items
	Context   []string `json:"context,omitempty"`    // text of the sections and items around it, outermost first
	Done      bool     `json:"done"`                 // the mark in the file
	Optional  bool     `json:"optional,omitempty"`   // worked on after all others
	Priority  int      `json:"priority,omitempty"`   // lower comes first; 0 = none, comes last
	DependsOn []string `json:"depends_on,omitempty"` // ids
	Evidence  string   `json:"evidence,omitempty"`   // evidence that this task needs; "" = the loop's default
	Scope     []string `json:"scope,omitempty"`      // globs of the files that it may change, relative to the root; none = any
	// AllowTestChanges means that the task may change existing tests.
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
