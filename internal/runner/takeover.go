package runner

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/proc"
)

// End takes over an orphaned loop in order to end it. It does not repeat an interrupted turn,
// but finishes an interrupted commit.
func (r *Runner) End(ctx context.Context) (loop.State, error) {
	r.Observer, r.cancelCause = noObserver{}, loop.ByStop
	return r.Run(ctx)
}

// takeOver prepares to continue the loop from its state and returns the first event.
func (r *Runner) takeOver(ctx context.Context) (loop.Event, error) {
	e := loop.Event{Payload: loop.OwnerChanged{}}
	switch phase := r.mem.State.Phase; {
	case phase == "" || phase == loop.New, phase == loop.Ended && r.Reopen && r.mem.State.StartedAt.IsZero():
		e = r.startEvent()
	case phase == loop.Ended && r.Reopen:
		e = r.reopenEvent()
		if err := r.alignIndex(ctx); err != nil {
			return e, err
		}
		if err := r.adoptChangesSinceEnd(ctx); err != nil {
			return e, err
		}
	case phase == loop.HandingOver && !r.mem.InSession(r.Spec.Policy):
		e = loop.Event{Payload: loop.HandedOver{To: loop.OwnerRunner, Why: "the session did not take the loop"}}
	case r.mem.InSession(r.Spec.Policy):
		e = loop.Event{Payload: loop.HandedOver{To: loop.OwnerRunner}}
		if err := r.setCallsClosed(true); err != nil {
			return e, err
		}
	}
	if e.Kind() != loop.KindStarted {
		if err := r.cleanUpAfterOwner(ctx); err != nil {
			return e, err
		}
	}
	if r.mem.HasUnattributed && !r.mem.InSession(r.Spec.Policy) {
		r.authors.AddAnyChange() // the last owner's observations are lost
	}
	if r.cancelCause == "" {
		return e, nil
	}
	return e, r.step(ctx, loop.Event{Payload: loop.Cancelled{Cause: r.cancelCause}})
}

// takeOverInSession performs the pending actions again that another process of the session was
// interrupted at.
func (r *Runner) takeOverInSession(ctx context.Context) error {
	if err := r.cleanUpAfterOwner(ctx); err != nil {
		return err
	}
	if r.mem.State.Phase == loop.TurningIsolated { // it was cut off
		return r.step(ctx, loop.Event{Payload: loop.OwnerChanged{}})
	}
	return r.act(ctx, r.mem.State.Pending)
}

// cleanUpAfterOwner ends the processes of an owner that was killed, and removes its temporary
// files, which would count as work, and its checkouts, which git lists as worktrees.
func (r *Runner) cleanUpAfterOwner(ctx context.Context) error {
	proc.SweepMarked(r.Loop.ID, sweepGrace)
	status, err := r.Repo.Status(ctx)
	if err != nil {
		return fmt.Errorf("look at the work tree: %w", err)
	}
	for _, name := range status.Untracked {
		if atomicfile.IsTemp(path.Base(name)) && !slices.Contains(r.Spec.Untracked, name) {
			if err := os.Remove(filepath.Join(r.Repo.Root(), filepath.FromSlash(name))); err != nil {
				return fmt.Errorf("clear up after a killed owner: %w", err)
			}
		}
	}
	if err := r.authors.TakeOver(); err != nil {
		return err
	}
	if err := r.Verify.RemoveStaleCheckouts(ctx); err != nil {
		r.note(loop.Anomaly, "could not remove the worktree of a killed process: "+err.Error())
	}
	return nil
}
