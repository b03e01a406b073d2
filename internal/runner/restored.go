package runner

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/git"
)

// TrailerDone names, in the message of a checkpoint, a task whose work it holds.
const TrailerDone = "Pawl-Done"

// TrailerRestored names, in the message of a checkpoint, a task whose undone work the user had
// restored into its tree.
const TrailerRestored = "Pawl-Restored"

// DoneTrailers returns the trailers of a checkpoint: the loop and the tasks that are done.
func DoneTrailers(loopID string, tasks []loop.Task) []git.Trailer {
	ts := []git.Trailer{{Key: TrailerLoop, Value: loopID}}
	for _, t := range tasks {
		if t.Status == loop.Done {
			ts = append(ts, git.Trailer{Key: TrailerDone, Value: plan.OneLine(t.ID, 100)})
		}
	}
	return ts
}

// RestoredTrailers returns the trailers of a checkpoint for the undone work that the user restored
// into its tree.
func RestoredTrailers(works loop.RestoredWorks) []git.Trailer {
	var ts []git.Trailer
	for _, w := range works {
		ts = append(ts, git.Trailer{Key: TrailerRestored, Value: plan.OneLine(w.Task, 100)})
	}
	return ts
}

// checkpointTrailers returns the trailers of a checkpoint for a task; "": for no task.
func (r *Runner) checkpointTrailers(m memory.ActionContext, task string) []git.Trailer {
	ts := DoneTrailers(r.Loop.ID, m.Tasks)
	if task != "" {
		ts = append(ts, git.Trailer{Key: TrailerTask, Value: plan.OneLine(task, 100)})
	}
	return ts
}

// DoneTasks returns the tasks whose work is in a checkpoint with these trailers. It returns
// false if the trailers do not say.
func DoneTasks(trailers []git.Trailer, tasks []loop.Task) (ids []string, ok bool) {
	for _, t := range trailers {
		ok = ok || t.Key == TrailerLoop
	}
	for _, t := range tasks {
		if slices.Contains(trailers, git.Trailer{Key: TrailerDone, Value: plan.OneLine(t.ID, 100)}) {
			ids = append(ids, t.ID)
		}
	}
	return ids, ok
}

// adoptRestored freezes protected files and the plan as they are after the user restored a
// checkpoint: only the user has acted since.
func (r *Runner) adoptRestored(ctx context.Context) error {
	if !r.mem.State.TreeReplaced {
		return nil
	}
	if err := r.authors.RecordSpan(r.mem.State.StartedAt); err != nil { // files of the checkpoint have new times, but the user did not create them
		return err
	}
	changed, err := r.Protected.Changes(ctx)
	if err != nil {
		return fmt.Errorf("compare protected files: %w", err)
	}
	for _, path := range changed {
		if err := r.Protected.AcceptChange(path); err != nil {
			return fmt.Errorf("keep the restored %s: %w", path, err)
		}
	}
	return r.plan.AdoptRestored(r.mem.State.Tasks.IDs(func(t loop.Task) bool { return t.Undone && t.Status == loop.Open }))
}

// lostCommits returns the done tasks whose commits are no longer in the branch. It finds
// rewritten commits by their trailers, and those that lost their message by their trees. Tasks whose
// changes are in a tree that the branch has, or gets now, are kept: the user undid the commit without
// them (git reset --soft).
func (r *Runner) lostCommits(ctx context.Context, m memory.ActionContext, tree string) (lost, kept []string, err error) {
	if r.Spec.NoCommit || !slices.ContainsFunc(m.Tasks, committed) {
		return nil, nil, nil
	}
	branch, err := r.branch(ctx, m.Base)
	if err != nil {
		return nil, nil, err
	}
	there, err := r.Repo.TrailersSince(ctx, branch, r.Spec.StartCommit, TrailerReceipt)
	if err != nil {
		return nil, nil, fmt.Errorf("look for the commits of done tasks: %w", err)
	}
	isMissing := func(t loop.Task) bool {
		return committed(t) && !slices.ContainsFunc(there, func(c git.Trailer) bool { return c.Key == t.Commit || c.Value == t.Receipt })
	}
	if !slices.ContainsFunc(m.Tasks, isMissing) {
		return nil, nil, nil
	}
	reworded, err := r.rewordedCommits(ctx, branch, m.Tasks)
	if err != nil {
		return nil, nil, fmt.Errorf("look for the trees of done tasks: %w", err)
	}
	for _, t := range m.Tasks {
		switch {
		case !isMissing(t) || reworded[t.Commit]:
		case r.hasChangesOf(ctx, tree, t.Commit):
			kept = append(kept, t.ID)
		default:
			lost = append(lost, t.ID)
		}
	}
	return lost, kept, nil
}

// hasChangesOf reports whether a tree certainly has the changes of a commit, the tick in the plan aside.
func (r *Runner) hasChangesOf(ctx context.Context, tree, commit string) bool {
	with, clashes, err := r.Repo.Transfer(ctx, tree, commit+"^", commit)
	if err != nil {
		return false // git has dropped the commit
	}
	lacks, err := r.Repo.Diff(ctx, tree, with)
	others := slices.DeleteFunc(append(git.Paths(lacks), clashes...), func(path string) bool { return slices.Contains(r.OwnFiles(), path) })
	return err == nil && len(others) == 0
}

// rewordedCommits returns the commits of done tasks whose work is in the branch without their
// message: a commit of the branch has the same tree, or the tree of a later task. So it is after
// `git commit --amend -m` and after a squash.
func (r *Runner) rewordedCommits(ctx context.Context, branch string, tasks loop.Tasks) (map[string]bool, error) {
	inBranch, err := r.Repo.Trees(ctx, r.Spec.StartCommit, "refs/heads/"+branch)
	if err != nil {
		return nil, err
	}
	kept := slices.Collect(maps.Values(inBranch))
	reworded := map[string]bool{}
	for _, t := range slices.Backward(tasks) { // the last one of a squash has the others before it
		if !committed(t) || reworded[t.Commit] {
			continue
		}
		before, err := r.Repo.Trees(ctx, r.Spec.StartCommit, t.Commit)
		if err != nil {
			continue // git has dropped the commit: nothing shows where its work is
		}
		if slices.Contains(kept, before[t.Commit]) {
			for id := range before {
				reworded[id] = true
			}
		}
	}
	return reworded, nil
}

func committed(t loop.Task) bool { return t.Status == loop.Done && t.Commit != "" }
