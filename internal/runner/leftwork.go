package runner

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
)

// An earlier loop's half-done work lies in the tree when this loop begins. It counts
// as work for its task: the task starts from the tree without it, its baseline is
// measured there, and the first turn finds it where it was.

// taskStart is the tree that a task starts from, which a checkpoint of the tree as it is
// has just been made of. It holds of what the user has edited what is committed: should the
// agent change such a file later, the whole change is seen.
func (r *Runner) taskStart(ctx context.Context, a loop.Action, m memory.ActionContext, tree string) (loop.Event, error) {
	e := loop.Event{Kind: loop.Checkpointed, Tree: tree}
	if left := r.Spec.UnfinishedWork; left != nil && left.Task == a.Task && m.StartTree == "" && !r.isUserTree() { // it stays in place in a tree of theirs
		start, err := r.Repo.Overlay(ctx, tree, m.Base.Commit, left.Paths)
		if err != nil {
			return loop.Event{}, fmt.Errorf("leave out what was begun before: %w", err)
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

// baseline runs the gates on the tree that a task starts from. Work that was half-done
// then, held by the tree halfDone, is laid aside meanwhile.
func (r *Runner) baseline(ctx context.Context, halfDone string, m memory.ActionContext, dir string) (g loop.Gates, err error) {
	if halfDone == "" {
		return r.runAllGates(ctx, cmp.Or(m.WithEdits, m.StartTree), dir)
	}
	if err := r.placeUnfinished(ctx, m.StartTree); err != nil {
		return loop.Gates{}, fmt.Errorf("lay aside what was begun before: %w", err)
	}
	g, err = r.runAllGates(ctx, cmp.Or(m.WithEdits, m.StartTree), dir)
	back, cancel := context.WithTimeout(context.WithoutCancel(ctx), restoreTimeout)
	defer cancel()
	if failed := r.placeUnfinished(back, halfDone); failed != nil {
		return loop.Gates{}, fmt.Errorf("bring back what was begun before: %w", failed)
	}
	return g, err
}

// restoreTimeout bounds bringing back what was laid aside, which a user who ends the
// loop waits for.
const restoreTimeout = time.Minute

// placeUnfinished makes the files of what was begun before as they are in a tree; all others
// stay.
func (r *Runner) placeUnfinished(ctx context.Context, from string) error {
	now, _, err := r.Repo.Snapshot(ctx)
	if err != nil {
		return err
	}
	tree, err := r.Repo.Overlay(ctx, now, from, r.Spec.UnfinishedWork.Paths)
	if err != nil {
		return err
	}
	_, err = r.restoreFiles(ctx, tree, r.OwnFiles())
	return err
}

// restoreUnfinished does so at the end of a loop whose owner was killed in between.
func (r *Runner) restoreUnfinished(ctx context.Context, m memory.ActionContext) error {
	if r.Spec.UnfinishedWork == nil || m.UnfinishedTree == "" || !m.BeforeFirstTurn {
		return nil
	}
	return r.placeUnfinished(ctx, m.UnfinishedTree)
}
