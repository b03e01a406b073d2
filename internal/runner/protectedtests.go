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

// updateProtected tells the guard what it keeps from being edited: what a user has
// approved by name is not among it, from the next turn on.
func (r *Runner) updateProtected() error {
	if r.Protected == nil || len(r.mem.State.Approved)+len(r.mem.State.Rejected) == 0 {
		return nil
	}
	return record.SaveProtected(r.Loop, slices.DeleteFunc(r.Protected.WorkTreeFiles(), r.mem.State.MayChangeInput))
}

// changedDuringGates names protected files that the agent changed while the gates ran:
// what works in the background can change it after the look and before a gate
// reads it. A change of the user's is left for the next look.
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

// rejectedChanges names the tests that the user rejected and that are not as the judge
// has them, by the agent's doing.
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
		return nil, fmt.Errorf("compare the tests with the judge's copies: %w", err)
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
		if (m.Rejects(c.Path) || c.Status != 'A' && r.isRejected(c.Path, m)) && r.isByAgent(c.Path, m) {
			paths = append(paths, c.Path)
		}
	}
	return paths, nil
}

// committedChanges are those of the files that are as an earlier task committed them: their
// change is put back when that task is taken up again, and the one at work is not blamed.
func (r *Runner) committedChanges(ctx context.Context, paths []string, now string, m memory.ActionContext) ([]string, error) {
	if len(paths) == 0 {
		return nil, nil
	}
	diff, err := r.Repo.Diff(ctx, m.StartTree, now)
	if err != nil {
		return nil, fmt.Errorf("compare the tests with the task's start: %w", err)
	}
	return slices.DeleteFunc(slices.Clone(paths), func(path string) bool {
		return slices.ContainsFunc(diff, func(c git.Change) bool { return c.Path == path })
	}), nil
}

// isRejected tells whether the user rejected a file by its name, or as one of all tests.
func (r *Runner) isRejected(path string, m memory.ActionContext) bool {
	everyTest := m.Rejects(loop.AllTests) && !m.MayChange(path)
	return m.Rejects(path) || everyTest && verify.IsTest(r.Spec.Tests, path)
}

// protectedTree holds the judge's copies of the tests.
func protectedTree(m memory.ActionContext) string { return cmp.Or(m.TestsTree, m.StartTree) }

// restoreTests makes rejected tests what the judge has.
func (r *Runner) restoreTests(ctx context.Context, paths []string, m memory.ActionContext) error {
	if len(paths) == 0 {
		return nil
	}
	now, _, err := r.Repo.Snapshot(ctx)
	if err != nil {
		return fmt.Errorf("put tests back: %w", err)
	}
	tree, err := r.Repo.Overlay(ctx, now, protectedTree(m), paths)
	if err != nil {
		return fmt.Errorf("put tests back: %w", err)
	}
	if _, err := r.restoreFiles(ctx, tree, r.OwnFiles()); err != nil {
		return fmt.Errorf("put tests back: %w", err)
	}
	return nil
}

// addTestChanges adds to what the gates found what a claim did to old tests: what it is
// worth if that is approved, and which copies judge from then on.
func (r *Runner) addTestChanges(ctx context.Context, a loop.Action, g *loop.Gates, f verify.Finding, m memory.ActionContext) error {
	if g.Status != gate.Pass {
		return nil
	}
	if old := f.Observation.ChangedInputs; len(old)+len(m.Pending) > 0 {
		if err := r.describeTestChanges(ctx, g, f, m); err != nil {
			return err
		}
	}
	if f.Observation.ChangesRequested && !slices.ContainsFunc(f.Observation.ChangedInputs, m.IsClaimUserEdit) {
		return r.keepRequestedTests(ctx, g, f)
	}
	allowed := f.Observation.AllowTestChanges && !slices.ContainsFunc(f.Observation.ChangedInputs, m.IsClaimUserEdit) // the user's edits are allowed, and in no commit
	if allowed || r.Spec.MayChangeTests(a.Tasks) || len(g.TestsChanged) > 0 && !g.TestsRemoved {
		return nil
	}
	return r.keepProtectedTests(ctx, g, f, m)
}

