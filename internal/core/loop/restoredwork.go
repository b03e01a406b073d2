package loop

import "slices"

// RestoredWork is undone work on a task that a user restored into the work tree. The task goes
// first, because the work would go into the next commit.
type RestoredWork struct {
	Task  string   `json:"task,omitempty"`  // "": none
	Paths []string `json:"paths,omitempty"` // its files
}

// RestoredWorks is the restored work on several tasks. A runner puts the work of all but the first
// one away until their tasks begin, so that no other task's commit holds it.
type RestoredWorks []RestoredWork

// Of returns the files of a task's restored work.
func (w RestoredWorks) Of(task string) []string {
	for _, restored := range w {
		if restored.Task == task {
			return restored.Paths
		}
	}
	return nil
}

// Without returns the restored work on other tasks.
func (w RestoredWorks) Without(task string) RestoredWorks {
	return exclude(w, func(r RestoredWork) bool { return r.Task == task })
}

// Paths returns the files of all restored work.
func (w RestoredWorks) Paths() []string {
	var paths []string
	for _, restored := range w {
		paths = append(paths, restored.Paths...)
	}
	return paths
}

// PutAwayWork is restored work on a task that is removed from the tree until the task starts.
type PutAwayWork struct {
	Task string `json:"task"`
	SavedWork
}

// Restored returns all restored work that is in the tree.
func (p CheckpointRestored) Restored() RestoredWorks {
	if p.Work.Task == "" {
		return p.Kept
	}
	return append(slices.Clone(p.Kept), p.Work)
}

// RestoredTasks returns the tasks whose undone work the user restored, in the plan's order.
func (s State) RestoredTasks() []Task {
	return exclude(s.Tasks, func(t Task) bool {
		return !slices.ContainsFunc(s.Restored, func(r RestoredWork) bool { return r.Task == t.ID })
	})
}

// putAway removes the restored work on other tasks from the tree.
func (m *machine) putAway(c Checkpointed) {
	for _, work := range c.PutAway {
		m.updateTask(work.Task, func(t *Task) { t.SavedWork = &work.SavedWork })
		m.s.Restored = m.s.Restored.Without(work.Task)
	}
	tree := c.UnfinishedTree
	if tree == "" {
		tree = m.s.Start.InWorkTree()
	}
	m.await(Restoring, Restore{Task: m.s.Current, Tree: tree, Why: "the restored work of other tasks waits for them"})
}

// PutsOthersAway reports whether the restored work on other tasks is being removed from the tree.
func (s State) PutsOthersAway() bool { return s.Phase == Restoring && s.After == ThenBaseline }
