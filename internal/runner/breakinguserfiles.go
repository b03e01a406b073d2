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
	"github.com/pawl-dev/pawl/internal/verify"
)

// The user may edit files while the loop works. Gates see them in the work tree, and a test that
// the user has only begun fails. The agent's work is gated without them then.

// claimWithoutUserFiles gates a claim without the user's files, if the gates fail with them: the user
// may be in the middle of an edit, and no commit has it. It returns f if that makes no difference.
func (r *Runner) claimWithoutUserFiles(ctx context.Context, m memory.ActionContext, q verify.Request, f verify.Finding) (verify.Finding, error) {
	users := m.WithUserEdits(m.ClaimUserEdits())
	own, err := r.withoutUserFiles(ctx, q.Tree, m.Base.Commit, users)
	if err != nil || own == q.Tree {
		return f, err
	}
	theirs, err := r.Repo.Diff(ctx, own, q.Tree)
	if err != nil {
		return f, fmt.Errorf("list the user's files: %w", err)
	}
	for _, tree := range []*string{&q.Base, &q.ProtectedTree} {
		if *tree == "" {
			continue
		}
		if *tree, err = r.withoutUserFiles(ctx, *tree, m.Base.Commit, users); err != nil {
			return f, err
		}
	}
	q.Tree, q.Gates = own, inCheckout(q.Gates)
	without, err := r.Verify.Claim(ctx, q)
	if err != nil || without.Verdict.Status != gate.Pass || f.Verdict.Status == gate.Pass && !without.Verdict.FullGreen {
		return f, ctx.Err()
	}
	r.noteBreakingFiles(ctx, theirs)
	return without, nil
}

// inCheckout returns the gates as they run in a checkout.
func inCheckout(gates []gate.Gate) []gate.Gate {
	gates = slices.Clone(gates)
	for i := range gates {
		gates[i].Pristine = true
	}
	return gates
}

// noteBreakingFiles notes once that gates fail with these files of the user.
func (r *Runner) noteBreakingFiles(ctx context.Context, files []git.Change) {
	var names []string
	for _, c := range files {
		if !slices.Contains(r.OwnFiles(), c.Path) {
			names = append(names, c.Path)
		}
	}
	text := "the gates fail with your " + plan.Few(names, maxListedFiles) + " and pass without: decided without"
	r.enqueue(ctx, func(context.Context) error {
		if text != r.lastBreakingFiles {
			r.lastBreakingFiles = text
			r.note(loop.Info, text)
		}
		return nil
	})
}

// runFinalGates runs every gate on the current tree. If the gates fail with files of the user that are
// not committed, it runs them without.
func (r *Runner) runFinalGates(ctx context.Context, m memory.ActionContext, tree, dir string) (loop.Gates, error) {
	g, err := r.runAllGates(ctx, tree, dir, false)
	if err != nil || g.Green {
		return g, err
	}
	own, err := r.withoutUserFiles(ctx, tree, m.Base.Commit, m.NewFiles)
	if err != nil || own == tree {
		return g, err
	}
	theirs, err := r.Repo.Diff(ctx, own, tree)
	if err != nil {
		return g, fmt.Errorf("list the user's files: %w", err)
	}
	results, err := r.Verify.RunInCheckout(ctx, own, gate.Due(r.Spec.Gates, gate.Final), dir)
	if err != nil || slices.ContainsFunc(results, func(res gate.Result) bool { return res.Status != gate.Pass }) {
		return g, ctx.Err()
	}
	r.noteBreakingFiles(ctx, theirs)
	return loop.Gates{Tree: tree, Status: gate.Pass, Green: true, Results: r.trimResults(results), Receipt: r.recordReceipts(ctx, results)}, nil
}
