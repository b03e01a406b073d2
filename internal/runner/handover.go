package runner

import (
	"context"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
)

// handOver leaves the loop to its next owner, who speaks first: Attend and Run
// return, and whoever called them starts it, or is it. What this owner saw and no
// look has been at is left behind too.
func (r *Runner) handOver(ctx context.Context, a loop.Action) error {
	switch {
	case r.attended():
		return nil
	case a.Owner == loop.OwnerRunner: // that is us
		return r.step(ctx, loop.Event{Kind: loop.HandedOver, Of: a.ID, Owner: loop.OwnerRunner, Text: a.Text})
	}
	left := r.mem.Attribution
	left.RunnerCallsOffset = max(left.RunnerCallsOffset, r.looked)
	if left.RunnerCallsOffset == r.mem.Attribution.RunnerCallsOffset {
		return nil
	}
	r.mem.Attribution = left
	return r.append(memory.TypeAttribution, left)
}

// takeIntoSession has the session take the loop, or keep it, where it is told to: that a
// loop waits for a session does not say for which. It tells whether the session did.
func (r *Runner) takeIntoSession(ctx context.Context) (bool, error) {
	switch p := r.mem.State.Phase; {
	case r.First.Kind == "", p == "", p == loop.New, p == loop.Ended:
		return false, nil
	}
	if err := r.tidy(ctx); err != nil { // the runner may have been killed
		return true, err
	}
	if err := r.shut(false); err != nil {
		return true, err
	}
	if err := r.step(ctx, r.First); err != nil {
		return true, err
	}
	return true, r.drain(ctx)
}