// describeTestChanges adds what a claim did to old tests, and what it is worth if that is approved.
func (r *Runner) describeTestChanges(ctx context.Context, g *loop.Gates, f verify.Finding, m memory.ActionContext) error {
	old := f.Observation.ChangedInputs
	had, err := r.Repo.Entries(ctx, m.StartTree, old...)
	if err != nil {
		return fmt.Errorf("look for the old tests: %w", err)
	}
	there, err := r.Repo.Entries(ctx, f.TreeAfter, old...)
	if err != nil {
		return fmt.Errorf("look for the old tests: %w", err)
	}
	g.ChangedTests = f.Changes
	if len(g.TestsChanged) == 0 && !g.OriginalsUnknown { // an earlier task's changes were named then, and the user's own files are in no commit
		g.ChangedTests = slices.DeleteFunc(slices.Clone(f.Changes), func(c loop.TestChange) bool {
			was, known := had[c.Path]
			return known && there[c.Path] == was || slices.Contains(r.Spec.Untracked, c.Path)
		})
	}
	g.ChangedTests = slices.Clone(g.ChangedTests)
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

// keepProtectedTests finds the copies of the tests that judge from now on. Of tests that are
// gone, or say another thing now, the judge keeps its own, should the next work break
// what they guarded; so it does of what the user has edited and not committed. What a
// file has more is the judge's too.
func (r *Runner) keepProtectedTests(ctx context.Context, g *loop.Gates, f verify.Finding, m memory.ActionContext) error {
	edits := m.ClaimUserEdits()
	old := slices.DeleteFunc(slices.Clone(f.Observation.ChangedInputs), m.MayChange)
	files := slices.Concat(old, edits)
	var trees [3]map[string]git.Entry
	for i, tree := range []string{m.StartTree, f.TreeAfter, protectedTree(m)} {
		var err error
		if trees[i], err = r.Repo.EntriesAt(ctx, tree, files); err != nil {
			return fmt.Errorf("look for the judge's copies: %w", err)
		}
	}
	had, there, held := trees[0], trees[1], trees[2]
	keep := slices.Clone(m.Pending)
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
		return fmt.Errorf("keep the judge's copies: %w", err)
	}
	return nil
}

// keepRequestedTests has old tests that the task asked to change judge as it asked for them, where the agent's version
// says less than that.
func (r *Runner) keepRequestedTests(ctx context.Context, g *loop.Gates, f verify.Finding) (err error) {
	if len(f.ProtectedTexts) == 0 {
		return nil
	}
	g.ProtectedTree, err = r.Repo.WithFiles(ctx, f.TreeAfter, f.ProtectedTexts)
	return err
}

// hasChange tells whether the structure of a test file shows more than additions.
func hasChange(changes []loop.TestChange, path string) bool {
	return slices.ContainsFunc(changes, func(c loop.TestChange) bool { return c.Path == path && c.Kind != loop.FileAdded })
}

// ApplyToEnded takes an event of a loop that has ended: a user's word on what came of
// it. Nothing is driven, and nothing in the work tree changes.
func (r *Runner) ApplyToEnded(ctx context.Context, e loop.Event) (loop.State, error) {
	r.Observer = noObserver{}
	var err error
	if r.Spec.Identity, err = record.ReadIdentity(r.Loop); err != nil {
		return loop.State{}, err
	}
	if r.mem, r.mark, err = record.Load(r.Loop); err != nil {
		return loop.State{}, fmt.Errorf("open loop %s: %w", r.Loop.ID, err)
	}
	if r.mem.State.Phase != loop.Ended {
		return r.mem.State, fmt.Errorf("loop %s has been taken up again", r.Loop.ID)
	}
	err = r.step(ctx, e)
	return r.mem.State, err
}
