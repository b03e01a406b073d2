package runner

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/verify"
)

// sameWork reports whether two trees differ only in files of the user that are not committed.
func (r *Runner) sameWork(ctx context.Context, was, now string, m memory.ActionContext) (bool, error) {
	if was == now {
		return true, nil
	}
	m, err := r.attributeChanges(ctx, m, now)
	if err != nil {
		return false, err
	}
	atClaim := m.ClaimUserEdits()
	if slices.ContainsFunc(atClaim, r.authors.IsAgentEdit) { // it is part of the commit now
		return false, nil
	}
	theirs := m.WithUserEdits(slices.Concat(atClaim, m.UserEdits()))
	if was, err = r.withoutUserFiles(ctx, was, m.Base.Commit, theirs); err != nil {
		return false, err
	}
	now, err = r.withoutUserFiles(ctx, now, m.Base.Commit, theirs)
	return was == now, err
}

// checkCommitTree runs the gates again on the tree of the commit if it differs from the tree
// that they ran on: that had untracked files of the user, and the commit must pass without
// them. Uncommitted changes in a submodule are never part of the commit.
func (r *Runner) checkCommitTree(ctx context.Context, g *loop.Gates, m memory.ActionContext, f verify.Finding, dir string) error {
	m, err := r.attributeChanges(ctx, m, f.TreeAfter) // some appeared while the gates ran
	if err != nil {
		return err
	}
	own, err := r.withoutUserFiles(ctx, g.Tree, m.Base.Commit, m.WithUserEdits(m.ClaimUserEdits()))
	if err != nil {
		return err
	}
	diff, err := r.Repo.Diff(ctx, own, g.Tree)
	if err != nil {
		return fmt.Errorf("compare the commit with what the gates saw: %w", err)
	}
	marks := append(r.OwnFiles(), m.ByGates...) // gates create these again
	apart := slices.Clone(f.UncommittedSubmodules)
	for _, c := range diff {
		if !slices.Contains(marks, c.Path) {
			apart = append(apart, c.Path)
		}
	}
	if len(apart) == 0 {
		return nil
	}
	var there []gate.Result
	for range 2 { // a checkout may fail for other reasons than the work
		if there, err = r.Verify.RunInCheckout(ctx, own, gate.Due(r.Spec.Gates, gate.Fast), dir); err == nil {
			break
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	if err == nil && len(f.UncommittedSubmodules) == 0 && passesAsWell(f.Observation.Now, there) {
		left, err := r.workLeftOut(ctx, own, m, f, there)
		if len(left) > 0 {
			g.MissingFromCommit = firstN(left, maxFailing)
			g.Reason = "the commit lacks changes in files that git did not track before: " + truncate(strings.Join(left, ", "), maxReasonBytes)
		}
		return err
	}
	g.MissingFromCommit = firstN(apart, maxFailing)
	g.Reason = "the commit lacks uncommitted files that the gates may need: " + truncate(strings.Join(apart, ", "), maxReasonBytes)
	if subs := f.UncommittedSubmodules; len(subs) > 0 {
		g.Reason = "the commit lacks work that is not committed in a submodule: " + truncate(strings.Join(subs, ", "), maxReasonBytes)
		g.OnlyInWorkTree, g.Remedy = true, "commit it in the submodule, on a branch of it"
	}
	if err != nil {
		g.Reason += ": " + err.Error()
	}
	return nil
}

// workLeftOut returns the files untracked before the loop that the task changed, if the commit
// shows no work without them: it changes no file, or none of the tests that prove the work
// passes there. Its gates may pass all the same, as they did before the task.
func (r *Runner) workLeftOut(ctx context.Context, own string, m memory.ActionContext, f verify.Finding, there []gate.Result) ([]string, error) {
	inTask, err := r.Repo.Diff(ctx, m.Start.Tree, f.TreeAfter)
	if err != nil {
		return nil, fmt.Errorf("compare the work tree with the task's start: %w", err)
	}
	marks := r.OwnFiles()
	var left []string
	for _, c := range inTask {
		if slices.Contains(r.Spec.Untracked, c.Path) && !slices.Contains(marks, c.Path) {
			left = append(left, c.Path)
		}
	}
	if len(left) == 0 {
		return nil, nil
	}
	if committed, err := r.Repo.Diff(ctx, m.Base.Commit, own); err != nil {
		return nil, fmt.Errorf("compare the commit with the one before: %w", err)
	} else if !slices.ContainsFunc(committed, func(c git.Change) bool { return !slices.Contains(marks, c.Path) }) {
		return left, nil
	}
	proofs := slices.Concat(f.Verdict.Flipped, f.Verdict.Proving)
	if anyPasses(f.Observation.Now, proofs) && !anyPasses(there, proofs) {
		return left, nil
	}
	return nil, nil
}

// anyPasses reports whether one of these tests is named in the results as passed.
func anyPasses(results []gate.Result, tests []string) bool {
	return slices.ContainsFunc(results, func(res gate.Result) bool {
		return slices.ContainsFunc(tests, func(id string) bool { return res.Tests[id] == gate.Pass })
	})
}

// passesAsWell reports whether everything that passes here also passes there.
func passesAsWell(here, there []gate.Result) bool {
	for i, h := range here {
		switch t := there[i]; {
		case t.Status == gate.Pass || h.Status == gate.Fail && len(h.Tests) == 0:
		case h.Status == gate.Pass || len(t.Tests) == 0:
			return false
		default: // red in both: by the same tests?
			for id, s := range h.Tests {
				if s == gate.Pass && t.Tests[id] == gate.Fail {
					return false
				}
			}
		}
	}
	return true
}
