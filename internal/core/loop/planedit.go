package loop

import (
	"fmt"
	"slices"
)

// asideMost bounds the edits of the plan that the state names.
const asideMost = 20

// added takes tasks into the loop that were added to the plan while it runs.
func (m *machine) added(tasks []Task) {
	for _, t := range tasks {
		if _, known := m.s.Task(t.ID); known {
			continue
		}
		m.s.Tasks = append(m.s.Tasks, t)
		m.notify(Info, fmt.Sprintf("task %s (%s) was added to the plan: it is part of the loop now", t.ID, t.Title))
	}
}

// somethingOpen reports whether one of these tasks is open, so that the loop is not
// at its end.
func (m *machine) somethingOpen(tasks []Task) bool {
	return slices.ContainsFunc(tasks, func(a Task) bool {
		t, _ := m.s.Task(a.ID)
		return t.Status == Open
	})
}

// keptAside remembers where an edit of the plan is kept that was not applied.
func (m *machine) keptAside(file string) {
	if file != "" && !slices.Contains(m.s.Aside, file) {
		m.s.Aside = lastOf(append(slices.Clip(m.s.Aside), file), asideMost)
	}
}
