package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/proc"
	"github.com/pawl-dev/pawl/internal/protected"
	"github.com/pawl-dev/pawl/internal/record"
)

func (r *Runner) startEvent() loop.Event {
	p := r.Spec.Policy
	p.InSession = r.inSession // it may have been created for a session that was closed before the start
	started := loop.Started{Policy: p, Tasks: r.Spec.Tasks}
	if r.Spec.UnfinishedWork != nil {
		started.FirstTask = r.Spec.UnfinishedWork.Task
	}
	return loop.Event{Payload: started}
}

func (r *Runner) reopenEvent() loop.Event {
	reopened := loop.Reopened{Owner: loop.OwnerRunner, Limits: r.NewLimits}
	if r.inSession {
		reopened.Owner = loop.OwnerSession
	}
	return loop.Event{Payload: reopened}
}

// SetStartCommit sets the base of a loop that is not driven yet.
func (r *Runner) SetStartCommit(commit string) error {
	return r.appendRecord(memory.TypeBase, memory.Base{Commit: commit})
}

// stopError is an error because the user stopped the loop.
type stopError interface {
	error
	StopCause() string // a cause of loop.Cancelled
}

// Abandon ends a loop that could not start, or was stopped before. No final work is done.
func (r *Runner) Abandon(cause error) error {
	var err error
	if r.Spec.Identity, err = record.ReadIdentity(r.Loop); err != nil {
		return err
	}
	r.Observer = noObserver{}
	end := loop.Event{Payload: loop.Faulted{Error: cause.Error(), Hint: failure.Hint(cause)}}
	if s, ok := errors.AsType[stopError](cause); ok {
		end.Payload = loop.Cancelled{Cause: s.StopCause()}
	}
	for _, e := range []loop.Event{end, {Payload: loop.Concluded{}}} {
		if _, err := r.apply(e); err != nil {
			return err
		}
	}
	return nil
}

// adoptChangesSinceEnd adopts changes of protected files and the plan that were made after the
// loop's end: the agent did not run, so they are the user's. Changes from before the end are
// adopted only if no turn has begun.
func (r *Runner) adoptChangesSinceEnd(ctx context.Context) error {
	if r.Repo == nil || r.Protected == nil {
		return nil
	}
	points, err := r.Repo.Checkpoints(ctx, r.Loop.ID)
	end, known := FinalCheckpoint(points)
	noTurn := r.mem.State.Turns == 0 && !r.mem.HasUnattributed
	if err != nil || !known && !noTurn {
		return err
	}
	changed, err := r.Protected.Changes(ctx)
	if err != nil {
		return fmt.Errorf("compare protected files: %w", err)
	}
	isUsers := func(string) bool { return noTurn }
	if known {
		now, _, err := r.Repo.Snapshot(ctx)
		if err != nil {
			return fmt.Errorf("take a snapshot of the work tree: %w", err)
		}
		since, err := r.Repo.Diff(ctx, end.Tree, now)
		if err != nil {
			return fmt.Errorf("compare with the loop's end: %w", err)
		}
		isUsers = func(path string) bool {
			return slices.ContainsFunc(since, func(c git.Change) bool { return c.Path == path })
		}
	}
	for _, path := range changed {
		if path == r.Spec.Plan || !protected.InGitDir(path) && !isUsers(path) { // the agent's changes of git's configuration were restored at the end
			continue
		}
		r.note(loop.Info, path+" was changed since the loop ended: kept")
		if err := r.Protected.AcceptChange(path); err != nil {
			return fmt.Errorf("keep the change of %s: %w", path, err)
		}
	}
	if isUsers(r.Spec.Plan) {
		return r.adoptIdleEdit("since the loop ended")
	}
	return nil
}

// ApplyToEnded applies an event to a loop that has ended, such as a user's approval. It
// performs no turns and does not change the work tree.
func (r *Runner) ApplyToEnded(ctx context.Context, e loop.Event) (loop.State, error) {
	if err := r.loadMemory(); err != nil {
		return loop.State{}, err
	}
	if r.mem.State.Phase != loop.Ended {
		return r.mem.State, fmt.Errorf("loop %s was resumed", r.Loop.ID)
	}
	err := r.step(ctx, e)
	return r.mem.State, err
}

// EndWithoutTree ends a loop whose work tree is gone: it only writes the journal.
func (r *Runner) EndWithoutTree(why string) (loop.State, error) {
	if err := r.loadMemory(); err != nil {
		return loop.State{}, err
	}
	proc.SweepMarked(r.Loop.ID, sweepGrace)
	lost := loop.Faulted{Error: why}
	for _, p := range []loop.EventPayload{loop.OwnerChanged{}, loop.Cancelled{Cause: loop.ByStop, Reason: why}, lost, lost} {
		if r.mem.State.Phase == loop.Ended {
			break
		}
		if _, err := r.apply(loop.Event{Payload: p}); err != nil {
			return loop.State{}, err
		}
	}
	r.saveSnapshot()
	return r.mem.State, nil
}

// loadMemory reads the loop's journal, for work without turns.
func (r *Runner) loadMemory() (err error) {
	r.Observer = noObserver{}
	if r.Spec.Identity, err = record.ReadIdentity(r.Loop); err != nil {
		return err
	}
	if r.mem, r.mark, err = record.Load(r.Loop); err != nil {
		return fmt.Errorf("open loop %s: %w", r.Loop.ID, err)
	}
	return nil
}
