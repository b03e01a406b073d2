package verify

import (
	"context"
	"fmt"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/git"
)

// ChangesTracked runs a gate on a tree, also if its result is cached, and returns the files of the tree
// that it changes or deletes. It runs in a checkout, since in the work tree the user may change them
// meanwhile. known is false if it can only run there.
func (v *Verifier) ChangesTracked(ctx context.Context, tree string, g gate.Gate, logDir string) (files []string, known bool, err error) {
	w := runTarget{checkout: checkoutPlace, tree: tree, logDir: logDir, uncached: true}
	if w.root, err = v.Checkout.CheckOut(ctx, tree); err != nil && ctx.Err() != nil {
		return nil, false, err
	}
	if err == nil && !g.InWorkTree {
		r, err := v.run(ctx, g, w)
		if err != nil {
			return nil, false, err
		}
		if r.Status != gate.Unknown {
			files, err = v.Checkout.ChangedFiles(ctx)
			return files, true, err
		}
	}
	before, _, err := v.Repo.Snapshot(ctx)
	if err != nil {
		return nil, false, fmt.Errorf("find what gate %s changes: %w", g.Name, err)
	}
	if _, err := v.run(ctx, g, runTarget{root: v.Root, tree: before, logDir: logDir, uncached: true}); err != nil {
		return nil, false, err
	}
	now, _, err := v.Repo.Resnapshot(ctx)
	if err != nil {
		return nil, false, fmt.Errorf("find what gate %s changes: %w", g.Name, err)
	}
	changes, err := v.Repo.Diff(ctx, before, now)
	return git.Paths(changes), false, err
}
