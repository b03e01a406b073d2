package runner

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/core/plan"
)

// The tree of a claim must not change while the gates run. A gate that writes to a tracked
// file once, as a formatter does, is no problem. With one that does so in every run no claim
// can pass, so such a gate is reported before the first turn.

// checkGateWrites runs each gate again if the gates changed tracked files. If one changes the
// same file again, it sets the result to unknown and restores the files.
func (r *Runner) checkGateWrites(ctx context.Context, g loop.Gates, m memory.ActionContext, dir string) (loop.Gates, error) {
	if r.Repo == nil || r.attended() || !m.BeforeFirstTurn {
		return g, nil
	}
	tree, first, err := r.changedByGates(ctx, cmp.Or(m.WithEdits, m.StartTree), m)
	if err != nil || len(first) == 0 {
		return g, err
	}
	for _, due := range gate.Due(r.Spec.Gates, gate.Final) {
		if _, err := r.Verify.Baseline(ctx, tree, []gate.Gate{due}, dir); err != nil {
			return g, fmt.Errorf("run gate %s once more: %w", due.Name, err)
		}
		now, again, err := r.changedByGates(ctx, tree, m)
		if err != nil {
			return g, err
		}
		tree = now
		again = slices.DeleteFunc(again, func(file string) bool { return !slices.Contains(first, file) })
		if len(again) == 0 {
			continue
		}
		g.Status, g.Green, g.ChangesTrackedFiles = gate.Unknown, false, true
		g.Reason = fmt.Sprintf("%s changes files that git tracks, in every run: %s", due.Name, plan.Few(again, 5))
		original, err := r.Repo.Overlay(ctx, tree, cmp.Or(m.WithEdits, m.StartTree), first)
		if err == nil {
			_, err = r.restoreFiles(ctx, original, r.OwnFiles())
		}
		return g, err
	}
	return g, nil
}

// changedByGates returns the tree as it is, and the tracked files that differ from one of
// before.
func (r *Runner) changedByGates(ctx context.Context, before string, m memory.ActionContext) (now string, changed []string, err error) {
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
			changed = append(changed, c.Path)
		}
	}
	return now, changed, nil
}
