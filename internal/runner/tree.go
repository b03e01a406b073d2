package runner

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/git"
)

// checkpoint makes a checkpoint of the whole work tree.
func (r *Runner) checkpoint(ctx context.Context, a loop.Checkpoint, m memory.ActionContext) (loop.EventPayload, error) {
	var err error
	if m.Base, err = r.adoptCommits(ctx, m); err != nil {
		return nil, err
	}
	tree, skipped, err := r.Repo.Resnapshot(ctx)
	if err != nil {
		return nil, fmt.Errorf("checkpoint %s: %w", a.Subject, err)
	}
	r.noteSkipped(ctx, skipped)
	r.rememberTree(tree)
	if m, err = r.attributeChanges(ctx, m, tree); err != nil {
		return nil, err
	}
	start, err := r.taskStart(ctx, a, m, tree)
	if err != nil {
		return nil, err
	}
	_, err = r.storeCheckpoint(ctx, m, git.CheckpointRequest{Tree: tree, Message: a.Subject, Trailers: r.checkpointTrailers(m, a.Task), Trees: start.AllTrees()})
	return start, err
}

// storeCheckpoint stores a checkpoint that keeps what the loop needs of git besides.
func (r *Runner) storeCheckpoint(ctx context.Context, m memory.ActionContext, q git.CheckpointRequest) (git.Checkpoint, error) {
	q.Loop, q.Commit, q.Trees = r.Loop.ID, m.Base.Commit, append(q.Trees, m.TestsTree, m.OriginalsTree)
	point, err := r.Repo.CheckpointTree(ctx, q)
	if err != nil {
		return point, fmt.Errorf("checkpoint %s: %w", q.Message, err)
	}
	return point, nil
}

// enqueueNote adds a note from another goroutine than Run's.
func (r *Runner) enqueueNote(ctx context.Context, level loop.Level, text string) {
	r.enqueue(ctx, func(context.Context) error { r.note(level, text); return nil })
}

// noteSkipped notes once which files a checkpoint cannot contain, and when it can contain those of
// the agent's.
func (r *Runner) noteSkipped(ctx context.Context, skipped []git.Skipped) {
	var names, agents []string
	for _, s := range skipped {
		name := s.Path + " (" + s.Reason + ")"
		names = append(names, name)
		if !slices.Contains(r.Spec.Untracked, s.Path) {
			agents = append(agents, name)
		}
	}
	text := strings.Join(names, ", ")
	r.enqueue(ctx, func(context.Context) error {
		if text != "" && text != r.lastSkipped {
			r.recordNote(memory.Note{Level: loop.Warning, Text: "not saved, committed or deleted by Pawl: " + text, Uncommitted: agents})
		}
		if len(agents) == 0 && len(r.mem.Uncommitted) > 0 {
			r.recordNote(memory.Note{Level: loop.Info, Text: "committed since, or gone: " + strings.Join(r.mem.Uncommitted, ", "), AllCommitted: true})
		}
		r.lastSkipped = text
		return nil
	})
}

// restore makes a checkpoint, so that the restore can be undone, and restores the tree of the
// task's start. The plan and the progress file, which Pawl writes, do not change.
func (r *Runner) restore(ctx context.Context, a loop.Restore, m memory.ActionContext) (loop.EventPayload, error) {
	point, err := r.Repo.Checkpoint(ctx, r.Loop.ID, "before a restore: "+a.Why, r.checkpointTrailers(m, a.Task)...)
	if err != nil {
		return nil, fmt.Errorf("checkpoint before a restore: %w", err)
	}
	if !r.isUserTree() {
		if err := r.squashAgentCommits(ctx, m); err != nil {
			return nil, err
		}
	}
	if m, err = r.attributeChanges(ctx, m, point.Tree); err != nil {
		return nil, err
	}
	tree, err := r.withUserCommits(ctx, a.Tree, m.Base)
	if err != nil {
		return nil, err
	}
	done, err := r.restoreFiles(ctx, tree, append(r.OwnFiles(), m.ExcludedFiles()...))
	if err != nil {
		return nil, fmt.Errorf("restore: %w", err)
	}
	if len(done.Left) > 0 {
		r.noteSkipped(ctx, done.Left)
	}
	return loop.Restored{Tree: done.After, Unchanged: len(done.Changed) == 0}, nil
}

// reapplyWork applies work that was removed from the tree to the current tree. Files with
// conflicting changes stay as they are.
func (r *Runner) reapplyWork(ctx context.Context, a loop.ReapplyWork, m memory.ActionContext) (loop.EventPayload, error) {
	now, _, err := r.Repo.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	tree, clashes, err := r.Repo.Transfer(ctx, now, a.Base, a.Work)
	if err != nil {
		return nil, fmt.Errorf("bring back work on task %s: %w", a.Task, err)
	}
	done, err := r.restoreFiles(ctx, tree, append(r.OwnFiles(), m.ExcludedFiles()...))
	if err != nil {
		return nil, fmt.Errorf("bring back work on task %s: %w", a.Task, err)
	}
	if len(clashes) > 0 {
		r.enqueueNote(ctx, loop.Warning, "not restored, because other tasks changed them: "+strings.Join(firstN(clashes, maxListed), ", ")+"; the old versions: git show "+a.Work+":PATH")
	}
	return loop.WorkReapplied{Tree: done.After, Conflicts: clashes}, nil
}

// squashAgentCommits turns the agent's own commits into uncommitted changes.
func (r *Runner) squashAgentCommits(ctx context.Context, m memory.ActionContext) error {
	if _, _, err := r.switchBack(ctx, m); err != nil {
		return err
	}
	noted, err := r.squash(ctx, m, m.Base)
	if err != nil {
		return fmt.Errorf("take the agent's commits back: %w", err)
	}
	r.enqueue(ctx, noted)
	return nil
}

// withUserCommits returns the tree with the user's commits since the task's start.
func (r *Runner) withUserCommits(ctx context.Context, tree string, b memory.Base) (string, error) {
	if b.TaskStart == "" {
		return tree, nil
	}
	return r.withCommitsSince(ctx, tree, b.TaskStart, b.Commit)
}
