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
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/verify"
)

// updateProtected stores the files that the guard protects from the next turn on. Files that
// a user has approved are not among them.
func (r *Runner) updateProtected() error {
	if r.Protected == nil || len(r.mem.State.Approved)+len(r.mem.State.Rejected) == 0 {
		return nil
	}
	return record.SaveProtected(r.Loop, slices.DeleteFunc(r.Protected.WorkTreeFiles(), r.mem.State.MayChangeInput))
}

// changedDuringGates returns protected files that the agent changed while the gates ran: a
// background process may change one after the inspection and before a gate reads it. Changes
// by the user are left to the next inspection.
func (r *Runner) changedDuringGates(ctx context.Context, m memory.ActionContext) ([]string, error) {
	changed, err := r.Protected.Changes(ctx)
	if err != nil {
		return nil, fmt.Errorf("compare protected files: %w", err)
	}
	return slices.DeleteFunc(changed, func(path string) bool { return m.MayChangeInput(path) || !r.isByAgent(path, m) }), nil
}

// discardIfTampered discards the results of gates on the final tree if a protected file was
// changed while they ran.
func (r *Runner) discardIfTampered(ctx context.Context, g loop.Gates, m memory.ActionContext) (loop.Gates, error) {
	changed, err := r.changedDuringGates(ctx, m)
	if err != nil || len(changed) == 0 {
		return g, err
	}
	r.enqueue(ctx, func(ctx context.Context) error { return r.restoreProtected(ctx, changed) })
	g.Status, g.Green, g.Reason = gate.Unknown, false, "protected files changed while the gates ran: "+plan.Few(changed, 5)
	return g, nil
}

// rejectedChanges returns the tests whose changes the user rejected and that the agent has not
// restored.
func (r *Runner) rejectedChanges(ctx context.Context, m memory.ActionContext) ([]string, error) {
	if len(m.Rejected) == 0 {
		return nil, nil
	}
	now, _, err := r.Repo.Snapshot(ctx)
	if err != nil {
		return nil, fmt.Errorf("take a snapshot of the work tree: %w", err)
	}
	diff, err := r.Repo.Diff(ctx, protectedTree(m), now)
	if err != nil {
		return nil, fmt.Errorf("compare the tests with their protected copies: %w", err)
	}
	deferred, err := r.committedChanges(ctx, m.Tasks.ToRestore(), now, m)
	if err != nil {
		return nil, err
	}
	var paths []string
	for _, c := range diff {
		if slices.Contains(deferred, c.Path) {
			continue
		}
		if (m.RejectsByName(c.Path) || c.Status != 'A' && r.isRejected(c.Path, m)) && r.isByAgent(c.Path, m) {
			paths = append(paths, c.Path)
		}
	}
	return paths, nil
}

// committedChanges returns those of the files that are as an earlier task committed them. They
// are restored when that task continues, and do not count against the current task.
func (r *Runner) committedChanges(ctx context.Context, paths []string, now string, m memory.ActionContext) ([]string, error) {
	if len(paths) == 0 {
		return nil, nil
	}
	diff, err := r.Repo.Diff(ctx, m.Start.Tree, now)
	if err != nil {
		return nil, fmt.Errorf("compare the tests with the task's start: %w", err)
	}
	return slices.DeleteFunc(slices.Clone(paths), func(path string) bool {
		return slices.ContainsFunc(diff, func(c git.Change) bool { return c.Path == path })
	}), nil
}

// isRejected reports whether the user rejected changes of a file by name, or of all tests.
func (r *Runner) isRejected(path string, m memory.ActionContext) bool {
	return m.RejectsByName(path) || m.Rejects(path) && verify.IsTest(r.Spec.Tests, path)
}

// protectedTree returns the tree with the tests that the gates use.
func protectedTree(m memory.ActionContext) string { return cmp.Or(m.TestsTree, m.Start.Tree) }

// restoreTests restores rejected tests to their protected versions.
func (r *Runner) restoreTests(ctx context.Context, paths []string, m memory.ActionContext) error {
	if len(paths) == 0 {
		return nil
	}
	if err := r.restorePaths(ctx, cmp.Or(m.OriginalsTree, protectedTree(m)), paths); err != nil {
		return fmt.Errorf("put tests back: %w", err)
	}
	return nil
}

// addTestChanges adds a claim's changes of existing tests to the result of the gates: the
// evidence if they are approved, and the tree with the tests that later gates use.
func (r *Runner) addTestChanges(ctx context.Context, a loop.RunGates, g *loop.Gates, f verify.Finding, m memory.ActionContext) error {
	if g.Status != gate.Pass {
		return nil
	}
	if old := f.Observation.Inputs.Changed; len(old)+len(m.AwaitingApproval) > 0 {
		if err := r.describeTestChanges(ctx, g, f, m); err != nil {
			return err
		}
	}
	if f.Observation.Inputs.Requested && !slices.ContainsFunc(f.Observation.Inputs.Changed, m.IsClaimUserEdit) {
		return r.keepRequestedTests(ctx, g, f)
	}
	allowed := f.Observation.Inputs.Allowed && !slices.ContainsFunc(f.Observation.Inputs.Changed, m.IsClaimUserEdit) // the user's edits are allowed, and in no commit
	if allowed || r.spec().MayChangeTests(a.Claimed) || len(g.TestsChanged) > 0 && !g.TestsRemoved {
		return nil
	}
	return r.keepProtectedTests(ctx, g, f, m)
}

