package cli

import (
	"context"
	"fmt"
	"io/fs"

	"github.com/pawl-dev/pawl/internal/git"
)

const diffMost = 512 << 10 // bytes of a task's diff

// taskDiff returns the diff of a task's commit. Of the task at work it is what the work
// tree has now, compared with the task's start. It is empty if nothing is known.
func (s *subject) taskDiff(ctx context.Context, task string) (string, error) {
	o := git.DiffOptions{MaxBytes: diffMost}
	st := s.memory.State
	t, ok := st.Task(task)
	if !ok {
		return "", fmt.Errorf("find task in loop %s: %w", s.ID, fs.ErrNotExist)
	}
	if t.Commit == "" && t.ID == st.Current && st.Outcome == "" && st.Start.Tree != "" {
		repo, err := s.repo(ctx)
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
	repo, err := s.origin(ctx)
	if err != nil {
		return "", err
	}
	return repo.DiffText(ctx, t.Commit+"^", t.Commit, o)
}
