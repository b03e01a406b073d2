package runner

import (
	"context"
	"slices"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/plan"
)

// While a loop is paused nothing of the agent's is at work, and its tree is the user's to work in. What
// they change there of tracked files cannot be told from the agent's work later, as it is not
// committed: they are told so when they have the loop go on.

// seePause keeps the tree of a loop that has just been paused.
func (r *Runner) seePause(ctx context.Context) {
	if r.mem.State.Phase != loop.Paused || r.paused != "" || r.attended() || r.Spec.NoCommit {
		return
	}
	r.paused, _, _ = r.Repo.Snapshot(ctx) // only a note depends on it
}

// nameEdited names the tracked files that the user changed in a pause that ends, but for the plan.
func (r *Runner) nameEdited(ctx context.Context) {
	from := r.paused
	if r.paused = ""; from == "" {
		return
	}
	now, _, err := r.Repo.Snapshot(ctx)
	if err != nil || now == from {
		return
	}
	diff, err := r.Repo.Diff(ctx, from, now)
	if err != nil {
		return
	}
	status, err := r.Repo.Status(ctx)
	if err != nil {
		return
	}
	marks := r.Marks()
	var files []string
	for _, c := range diff {
		if slices.Contains(status.Dirty, c.Path) && !slices.Contains(marks, c.Path) {
			files = append(files, c.Path)
		}
	}
	if len(files) > 0 {
		r.note(loop.Warning, "you changed "+plan.Few(files, newMost)+" in the pause: that gets into the agent's next commit; commit before you resume what is to be yours")
	}
}
