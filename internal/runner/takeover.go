package runner

import (
	"context"
	"fmt"
	"slices"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/frozen"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/record"
)

// Abandon ends a loop that could not begin: there is no work of the end to do.
func (r *Runner) Abandon(cause error) error {
	var err error
	if r.Spec.Identity, err = record.ReadIdentity(r.Loop); err != nil {
		return err
	}
	r.Observer = noObserver{}
	for _, e := range []loop.Event{{Kind: loop.Faulted, Text: cause.Error(), Hint: failure.Hint(cause)}, {Kind: loop.Concluded}} {
		if _, err := r.apply(e); err != nil {
			return err
		}
	}
	return nil
}

// End takes up a loop whose owner is gone only to end it: a turn that was cut
// off is not begun again; a commit that was is finished.
func (r *Runner) End(ctx context.Context) (loop.State, error) {
	r.Observer, r.cancelCause = noObserver{}, loop.ByStop
	return r.Run(ctx)
}

// SetStartCommit makes a commit the base of a loop that is not being driven yet.
func (r *Runner) SetStartCommit(commit string) error {
	return r.appendRecord(memory.TypeBase, memory.Base{Commit: commit})
}

// takeOver makes ready to go on from where the loop stands and gives the event to
// begin with.
func (r *Runner) takeOver(ctx context.Context) (loop.Event, error) {
	e := loop.Event{Kind: loop.OwnerLost}
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
	case phase == loop.HandingOver && !r.mem.Attended(r.Spec.Policy):
		e = loop.Event{Kind: loop.HandedOver, Owner: loop.OwnerRunner, Text: "the session did not take it"}
	case r.mem.Attended(r.Spec.Policy):
		e = loop.Event{Kind: loop.HandedOver, Owner: loop.OwnerRunner}
		if err := r.setCallsClosed(true); err != nil {
			return e, err
		}
	}
	if e.Kind != loop.Started {
		if err := r.cleanUpAfterOwner(ctx); err != nil {
			return e, err
		}
	}
	if r.cancelCause == "" {
		return e, nil
	}
	return e, r.step(ctx, loop.Event{Kind: loop.Cancelled, Text: r.cancelCause})
}

// adoptChangesSinceEnd takes protected files and the plan as the user left them after the loop's end, when
// nothing of the agent's was at work. A change that was there at the end is not among these, unless
// no turn has begun.
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
		if path == r.Spec.Plan || !frozen.InGitDir(path) && !isUsers(path) { // at the end the agent's settings of git were put back
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
	p.Attended = r.attended() // it may have been begun in a session that did not live to see it start
	e := loop.Event{Kind: loop.Started, Start: &loop.Start{Policy: p, Tasks: r.Spec.Tasks}}
	if r.Spec.UnfinishedWork != nil {
		e.Start.FirstTask = r.Spec.UnfinishedWork.Task
	}
	return e
}

func (r *Runner) reopenEvent() loop.Event {
	e := loop.Event{Kind: loop.Reopened, Owner: loop.OwnerRunner, Start: &loop.Start{Policy: loop.Policy{Limits: r.NewLimits}}}
	if r.attended() {
		e.Owner = loop.OwnerSession
	}
	return e
}

// handOver leaves the loop to its next owner, who speaks first: Attend and Run
// return, and whoever called them starts it, or is it. What this owner saw and no
// look has been at is left behind too.
func (r *Runner) handOver(ctx context.Context, a loop.Action) error {
	switch {
	case r.attended():
		return nil
	case a.Owner == loop.OwnerRunner: // that is us
		return r.step(ctx, loop.Event{Kind: loop.HandedOver, ActionID: a.ID, Owner: loop.OwnerRunner, Text: a.Text})
	}
	left := r.mem.Attribution
	left.RunnerCallsOffset = max(left.RunnerCallsOffset, r.inspectedCallBytes)
	if left.RunnerCallsOffset == r.mem.Attribution.RunnerCallsOffset {
		return nil
	}
	r.mem.Attribution = left
	return r.appendRecord(memory.TypeAttribution, left)
}

// takeIntoSession has the session take the loop, or keep it, where it is told to: that a
// loop waits for a session does not say for which. It tells whether the session did.
func (r *Runner) takeIntoSession(ctx context.Context) (bool, error) {
	switch p := r.mem.State.Phase; {
	case r.FirstEvent.Kind == "", p == "", p == loop.New, p == loop.Ended:
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
