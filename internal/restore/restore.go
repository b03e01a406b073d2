// Package restore returns the work tree of a loop to a checkpoint, or reapplies a task's work that a
// restore removed.
//
//	result, err := restore.Run(ctx, store, loop, restore.Options{Find: restore.BeforeLastRestore, Agree: ask})
//
// A Finder finds what is meant among the loop's checkpoints. What would change is shown to
// Agree before anything does; the work tree as it was is a checkpoint itself, so that a
// restore can be undone. While it works the loop and its work tree are owned, so that nobody
// else acts on them. The journal gets an event that says which tasks are done afterwards.
package restore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/launch"
	"github.com/pawl-dev/pawl/internal/loopinfo"
	"github.com/pawl-dev/pawl/internal/runner"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/store/journal"
)

// Options configure a restore.
type Options struct {
	Find  Finder
	Agree func(Proposal) error // its error is that of the restore, which changes nothing then
}

// Proposal describes the effects of a restore.
type Proposal struct {
	Target  Target
	Now     string       // the tree of the work tree
	Tree    string       // that it would have
	Changes []git.Change // from the one to the other
	Clashes []string     // files that stay: changed since in the same place
	Tasks   []loop.Task  // as they are
	After   loop.State   // as it would be
}

// Result describes a completed restore.
type Result struct {
	Target   Target
	Before   git.Checkpoint // of the work tree as it was
	Restored git.Restored
}

// Run restores the loop's work tree to what o.Find finds, after a checkpoint of the current tree.
func Run(ctx context.Context, st *store.Store, s *loopinfo.Loop, o Options) (r Result, err error) {
	repo, undo, err := s.Worktree(ctx)
	if err != nil {
		return Result{}, err
	}
	defer func() {
		if err != nil { // nothing was restored there
			err = errors.Join(err, undo(context.WithoutCancel(ctx)))
		}
	}()
	if err := checkBranch(ctx, repo, s); err != nil {
		return Result{}, err
	}
	if r.Target, err = o.Find(ctx, repo, s); err != nil {
		return Result{}, err
	}
	owner, release, err := acquire(ctx, st, repo, s)
	if err != nil {
		return Result{}, err
	}
	defer func() { err = errors.Join(err, release()) }()
	m, err := launch.LoadResumable(s.Loop) // another may have driven it until now
	if err != nil {
		return Result{}, err
	}
	p, err := propose(ctx, repo, r.Target)
	if err != nil {
		return Result{}, err
	}
	back, err := restoredEvent(ctx, repo, s, p, m.State)
	if err != nil {
		return Result{}, err
	}
	was := m.State
	p.Tasks = was.Tasks
	m.Apply(back)
	p.After = m.State
	if p.isEmpty() {
		return Result{}, failure.New(failure.Usage, fmt.Sprintf("pawl checkpoints diff %s %d shows what differs from it", s.ID, r.Target.N),
			"nothing to restore: %s is what the work tree has", r.Target)
	}
	if err := o.Agree(p); err != nil {
		return Result{}, err
	}
	if r.Before, err = repo.Checkpoint(ctx, s.ID, beforeRestore+" of "+r.Target.subject(), trailersOf(s.ID, was)...); err != nil {
		return Result{}, fmt.Errorf("keep the work tree as it is: %w", err)
	}
	// From here a Ctrl-C waits: half a restore helps nobody. A second one ends it.
	if r.Restored, err = repo.Restore(context.WithoutCancel(ctx), p.Tree, nil); err != nil {
		return Result{}, failure.New(failure.Error, "run it again to finish, or pawl undo "+s.ID, "restore checkpoint %d: %w", r.Target.N, err)
	}
	back.At = time.Now()
	if _, err := owner.Append(journal.Entry{Type: memory.TypeEvent, Data: back}); err != nil {
		return Result{}, fmt.Errorf("journal the restore: %w", err)
	}
	// What was merged is in no checkpoint yet. Without one it would count as the user's edits.
	if _, err := repo.Checkpoint(ctx, s.ID, runner.AfterRestore+" of "+r.Target.subject(), trailersOf(s.ID, p.After)...); err != nil {
		return Result{}, fmt.Errorf("keep the restored work tree: %w", err)
	}
	return r, nil
}

// trailersOf returns the trailers of a checkpoint that is made in a state of the loop.
func trailersOf(id string, s loop.State) []git.Trailer {
	return append(runner.DoneTrailers(id, s.Tasks), runner.RestoredTrailers(s.Restored)...)
}

// propose returns the tree that the work tree is to become, and the changes.
func propose(ctx context.Context, repo *git.Repo, t Target) (Proposal, error) {
	now, _, err := repo.Snapshot(ctx)
	if err != nil {
		return Proposal{}, fmt.Errorf("look at the work tree: %w", err)
	}
	p := Proposal{Target: t, Now: now, Tree: t.Tree}
	if t.base != "" {
		if p.Tree, p.Clashes, err = repo.Transfer(ctx, now, t.base, t.Tree); err != nil {
			return Proposal{}, err
		}
	}
	if len(t.paths) > 0 {
		if p.Tree, err = repo.Overlay(ctx, now, p.Tree, t.paths); err != nil {
			return Proposal{}, err
		}
		p.Clashes = slices.DeleteFunc(p.Clashes, func(path string) bool { return !covers(t.paths, path) })
	}
	if p.Changes, err = repo.Diff(ctx, now, p.Tree); err != nil {
		return Proposal{}, err
	}
	return p, nil
}

