package verify

import (
	"context"
	"slices"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/git"
)

// maxBisections bounds the runs for the smallest set of changes.
const maxBisections = 6

// findNeededInputs bisects the changed gate inputs: it keeps the half whose changes suffice. If
// neither half does, all that is left is needed.
func (c *claim) findNeededInputs(ctx context.Context) ([]string, error) {
	if c.seen.OnlyTestsRemoved() {
		return c.seen.Inputs.RemovedTests, nil
	}
	if c.seen.RewrittenFail() {
		return c.seen.Inputs.RewrittenTests, nil
	}
	tree, err := c.originals(ctx)
	if err != nil {
		return nil, err
	}
	left := c.seen.Inputs.Changed
	for runs := 0; len(left) > 1 && runs < maxBisections; {
		half, found := len(left)/2, false
		for _, part := range [][]string{left[:half], left[half:]} {
			runs++
			with, err := c.Repo.Overlay(ctx, tree, c.Tree, part)
			if err == nil {
				found, err = c.passesWithInputs(ctx, with)
			}
			if err != nil {
				return nil, err
			}
			if found {
				left = part
				break
			}
		}
		if !found {
			break
		}
	}
	return left, nil
}

// passesWithInputs reports whether all gates pass, as they do now, on a tree with other gate inputs.
func (c *claim) passesWithInputs(ctx context.Context, tree string) (bool, error) {
	results, err := c.runInCheckout(ctx, c.Gates, runTarget{root: c.Root, logDir: c.LogDir, probe: gate.Originals, tree: tree})
	return err == nil && c.seen.PassesLikeNow(results), err
}

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
	// Where it cannot be found out, the approval is wanted anyway.
	if passes, _ := c.passesWithInputs(ctx, tree); passes {
		return nil, ctx.Err()
	}
	return files, ctx.Err()
}

// deferToPending accepts the gate inputs as the task found them if it needs only earlier tasks'
// changes. Its evidence then waits for their approval.
func (c *claim) deferToPending(f *Finding) {
	needsApproval := func(file string) bool {
		return slices.ContainsFunc(c.changes, func(ch git.Change) bool { return ch.Path == file }) || !slices.Contains(c.seen.Inputs.NonTests, file)
	}
	if f.Verdict.NeedsChangedInputs && len(f.NeededInputs) > 0 && !slices.ContainsFunc(f.NeededInputs, needsApproval) {
		f.Verdict, f.PendingInputs, f.NeededInputs, f.IfApproved = *f.IfApproved, f.NeededInputs, nil, nil
	}
}
