package verify

import (
	"context"
	"fmt"
	"slices"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/git"
)

// pendingNeeded returns the pending gate inputs of earlier tasks that the gates need on the current
// tree. It omits tests: an earlier task's tests fit its work.
func (v *Verifier) pendingNeeded(ctx context.Context, r Request, o *gate.Observation) ([]string, error) {
	changed, err := v.Repo.Diff(ctx, r.ProtectedTree, r.Tree)
	if err != nil {
		return nil, err
	}
	mayNotChange := mayNotChange(r)
	var files []string
	for _, ch := range changed {
		if slices.Contains(r.Pending, ch.Path) && !v.isTest(ch.Path) && mayNotChange(ch.Path) {
			files = append(files, ch.Path)
		}
	}
	if len(files) == 0 {
		return nil, nil
	}
	tree, err := v.withFilesOf(ctx, r.Tree, r.ProtectedTree, files)
	if err != nil {
		return nil, err
	}
	results, err := v.runInCheckout(ctx, r.Gates, runTarget{root: v.Root, logDir: r.LogDir, probe: gate.Originals, tree: tree})
	if ctx.Err() != nil {
		return nil, fmt.Errorf("verify claim: %w", ctx.Err())
	}
	if err == nil && o.PassesLikeNow(results) {
		return nil, nil
	}
	return files, nil // also where it could not be found out: the approval is wanted anyway
}

// deferToPending accepts the gate inputs as the task found them if it needs only earlier tasks'
// changes. Its evidence then waits for their approval.
func (v *Verifier) deferToPending(ctx context.Context, r Request, f *Finding) error {
	if !f.Verdict.NeedsChangedInputs || len(f.NeededInputs) == 0 {
		return nil
	}
	changed, err := v.Repo.Diff(ctx, r.Base, r.Tree)
	if err != nil {
		return err
	}
	for _, file := range f.NeededInputs {
		here := slices.ContainsFunc(changed, func(ch git.Change) bool { return ch.Path == file })
		if here || !slices.Contains(f.Observation.ChangedNonTests, file) {
			return nil
		}
	}
	f.Verdict, f.PendingInputs, f.NeededInputs, f.IfApproved = *f.IfApproved, f.NeededInputs, nil, nil
	return nil
}
