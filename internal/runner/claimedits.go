package runner

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/verify"
)

// Edits of the user are in the tree when the gates run, and in no commit. A claim keeps one
// attribution from the gates to the commit, and no tree that later work is compared with has
// these edits. So no change of the agent can pass for an edit of the user.

// attributeClaim attributes the edits in the tree that the gates will run on. The result
// holds until the commit.
func (r *Runner) attributeClaim(ctx context.Context, m memory.ActionContext, tree string) (memory.ActionContext, error) {
	m, err := r.attributeChanges(ctx, m, tree)
	if err != nil {
		return m, err
	}
	atClaim := memory.Paths(m.UserEdits())
	if slices.Equal(atClaim, m.ClaimUserEdits()) {
		return m, nil
	}
	m.UserEditsAtClaim = &atClaim
	r.enqueue(ctx, func(context.Context) error {
		n := memory.NewFiles{UserEditsAtClaim: &atClaim}
		r.mem.NewFiles = r.mem.Merge(n)
		return r.appendRecord(memory.TypeNewFiles, n)
	})
	return m, nil
}

// runClaimGates runs the gates of a claim. edited means that the user edited tracked files while they ran
// in the work tree.
func (r *Runner) runClaimGates(ctx context.Context, m memory.ActionContext, q verify.Request) (f verify.Finding, edited bool, err error) {
	q.Gates, q.Pending, q.NoRatchet = gate.Due(r.Spec.Gates, gate.Fast), m.AwaitingApproval, r.Spec.NoRatchet
	q.MayChange = func(path string) bool { return m.MayChange(path) || m.IsClaimUserEdit(path) }
	q.ProtectedTree = m.TestsTree
	if q.Base, err = r.startTreeWithEdits(ctx, m); err != nil {
		return f, false, err
	}
	head, _ := r.Repo.Head(ctx) // "" before the first commit
	began := time.Now()
	r.previousSnapshot = nil
	if f, err = r.Verify.Claim(ctx, q); err == nil && !f.Verdict.FullGreen {
		f, err = r.claimWithoutUserFiles(ctx, m, q, f)
	}
	reached, failed := r.recordGates(began)
	if err = cmp.Or(err, failed); err == nil && reached {
		edited, err = r.editedDuringGates(ctx, m, head, q, f.TreeAfter)
	}
	return f, edited, err
}

// startTreeWithEdits returns the task's start tree with the edits that the user had made by
// then and that are still the user's, as the gates saw it.
func (r *Runner) startTreeWithEdits(ctx context.Context, m memory.ActionContext) (string, error) {
	if m.Start.WithEdits == "" {
		return m.Start.Tree, nil
	}
	diff, err := r.Repo.Diff(ctx, m.Start.Tree, m.Start.WithEdits)
	if err != nil {
		return "", fmt.Errorf("compare with the tree that the task started in: %w", err)
	}
	var unchanged []string
	for _, c := range diff {
		if slices.Contains(m.UserEdits(), c.Path) {
			unchanged = append(unchanged, c.Path)
		}
	}
	tree, err := r.Repo.Overlay(ctx, m.Start.Tree, m.Start.WithEdits, unchanged)
	if err != nil {
		return "", fmt.Errorf("take the tree that the task started in: %w", err)
	}
	return tree, nil
}

// withoutEdits returns the tree with the version of these files in a commit.
func (r *Runner) withoutEdits(ctx context.Context, tree, commit string, edits []string) (string, error) {
	if len(edits) == 0 {
		return tree, nil
	}
	tree, err := r.Repo.Overlay(ctx, tree, commit, edits)
	if err != nil {
		return "", fmt.Errorf("leave out what you edited: %w", err)
	}
	return tree, nil
}