// describeTestChanges adds a claim's changes of existing tests, and the evidence if they are
// approved. The user's edits are allowed and in no commit, and what the user committed since the task
// began is their commit's: both are no changes of the claim.
func (r *Runner) describeTestChanges(ctx context.Context, g *loop.Gates, f verify.Finding, m memory.ActionContext) error {
	old := f.Observation.Inputs.Changed
	had, err := r.Repo.Entries(ctx, m.Start.Tree, old...)
	if err != nil {
		return fmt.Errorf("look for the old tests: %w", err)
	}
	there, err := r.Repo.Entries(ctx, f.TreeAfter, old...)
	if err != nil {
		return fmt.Errorf("look for the old tests: %w", err)
	}
	committed := map[string]git.Entry{}
	if m.Base.TaskStart != "" {
		if committed, err = r.Repo.Entries(ctx, m.Base.Commit, old...); err != nil {
			return fmt.Errorf("look for what you committed: %w", err)
		}
	}
	g.ChangedTests = slices.DeleteFunc(slices.Clone(f.Changes), func(c loop.TestChange) bool {
		was, known := had[c.Path]
		_, stands := there[c.Path]
		isEarlier := known && there[c.Path] == was || !known && !stands && c.Kind == loop.FileDeleted || slices.Contains(f.EarlierChanges, c) // named with that task
		byCommit := m.Base.TaskStart != "" && there[c.Path] == committed[c.Path]
		isUsers := byCommit || m.IsClaimUserEdit(c.Path) || !g.OriginalsUnknown && slices.Contains(r.Spec.Untracked, c.Path)
		return !slices.Contains(g.TestsChanged, c.Path) && (isUsers || isEarlier && !g.OriginalsUnknown)
	})
	for _, path := range g.TestsChanged { // a value outside of its tests may have changed
		if there[path] != had[path] && !slices.ContainsFunc(g.ChangedTests, func(c loop.TestChange) bool { return c.Path == path }) {
			g.ChangedTests = append(g.ChangedTests, loop.TestChange{Path: path, Kind: "changed"})
		}
	}
	for i := range g.ChangedTests {
		g.ChangedTests[i].Path = plan.Visible(g.ChangedTests[i].Path) // JSON would make another name of it
	}
	if v := f.IfApproved; v != nil && v.Status == gate.Pass {
		waits := old
		if len(f.NeededInputs) > 0 {
			waits = f.NeededInputs
		}
		g.IfApproved = &loop.IfApproved{
			Paths: waits, Evidence: v.Evidence, Reason: truncate(v.Reason, maxReasonBytes),
			Flipped: firstN(slices.Concat(v.Flipped, v.Proving), maxFailing),
		}
	}
	return nil
}

// keepProtectedTests sets the tree with the tests that later gates use. Deleted or weakened
// tests, and tests with uncommitted edits of the user, keep their protected versions, so that
// later work cannot break what they test. Tests that only have additions are taken over.
func (r *Runner) keepProtectedTests(ctx context.Context, g *loop.Gates, f verify.Finding, m memory.ActionContext) error {
	edits := m.ClaimUserEdits()
	old := slices.DeleteFunc(slices.Clone(f.Observation.Inputs.Changed), m.MayChange)
	files := slices.Concat(old, edits)
	var trees [3]map[string]git.Entry
	for i, tree := range []string{m.Start.Tree, f.TreeAfter, protectedTree(m)} {
		var err error
		if trees[i], err = r.Repo.EntriesAt(ctx, tree, files); err != nil {
			return fmt.Errorf("look for protected copies: %w", err)
		}
	}
	had, there, held := trees[0], trees[1], trees[2]
	keep := slices.Clone(m.AwaitingApproval)
	for _, path := range files {
		_, isThere := there[path]
		copied, has := held[path]
		same := copied == had[path]
		_, saysLess := f.ProtectedTexts[path]
		switch {
		case m.IsClaimUserEdit(path):
			if has && !same {
				keep = append(keep, path)
			}
		case !isThere || !same || !g.OriginalsUnknown && (hasChange(f.Changes, path) || saysLess):
			keep = append(keep, path)
		}
	}
	if len(keep) == 0 {
		return nil
	}
	tree, err := r.withoutEdits(ctx, f.TreeAfter, m.Base.Commit, edits)
	if err != nil {
		return err
	}
	if g.ProtectedTree, err = r.Repo.Overlay(ctx, tree, protectedTree(m), keep); err != nil {
		return fmt.Errorf("keep protected copies: %w", err)
	}
	return nil
}

// keepRequestedTests sets the tree with the tests as the task asked to change them, if the
// agent's version asserts less than that.
func (r *Runner) keepRequestedTests(ctx context.Context, g *loop.Gates, f verify.Finding) (err error) {
	if len(f.ProtectedTexts) == 0 {
		return nil
	}
	g.ProtectedTree, err = r.Repo.WithFiles(ctx, f.TreeAfter, f.ProtectedTexts)
	return err
}

// hasChange reports whether a test file has changes other than additions.
func hasChange(changes []loop.TestChange, path string) bool {
	return slices.ContainsFunc(changes, func(c loop.TestChange) bool { return c.Path == path && c.Kind != loop.FileAdded })
}
