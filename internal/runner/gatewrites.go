package runner

import (
	"context"
	"fmt"
	"slices"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/git"
)

// The tree of a claim must not change while the gates run. A gate that writes to a tracked
// file once, as a formatter does, is no problem. With one that does so in every run no claim
// can pass, so such a gate is reported before the first turn. So is one that deletes a tracked
// file: the first commit would delete it, as if the agent had.

// checkGateWrites restores tracked files that the gates deleted, and runs each gate again if they
// changed or deleted any. If one changes the same file again, it sets the result to unknown and
// restores the files.
func (r *Runner) checkGateWrites(ctx context.Context, g loop.Gates, m memory.ActionContext, dir string) (loop.Gates, error) {
	if r.Repo == nil || r.inSession || !m.BeforeFirstTurn {
		return g, nil
	}
	before := m.Start.InWorkTree()
	tree, changes, err := r.changedByGates(ctx, before, m)
	if err != nil || len(changes) == 0 {
		return g, err
	}
	first := git.Paths(changes)
	deleted := git.Paths(slices.DeleteFunc(changes, func(c git.Change) bool { return c.Status != 'D' }))
	if len(deleted) > 0 {
		if tree, err = r.restoreFrom(ctx, tree, before, deleted); err != nil {
			return g, err
		}
	}
	for _, due := range gate.Due(r.Spec.Gates, gate.Final) {
		if _, err := r.Verify.Rerun(ctx, tree, due, dir); err != nil {
			return g, fmt.Errorf("run gate %s once more: %w", due.Name, err)
		}
		now, changes, err := r.changedByGates(ctx, tree, m)
		if err != nil {
			return g, err
		}
		tree = now
		again := slices.DeleteFunc(git.Paths(changes), func(file string) bool { return !slices.Contains(first, file) })
		if len(again) == 0 {
			continue
		}
		g.Status, g.Green, g.ChangesTrackedFiles = gate.Unknown, false, true
		g.Reason = fmt.Sprintf("%s changes files that git tracks, in every run: %s", due.Name, plan.Few(again, 5))
		_, err = r.restoreFrom(ctx, tree, before, first)
		return g, err
	}
	return g, nil
}

// restoreFrom restores files of the work tree, which holds tree, as they are in another tree. It
// returns the new tree.
func (r *Runner) restoreFrom(ctx context.Context, tree, from string, files []string) (string, error) {
	original, err := r.Repo.Overlay(ctx, tree, from, files)
	if err == nil {
		_, err = r.restoreFiles(ctx, original, r.OwnFiles())
	}
	return original, err
}

// restorePaths restores files of the work tree as they are in another tree.
func (r *Runner) restorePaths(ctx context.Context, from string, files []string) error {
	now, _, err := r.Repo.Snapshot(ctx)
	if err == nil {
		_, err = r.restoreFrom(ctx, now, from, files)
	}
	return err
}

// changedByGates returns the tree as it is, and the changes of tracked files since one of before.
func (r *Runner) changedByGates(ctx context.Context, before string, m memory.ActionContext) (now string, changed []git.Change, err error) {
	if now, _, err = r.Repo.Resnapshot(ctx); err != nil {
		return "", nil, err
	}
	if now == before {
		return now, nil, nil
	}
	diff, err := r.Repo.Diff(ctx, before, now)
	if err != nil {
		return "", nil, fmt.Errorf("compare with the tree before the gates: %w", err)
	}
	others := append(r.OwnFiles(), m.ExcludedFiles()...)
	for _, c := range diff {
		if c.Status != 'A' && !slices.Contains(others, c.Path) {
			changed = append(changed, c)
		}
	}
	return now, changed, nil
}