// isEmpty reports whether the restore would change neither a file nor a task.
func (p Proposal) isEmpty() bool {
	return len(p.Changes)+len(p.Clashes) == 0 && !slices.ContainsFunc(p.Tasks, func(was loop.Task) bool {
		t, there := p.After.Task(was.ID)
		return there && t.Status != was.Status
	})
}

// checkBranch returns an error if another branch of the user's is checked out. A loop without
// commits has no branch any more.
func checkBranch(ctx context.Context, repo *git.Repo, s *loopinfo.Loop) error {
	if s.Spec.UsesWorktree || s.Spec.NoCommit || s.Spec.Shadow {
		return nil
	}
	there, err := repo.HasBranch(ctx, s.Spec.Branch)
	if err != nil || !there {
		return err
	}
	on, err := repo.Branch(ctx)
	if err != nil {
		return fmt.Errorf("read the current branch: %w", err)
	}
	if on != s.Spec.Branch {
		return failure.New(failure.Usage, "git switch "+s.Spec.Branch+", then restore again",
			"the work tree is on %s, not on the branch of loop %s, %s", cmp.Or(on, "no branch"), s.ID, s.Spec.Branch)
	}
	return nil
}

// restoredEvent returns the event that names the tasks that a restore reopens, and the tasks whose
// work it brings back.
func restoredEvent(ctx context.Context, repo *git.Repo, s *loopinfo.Loop, p Proposal, was loop.State) (loop.Event, error) {
	e := loop.CheckpointRestored{Summary: "you restored " + p.Target.String(), Kept: was.Restored}
	e.DoneTasks, _ = runner.DoneTasks(runner.DoneTrailers("", was.Tasks), was.Tasks)
	trailers, err := repo.Trailers(ctx, p.Target.Commit)
	if err != nil {
		return loop.Event{}, err
	}
	if p.Target.isWhole() {
		// One that was made before checkpoints said it leaves the tasks as they are.
		if ids, ok := runner.DoneTasks(trailers, was.Tasks); ok {
			e.DoneTasks = ids
		}
		if e.Kept, err = findRestoredWork(ctx, repo, s, trailers, was.Restored); err != nil {
			return loop.Event{}, err
		}
	}
	task := p.Target.workOf(trailers)
	if task == "" || slices.Contains(e.DoneTasks, task) {
		return loop.Event{Payload: e}, nil
	}
	work := p.Changes
	if p.Target.task == "" { // more than that may change
		if work, err = undoneWork(ctx, repo, s.ID, p.Target, task); err != nil {
			return loop.Event{}, err
		}
	}
	e.Work = loop.RestoredWork{Task: task, Paths: git.Paths(work)}
	if p.Target.task != "" { // a part of it may have been restored before
		e.Work.Paths = append(e.Work.Paths, e.Kept.Of(task)...)
	}
	e.Kept = e.Kept.Without(task)
	return loop.Event{Payload: e}, nil
}

// findRestoredWork returns the undone work that a user had restored into the checkpoint with these
// trailers. Known work needs no search.
func findRestoredWork(ctx context.Context, repo *git.Repo, s *loopinfo.Loop, trailers []git.Trailer, known loop.RestoredWorks) (loop.RestoredWorks, error) {
	var works loop.RestoredWorks
	for _, t := range trailers {
		if t.Key != runner.TrailerRestored {
			continue
		}
		paths := known.Of(t.Value)
		if paths == nil {
			target, err := TaskWork(t.Value)(ctx, repo, s)
			if err != nil {
				return nil, err
			}
			changes, err := repo.Diff(ctx, target.base, target.Tree)
			if err != nil {
				return nil, err
			}
			paths = git.Paths(changes)
		}
		works = append(works, loop.RestoredWork{Task: t.Value, Paths: paths})
	}
	return works, nil
}

// acquireLoop acquires the loop. The session's hooks stay its owner's: a restore between two of
// them counts as one of them.
func acquireLoop(ctx context.Context, s *loopinfo.Loop) (*store.Owner, error) {
	if s.InSession() {
		return s.Rejoin(ctx, s.Driver.Epoch)
	}
	return s.Own(ctx)
}

// explainHeld adds a hint to the error for a work tree that is held.
func explainHeld(err error) error {
	held, ok := errors.AsType[*store.HeldError](err)
	if !ok {
		return err
	}
	hint := "wait for it"
	if held.Loop != "" {
		hint = "pawl stop " + held.Loop + " first; its work is kept"
	}
	return failure.New(failure.Usage, hint, "%w", held)
}

// acquire acquires the loop and its work tree. The error names the holder.
func acquire(ctx context.Context, st *store.Store, repo *git.Repo, s *loopinfo.Loop) (*store.Owner, func() error, error) {
	unlock, err := st.LockWorktree(ctx, repo, s.ID)
	if err != nil {
		return nil, nil, explainHeld(err)
	}
	owner, err := acquireLoop(ctx, s)
	if err != nil {
		return nil, nil, errors.Join(explainHeld(err), unlock())
	}
	return owner, func() error { return errors.Join(owner.Close(), unlock()) }, nil
}
