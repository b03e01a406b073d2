package cli

import (
	"context"
	"fmt"

	"github.com/pawl-dev/pawl/internal/git"
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

// merged reports whether a branch has a commit.
func merged(ctx context.Context, repo *git.Repo, branch, commit string) bool {
	if there, err := repo.HasBranch(ctx, branch); err != nil || !there {
		return false
	}
	has, err := repo.Contains(ctx, "refs/heads/"+branch, commit)
	return err == nil && has
}
