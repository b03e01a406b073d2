package runner

import (
	"context"
	"fmt"
	"slices"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/protected"
	"github.com/pawl-dev/pawl/internal/record"
)

// Abandon ends a loop that could not begin. No final work is done.
func (r *Runner) Abandon(cause error) error {
	var err error
	if r.Spec.Identity, err = record.ReadIdentity(r.Loop); err != nil {
		return err
	}
	r.Observer = noObserver{}
	for _, e := range []loop.Event{{Payload: loop.Faulted{Error: cause.Error(), Hint: failure.Hint(cause)}}, {Payload: loop.Concluded{}}} {
		if _, err := r.apply(e); err != nil {
			return err
		}
	}
	return nil
}

// End takes over an orphaned loop in order to end it. It does not repeat an interrupted turn,
// but finishes an interrupted commit.
func (r *Runner) End(ctx context.Context) (loop.State, error) {
	r.Observer, r.cancelCause = noObserver{}, loop.ByStop
	return r.Run(ctx)
}

// SetStartCommit sets the base of a loop that is not driven yet.
func (r *Runner) SetStartCommit(commit string) error {
	return r.appendRecord(memory.TypeBase, memory.Base{Commit: commit})
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
		e = loop.Event{Payload: loop.HandedOver{To: loop.OwnerRunner, Why: "the session did not take it"}}
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
	if r.cancelCause == "" {
		return e, nil
	}
	return e, r.step(ctx, loop.Event{Payload: loop.Cancelled{Cause: r.cancelCause}})
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
		return r.adoptUserEdit("since the loop ended")
	}
	return nil
}

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

// handOver hands the loop over to its next owner, which sends the first event. RunInSession and Run
// return, and their caller starts the next owner or is it. Calls that this owner has inspected
// are journalled for it.
func (r *Runner) handOver(ctx context.Context, id int, h loop.HandOver) error {
	switch {
	case r.inSession:
		return nil
	case h.To == loop.OwnerRunner: // this process
		return r.step(ctx, loop.Event{ActionID: id, Payload: loop.HandedOver{To: loop.OwnerRunner, Why: h.Why}})
	}
	left := r.mem.Attribution
	left.RunnerCallsOffset = max(left.RunnerCallsOffset, r.inspectedCallBytes)
	if left.RunnerCallsOffset == r.mem.Attribution.RunnerCallsOffset {
		return nil
	}
	r.mem.Attribution = left
	return r.appendRecord(memory.TypeAttribution, left)
}

// takeIntoSession takes the loop into this session, or keeps it there, if FirstEvent is set. A
// handover does not name its session, so the caller decides. It reports whether it did.
func (r *Runner) takeIntoSession(ctx context.Context) (bool, error) {
	switch p := r.mem.State.Phase; {
	case r.FirstEvent.Payload == nil, p == "", p == loop.New, p == loop.Ended:
		return false, nil
	}
	if err := r.cleanUpAfterOwner(ctx); err != nil { // the runner may have been killed
		return true, err
	}
	if err := r.setCallsClosed(false); err != nil {
		return true, err
	}
	if err := r.step(ctx, r.FirstEvent); err != nil {
		return true, err
	}
	return true, r.receiveMessages(ctx)
}
