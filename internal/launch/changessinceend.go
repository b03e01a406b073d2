package launch

import (
	"context"
	"fmt"
	"slices"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/environment"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/planfile"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/redact"
	"github.com/pawl-dev/pawl/internal/runner"
	"github.com/pawl-dev/pawl/internal/statefile"
	"github.com/pawl-dev/pawl/internal/store"
)

// The agent does not run after a loop has ended. Files that differ from every checkpoint of the
// loop were changed by the user, and must not get into a commit of the agent.

// maxComparedCheckpoints is the number of last checkpoints that a file is compared with.
const maxComparedCheckpoints = 20

// changedSinceEnd returns the tracked files of a work tree that differ from every checkpoint of a loop,
// and the untracked ones that are in no checkpoint, without files that the loop or other tools write. An
// untracked file that the user edited after the end is not new: it has the agent's work, too.
func changedSinceEnd(ctx context.Context, repo *git.Repo, l *store.Loop, spec record.Spec) (tracked, fresh []string, err error) {
	points, err := repo.Checkpoints(ctx, l.ID)
	if _, known := runner.FinalCheckpoint(points); err != nil || !known { // no turn has begun, or there is no last checkpoint
		return nil, nil, err
	}
	status, err := repo.Status(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("read status of work tree: %w", err)
	}
	own := slices.Concat(spec.Untracked, statefile.FilesOf(repo.Root(), l.Dir, spec).OwnPaths())
	files := slices.DeleteFunc(slices.Concat(status.Dirty, status.Untracked), func(path string) bool {
		return planfile.IsPlanFile(spec.Plan, path) || slices.Contains(own, path)
	})
	if len(files) == 0 {
		return nil, nil, nil
	}
	tree, _, err := repo.Snapshot(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("take a snapshot of the work tree: %w", err)
	}
	now, err := repo.Entries(ctx, tree, files...)
	if err != nil {
		return nil, nil, fmt.Errorf("read the work tree: %w", err)
	}
	known, old := map[string]bool{}, map[string]bool{}
	for _, point := range points[max(0, len(points)-maxComparedCheckpoints):] {
		was, err := repo.Entries(ctx, point.Tree, files...)
		if err != nil {
			return nil, nil, fmt.Errorf("read a checkpoint: %w", err)
		}
		for _, file := range files {
			known[file] = known[file] || was[file] == now[file]
			if _, there := was[file]; there {
				old[file] = true
			}
		}
	}
	changed := func(files []string, but map[string]bool) []string {
		return slices.DeleteFunc(slices.Clone(files), func(path string) bool {
			seen, asked := known[path]
			return seen || !asked || but[path]
		})
	}
	return changed(status.Dirty, nil), changed(status.Untracked, old), nil
}

// handleLaterChanges refuses to resume a loop over what the user changed since its end, and leaves
// their new files out of its commits.
func (d *Driver) handleLaterChanges(ctx context.Context, owner *store.Owner, repo *git.Repo, l *store.Loop, env environment.Environment) error {
	if !d.reopened || d.Spec.UsesWorktree || d.Spec.NoCommit {
		return nil
	}
	m, _, err := record.Load(l)
	if err != nil {
		return err
	}
	tracked, fresh, err := changedSinceEnd(ctx, repo, l, d.Spec)
	if err != nil {
		return err
	}
	isRestored := func(path string) bool { return slices.Contains(m.State.Restored.Paths(), path) } // the task's work, also if the user edits it
	tracked, fresh = slices.DeleteFunc(tracked, isRestored), slices.DeleteFunc(fresh, isRestored)
	if len(tracked) > 0 {
		return failure.New(failure.Usage, "commit or stash them, then  pawl resume "+l.ID,
			"the work tree has changes that were made since loop %s ended (%s)", l.ID, plan.Few(tracked, 5))
	}
	if d.UserFiles = fresh; len(fresh) == 0 {
		return nil
	}
	note := memory.Note{Level: loop.Info, Text: "left alone: " + plan.Few(fresh, 5) + ", new since the loop ended: not committed", NewFiles: memory.NewFiles{ByUser: fresh}}
	return record.AppendNote(owner, note, redact.New(env.Vars).String)
}
