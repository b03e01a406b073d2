package cli

import (
	"context"
	"fmt"
	"slices"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/record"
)

// branchFate says what became of the branch that the loop committed to since its end: merged,
// or deleted with the command that brings it back. It is "" where the branch is there to be
// merged, and where that cannot be found out.
func (s *subject) branchFate(ctx context.Context) string {
	tip, home := s.memory.Base.Commit, s.spec.StartBranch
	if !s.hasEnded() || tip == "" || tip == s.spec.StartCommit || s.spec.NoCommit || s.spec.Branch == "" || s.spec.Branch == home {
		return ""
	}
	repo, err := s.origin(ctx)
	if err != nil {
		return ""
	}
	there, err := repo.HasBranch(ctx, s.spec.Branch)
	if err != nil {
		return ""
	}
	words := ""
	if merged(ctx, repo, home, tip) {
		words = "merged into " + home
	}
	switch {
	case there:
		return words
	case words != "":
		return words + " and deleted"
	}
	return fmt.Sprintf("deleted; git branch %s %s brings it back", s.spec.Branch, tip[:min(7, len(tip))])
}

// partlyMerged reports whether the branch that a loop began on has commits of the loop by now: a
// user merged some, or the agent moved it. git diff BRANCH...LOOP shows none of these.
func partlyMerged(ctx context.Context, repo *git.Repo, spec record.Repository, tasks []loop.Task) bool {
	if spec.StartBranch == "" || spec.StartBranch == spec.Branch {
		return false
	}
	return slices.ContainsFunc(tasks, func(t loop.Task) bool {
		return t.Commit != "" && !t.DoneEarlier && merged(ctx, repo, spec.StartBranch, t.Commit)
	})
}

// compared is what the loop's branch is compared with, and a remark on it, if there is one.
func (s *subject) compared(ctx context.Context) (from string, remarks []string) {
	spec := s.spec.Repository
	repo, err := s.origin(ctx)
	if err != nil || !partlyMerged(ctx, repo, spec, s.memory.State.Tasks) {
		return comparedWith(spec), nil
	}
	from = startCommit(spec)
	if merged(ctx, repo, spec.StartBranch, s.memory.Base.Commit) {
		return from, nil
	}
	return from, []string{fmt.Sprintf("%s has commits of this loop: git log %s..%[1]s", spec.StartBranch, from)}
}

// merged reports whether a branch has a commit.
func merged(ctx context.Context, repo *git.Repo, branch, commit string) bool {
	if there, err := repo.HasBranch(ctx, branch); err != nil || !there {
		return false
	}
	has, err := repo.Contains(ctx, "refs/heads/"+branch, commit)
	return err == nil && has
}
