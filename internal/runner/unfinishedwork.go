package runner

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
)

// Unfinished work on a task may be in the tree when the task starts: of an earlier loop, or
// because the user restored what was undone. It counts as work for its task: the task's start
// tree does not have it, the baseline is measured without it, and then it is restored for the
// first turn.

// taskStart returns the event with the task's start tree, for a checkpoint of the current tree. The start tree has the committed version of files that the user edited, so that a
// later change by the agent shows up completely.
func (r *Runner) taskStart(ctx context.Context, a loop.Checkpoint, m memory.ActionContext, tree string) (e loop.Checkpointed, err error) {
	if tree, e.PutAway, err = r.putAway(ctx, a.Task, m, tree); err != nil {
		return e, err
	}
	e.Tree = tree
	left := m.Restored.Of(a.Task)
	if w := r.Spec.UnfinishedWork; len(left) == 0 && w != nil && w.Task == a.Task && m.Start.Tree == "" {
		left = w.Paths
	}
	if len(left) > 0 && !r.isUserTree() { // in a user's tree it stays in place
		start, err := r.Repo.Overlay(ctx, tree, m.Base.Commit, left)
		if err != nil {
			return e, fmt.Errorf("leave out what was begun before: %w", err)
		}
		if start != tree {
			e.Tree, e.UnfinishedTree = start, tree
		}
	}
	start, err := r.withoutEdits(ctx, e.Tree, m.Base.Commit, m.UserEdits())
	if err == nil && start != e.Tree {
		e.Tree, e.WithEdits = start, e.Tree
	}
	return e, err
}

// putAway returns the tree without the work on other tasks that the user restored, and that work.
// Files that the current task's work has too stay.
func (r *Runner) putAway(ctx context.Context, task string, m memory.ActionContext, tree string) (string, []loop.PutAwayWork, error) {
	if r.isUserTree() {
		return tree, nil, nil
	}
	var all []loop.PutAwayWork
	for _, work := range m.Restored {
		t, _ := m.Tasks.Task(work.Task)
		if work.Task == task || t.Status != loop.Open {
			continue
		}
		paths := slices.DeleteFunc(slices.Clone(work.Paths), func(path string) bool { return slices.Contains(m.Restored.Of(task), path) })
		without, err := r.Repo.Overlay(ctx, tree, m.Base.Commit, paths)
		if err != nil {
			return "", nil, fmt.Errorf("put the work on task %s away: %w", work.Task, err)
		}
		if without != tree {
			all = append(all, loop.PutAwayWork{Task: work.Task, SavedWork: loop.SavedWork{Base: without, Work: tree, RestoredPaths: paths}})
			tree = without
		}
	}
	return tree, all, nil
}

// baseline runs the gates on the tree that a task starts from. Unfinished work, which the
// tree UnfinishedTree has, is removed from the work tree meanwhile.
func (r *Runner) baseline(ctx context.Context, a loop.RunGates, m memory.ActionContext, dir string) (g loop.Gates, err error) {
	if a.UnfinishedTree == "" {
		return r.runAllGates(ctx, m.Start.InWorkTree(), dir, a.Again)
	}
	if err := r.placeUnfinished(ctx, m.Start.Tree, m); err != nil {
		return loop.Gates{}, fmt.Errorf("put unfinished work away: %w", err)
	}
	g, err = r.runAllGates(ctx, m.Start.InWorkTree(), dir, a.Again)
	back, cancel := context.WithTimeout(context.WithoutCancel(ctx), restoreTimeout)
	defer cancel()
	if failed := r.placeUnfinished(back, a.UnfinishedTree, m); failed != nil {
		return loop.Gates{}, fmt.Errorf("bring back what was begun before: %w", failed)
	}
	return g, err
}

// restoreTimeout bounds the restore of unfinished work, since a user who ends the loop waits
// for it.
const restoreTimeout = time.Minute

// placeUnfinished sets the files of the unfinished work to their versions in a tree. Other
// files do not change.
func (r *Runner) placeUnfinished(ctx context.Context, from string, m memory.ActionContext) error {
	paths := m.Start.UnfinishedPaths
	if len(paths) == 0 && r.Spec.UnfinishedWork != nil {
		paths = r.Spec.UnfinishedWork.Paths
	}
	return r.restorePaths(ctx, from, paths)
}

// restoreUnfinished restores the unfinished work at the end of a loop whose owner was killed
// during the baseline.
func (r *Runner) restoreUnfinished(ctx context.Context, m memory.ActionContext) error {
	if m.Start.UnfinishedTree == "" {
		return nil
	}
	return r.placeUnfinished(ctx, m.Start.UnfinishedTree, m)
}
