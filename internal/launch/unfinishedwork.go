package launch

import (
	"cmp"
	"slices"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/record"
)

// LastTask is the task that the last loop was working on when it ended.
type LastTask struct {
	Plan string    // path of its plan; "" for a goal in words
	Task loop.Task // without an id if there was none
	// Restored are the files of its work if the user restored that; others are not its.
	Restored []string
}

// lastTask returns the task of a loop that ended. Work on tasks that it finished or
// skipped is no longer in the tree, unless the user restored it.
func lastTask(spec record.Request, m memory.Memory) LastTask {
	if restored := m.State.RestoredTasks(); len(restored) > 0 {
		return LastTask{Plan: spec.Plan, Task: restored[0], Restored: m.State.Restored.Of(restored[0].ID)}
	}
	t, ok := m.State.Task(m.State.Current)
	if !ok || t.Status != loop.Open {
		return LastTask{Plan: spec.Plan}
	}
	return LastTask{Plan: spec.Plan, Task: t}
}

// adoptUnfinishedWork decides about files that the last loop left, which are unfinished work on
// one task. A loop with that task continues with them. Other loops leave them alone, so
// that they get into no other task's commit.
func (p *Prepared) adoptUnfinishedWork() {
	p.Spec.UnfinishedWork = nil
	paths := p.leftovers()
	if !p.Spec.UsesWorktree && !p.Settings.AllowDirty { // with --allow-dirty they count as the user's
		paths = append(paths, p.Conflicts.UnchangedTracked...)
		slices.Sort(paths)
	}
	if restored := p.Conflicts.LastTask.Restored; restored != nil {
		paths = slices.DeleteFunc(paths, func(path string) bool { return !slices.Contains(restored, path) })
	}
	if len(paths) == 0 || p.Spec.NoCommit {
		return
	}
	t, ok := p.findTask(p.Conflicts.LastTask)
	if !ok {
		return
	}
	p.Spec.UnfinishedWork = &record.UnfinishedWork{Loop: p.Conflicts.Loop, Task: t.ID, Title: cmp.Or(t.Title, t.ID), Paths: paths}
}

// findTask returns the open task of this loop that an earlier loop was working on, if it
// can begin now. Its id may have changed if the plan was edited.
func (p *Prepared) findTask(b LastTask) (loop.Task, bool) {
	if b.Task.ID == "" || b.Plan != p.Spec.Plan {
		return loop.Task{}, false
	}
	ready := func(t loop.Task) bool {
		return t.Status == loop.Open && !slices.ContainsFunc(p.Spec.Tasks, func(d loop.Task) bool {
			return d.Status != loop.Done && slices.Contains(t.DependsOn, d.ID)
		})
	}
	var found []loop.Task
	for _, t := range p.Spec.Tasks {
		if ready(t) && t.Title == b.Task.Title {
			found = append(found, t)
		}
	}
	if i := slices.IndexFunc(found, func(t loop.Task) bool { return t.ID == b.Task.ID }); i >= 0 {
		return found[i], true
	}
	if len(found) == 1 {
		return found[0], true
	}
	return loop.Task{}, false
}

// leftovers returns the untracked files that the last loop left.
func (p *Prepared) leftovers() []string {
	if p.Spec.UsesWorktree {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(p.Status.Untracked), func(path string) bool {
		return !slices.Contains(p.Conflicts.Paths, path)
	})
}

// IgnoredLeftovers returns the untracked files that the last loop left and that this loop
// neither continues with nor commits.
func (p *Prepared) IgnoredLeftovers() []string {
	if p.Spec.UnfinishedWork != nil || p.Spec.NoCommit {
		return nil
	}
	return p.leftovers()
}
