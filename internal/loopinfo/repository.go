package loopinfo

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/launch"
	"github.com/pawl-dev/pawl/internal/record"
)

// Repo opens the loop's work tree.
func (s *Loop) Repo(ctx context.Context) (*git.Repo, error) {
	dir := s.Spec.WorkTree(s.Loop)
	if _, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) {
		return nil, failure.New(failure.Usage, "its commits and checkpoints are still in the repository: pawl checkpoints "+s.ID,
			"the work tree of loop %s was deleted (%s)", s.ID, dir)
	}
	return launch.Repo(ctx, s.Loop)
}

// Worktree is Repo for a command that changes the work tree. A separate worktree that was removed
// because nothing was left in it is made again. undo removes it.
func (s *Loop) Worktree(ctx context.Context) (repo *git.Repo, undo git.Undo, err error) {
	if s.Spec.UsesWorktree {
		return launch.Worktree(ctx, s.Loop, s.Memory)
	}
	repo, err = s.Repo(ctx)
	return repo, func(context.Context) error { return nil }, err
}

// Origin opens the repository with the loop's commits and checkpoints, which remain after a worktree
// is removed.
func (s *Loop) Origin(ctx context.Context) (*git.Repo, error) {
	if s.Spec.UsesWorktree {
		return git.Open(ctx, s.Spec.Root)
	}
	return s.Repo(ctx)
}

// PlanPath returns the path of the loop's plan.
func (s *Loop) PlanPath() string {
	return s.Spec.PlanPath(s.Spec.WorkTree(s.Loop))
}

// Branch returns the branch with the loop's commits. In the user's checkout that is the branch that
// they switched to; if it has the commits no more, Branch returns the last commit, abbreviated.
func (s *Loop) Branch(ctx context.Context) string {
	spec, tip := s.Spec.Repository, s.Memory.Base.Commit
	if spec.NoCommit || spec.Branch != spec.StartBranch || tip == "" || tip == spec.StartCommit {
		return spec.Branch
	}
	repo, err := s.Origin(ctx)
	if err != nil || branchContains(ctx, repo, spec.Branch, tip) {
		return spec.Branch
	}
	if now, err := repo.Branch(ctx); err == nil && now != "" && branchContains(ctx, repo, now, tip) {
		return now
	}
	return tip[:min(7, len(tip))]
}

// BranchFate says what happened to the loop's branch after its end: merged, or deleted with the
// command that restores it. It returns "" if the branch can be merged or git fails.
func (s *Loop) BranchFate(ctx context.Context) string {
	tip, home := s.Memory.Base.Commit, s.Spec.StartBranch
	if !s.HasEnded() || tip == "" || tip == s.Spec.StartCommit || s.Spec.NoCommit || s.Spec.Branch == "" || s.Spec.Branch == home {
		return ""
	}
	repo, err := s.Origin(ctx)
	if err != nil {
		return ""
	}
	there, err := repo.HasBranch(ctx, s.Spec.Branch)
	if err != nil {
		return ""
	}
	words := ""
	if branchContains(ctx, repo, home, tip) {
		words = "merged into " + home
	}
	switch {
	case there:
		return words
	case words != "":
		return words + " and deleted"
	}
	return fmt.Sprintf("deleted; git branch %s %s brings it back", s.Spec.Branch, tip[:min(7, len(tip))])
}

// PartlyMerged reports whether the branch that a loop started on contains commits of the loop: a user
// merged some, or the agent moved it. git diff BRANCH...LOOP does not show those.
func PartlyMerged(ctx context.Context, repo *git.Repo, spec record.Repository, tasks []loop.Task) bool {
	if spec.StartBranch == "" || spec.StartBranch == spec.Branch {
		return false
	}
	return slices.ContainsFunc(tasks, func(t loop.Task) bool {
		return t.Commit != "" && !t.DoneEarlier && branchContains(ctx, repo, spec.StartBranch, t.Commit)
	})
}

// comparisonBase returns what to compare the loop's branch with, and remarks on that.
func (s *Loop) comparisonBase(ctx context.Context) (from string, remarks []string) {
	spec := s.Spec.Repository
	repo, err := s.Origin(ctx)
	if err != nil || !PartlyMerged(ctx, repo, spec, s.Memory.State.Tasks) {
		return ComparedWith(spec), nil
	}
	from = StartCommit(spec)
	if branchContains(ctx, repo, spec.StartBranch, s.Memory.Base.Commit) {
		return from, nil
	}
	return from, []string{fmt.Sprintf("%s has commits of this loop: git log %s..%[1]s", spec.StartBranch, from)}
}

// branchContains reports whether a branch contains a commit.
func branchContains(ctx context.Context, repo *git.Repo, branch, commit string) bool {
	if there, err := repo.HasBranch(ctx, branch); err != nil || !there {
		return false
	}
	has, err := repo.Contains(ctx, "refs/heads/"+branch, commit)
	return err == nil && has
}

// ComparedWith returns what to compare the loop's branch with: the default branch if the loop's was
// made from it, else the loop's first commit.
func ComparedWith(spec record.Repository) string {
	if spec.DefaultBranch != "" && spec.StartBranch == spec.DefaultBranch && spec.Branch != spec.DefaultBranch {
		return spec.DefaultBranch
	}
	return StartCommit(spec)
}

// StartCommit returns the abbreviated commit that the loop starts from.
func StartCommit(spec record.Repository) string {
	return spec.StartCommit[:min(7, len(spec.StartCommit))]
}

const maxDiffBytes = 512 << 10 // maximum bytes of a task's diff

// TaskDiff returns the diff of a task's commit. For the current task it compares the work tree with
// the task's start. It returns "" if neither exists.
func (s *Loop) TaskDiff(ctx context.Context, task string) (string, error) {
	o := git.DiffOptions{MaxBytes: maxDiffBytes}
	st := s.Memory.State
	t, ok := st.Task(task)
	if !ok {
		return "", fmt.Errorf("find task in loop %s: %w", s.ID, fs.ErrNotExist)
	}
	if t.Commit == "" && t.ID == st.Current && st.Outcome == "" && st.Start.Tree != "" {
		repo, err := s.Repo(ctx)
		if err != nil {
			return "", err
		}
		tree, _, err := repo.Snapshot(ctx)
		if err != nil {
			return "", err
		}
		return repo.DiffText(ctx, st.Start.InWorkTree(), tree, o)
	}
	if t.Commit == "" {
		return "", nil
	}
	repo, err := s.Origin(ctx)
	if err != nil {
		return "", err
	}
	return repo.DiffText(ctx, t.Commit+"^", t.Commit, o)
}
