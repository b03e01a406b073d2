package cli

import (
	"context"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/git"
)

const diffMost = 512 << 10 // bytes of a task's diff

// taskDiff returns the diff of a task's commit. Of the task at work it is what the work
// tree has now, compared with the task's start. It is empty if nothing is known.
func (s *subject) taskDiff(ctx context.Context, t loop.Task) (string, error) {
	o := git.DiffOptions{MaxBytes: diffMost}
	st := s.memory.State
	if t.Commit == "" && t.ID == st.Current && st.Outcome == "" && st.Base != "" {
		repo, err := s.repo(ctx)
		if err != nil {
			return "", err
		}
		tree, _, err := repo.Snapshot(ctx)
		if err != nil {
			return "", err
		}
		return repo.DiffText(ctx, st.Base, tree, o)
	}
	if t.Commit == "" {
		return "", nil
	}
	repo, err := s.origin(ctx)
	if err != nil {
		return "", err
	}
	return repo.DiffText(ctx, t.Commit+"^", t.Commit, o)
}
