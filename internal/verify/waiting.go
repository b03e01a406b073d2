package verify

import (
	"context"
	"fmt"
	"slices"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/git"
)

// waitingFor returns the gate inputs that earlier tasks changed, that wait for approval
// and without whose change the gates do not pass on the tree of now. Tests are not among
// them: those of an earlier task fit its work, whoever comes later.
func (v *Verifier) waitingFor(ctx context.Context, r Request, o *gate.Observation) ([]string, error) {
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
	tree, err := v.asIn(ctx, r.Tree, r.ProtectedTree, files)
	if err != nil {
		return nil, err
	}
	results, err := v.elsewhere(ctx, r.Gates, runTarget{root: v.Root, logDir: r.LogDir, probe: gate.Originals, tree: tree})
	if ctx.Err() != nil {
		return nil, fmt.Errorf("verify claim: %w", ctx.Err())
	}
	if err == nil && o.PassesLikeNow(results) {
		return nil, nil
	}
	return files, nil // also where it could not be found out: the approval is wanted anyway
}

// leaveToEarlier judges a claim as it found the gate inputs where all that it needs was
// changed by earlier tasks: what it is worth waits for their approval.
func (v *Verifier) leaveToEarlier(ctx context.Context, r Request, f *Finding) error {
	if !f.Verdict.NeedsChangedInputs || len(f.Needed) == 0 {
		return nil
	}
	changed, err := v.Repo.Diff(ctx, r.Base, r.Tree)
	if err != nil {
		return err
	}
	for _, file := range f.Needed {
		here := slices.ContainsFunc(changed, func(ch git.Change) bool { return ch.Path == file })
		if here || !slices.Contains(f.Observation.ChangedNonTests, file) {
			return nil
		}
	}
	f.Verdict, f.Waiting, f.Needed, f.IfApproved = *f.IfApproved, f.Needed, nil, nil
	return nil
}
