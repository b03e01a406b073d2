package launch

import (
	"cmp"
	"slices"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/record"
)

// Begun is the task that the last loop was at when it ended.
type Begun struct {
	Plan string    // path of its plan, "" for a goal in words
	Task loop.Task // without an id if it was at none
}

// begun reads at which task a loop ended. What it did of a task that it finished, or
// skipped, is no longer in the tree.
func begun(spec record.Spec, m record.Memory) Begun {
	t, ok := m.State.Task(m.State.Current)
	if !ok || t.Status != loop.Open {
		return Begun{Plan: spec.Plan}
	}
	return Begun{Plan: spec.Plan, Task: t}
}

// takeOver decides what becomes of files that the last loop left: they are half-done
// work of one task. A loop with that task goes on with it; another one leaves them
// alone, so that they get into no other task's commit.
func (p *Prepared) takeOver() {
	p.Spec.LeftWork = nil
	paths := p.leftPaths()
	if !p.Spec.OwnWorktree && !p.Settings.AllowDirty { // else they are the user's by their word
		paths = append(paths, p.Before.Tracked...)
		slices.Sort(paths)
	}
	if len(paths) == 0 || p.Spec.NoCommit {
		return
	}
	t, ok := p.sameTask(p.Before.Begun)
	if !ok {
		return
	}
	p.Spec.LeftWork = &record.LeftWork{Loop: p.Before.Loop, Task: t.ID, Title: cmp.Or(t.Title, t.ID), Paths: paths}
}

// sameTask finds the open task of this loop that another one was at, which can begin
// now. In a plan that was edited meanwhile it has perhaps another number.
func (p *Prepared) sameTask(b Begun) (loop.Task, bool) {
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
		if ready(t) && (t.Title == b.Task.Title || b.Plan == "") {
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

// leftPaths are the untracked files that the last loop left.
func (p *Prepared) leftPaths() []string {
	if p.Spec.OwnWorktree {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(p.Status.Untracked), func(path string) bool {
		return !slices.Contains(p.Before.Paths, path)
	})
}

// LeftAlone are the untracked files that the last loop left and that are no work of
// this one: it does not commit them.
func (p *Prepared) LeftAlone() []string {
	if p.Spec.LeftWork != nil || p.Spec.NoCommit {
		return nil
	}
	return p.leftPaths()
}
