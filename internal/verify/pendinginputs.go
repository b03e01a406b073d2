package verify

import (
	"context"
	"slices"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/git"
)

// pendingNeeded returns the pending gate inputs of earlier tasks that the gates need on the current
// tree. It omits tests: an earlier task's tests fit its work.
func (c *claim) pendingNeeded(ctx context.Context) ([]string, error) {
	var files []string
	for _, ch := range c.sinceProtected {
		if slices.Contains(c.Pending, ch.Path) && !c.isTest(ch.Path) && c.mayNotChange(ch.Path) {
			files = append(files, ch.Path)
		}
	}
	if len(files) == 0 {
		return nil, nil
	}
	tree, err := c.withFilesOf(ctx, c.Tree, c.ProtectedTree, files)
	if err != nil {
		return nil, err
	}
	results, err := c.runInCheckout(ctx, c.Gates, runTarget{root: c.Root, logDir: c.LogDir, probe: gate.Originals, tree: tree})
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err == nil && c.o.PassesLikeNow(results) {
		return nil, nil
	}
	return files, nil // also where it could not be found out: the approval is wanted anyway
}

// deferToPending accepts the gate inputs as the task found them if it needs only earlier tasks'
// changes. Its evidence then waits for their approval.
func (c *claim) deferToPending(f *Finding) {
	needsApproval := func(file string) bool {
		return slices.ContainsFunc(c.changes, func(ch git.Change) bool { return ch.Path == file }) || !slices.Contains(c.o.ChangedNonTests, file)
	}
	if f.Verdict.NeedsChangedInputs && len(f.NeededInputs) > 0 && !slices.ContainsFunc(f.NeededInputs, needsApproval) {
		f.Verdict, f.PendingInputs, f.NeededInputs, f.IfApproved = *f.IfApproved, f.NeededInputs, nil, nil
	}
}
