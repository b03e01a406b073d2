package planfile

import "github.com/pawl-dev/pawl/internal/core/plan"

// Shown is a plan as `pawl plan show --json` prints it.
type Shown struct {
	Format string      `json:"format"`
	Tasks  []ShownTask `json:"tasks"`
}

// ShownTask is a task as `pawl plan show --json` and `pawl plan next --json` print it.
type ShownTask struct {
	ID        string   `json:"id"`
	Title     string   `json:"title"`
	Done      bool     `json:"done"`
	Optional  bool     `json:"optional,omitempty"`
	DependsOn []string `json:"depends_on"` // never null
	Line      int      `json:"line"`       // 1-based
}

// Show returns a plan in its printed form.
func Show(p plan.Plan) Shown {
	s := Shown{Format: p.Format, Tasks: []ShownTask{}}
	for _, t := range p.Tasks {
		s.Tasks = append(s.Tasks, ShowTask(t))
	}
	return s
}

// ShowTask returns a task in its printed form.
func ShowTask(t plan.Task) ShownTask {
	return ShownTask{ID: t.ID, Title: t.Title, Done: t.Done, Optional: t.Optional, DependsOn: append([]string{}, t.DependsOn...), Line: t.Line}
}
