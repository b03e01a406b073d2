package runner

import (
	"context"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/record"
)

// handOver leaves the loop to its next owner, who speaks first: Attend and Run
// return, and whoever called them starts it, or is it. What this owner saw and no
// look has been at is left behind too.
func (r *Runner) handOver(ctx context.Context, a loop.Action) error {
	switch {
	case r.attended():
		return nil
	case a.Owner == loop.OwnerRunner: // that is us
		return r.step(ctx, loop.Event{Kind: loop.HandedOver, Owner: loop.OwnerRunner, Text: a.Text})
	}
	left := r.mem.Sorted
	left.Ran = max(left.Ran, r.looked)
	if left.Ran == r.mem.Sorted.Ran {
		return nil
	}
	r.mem.Sorted = left
	return r.append(record.TypeSorted, left)
}

// takeSeat has the session take a loop that waits for it, or that it is told to
// take. It tells whether the session did.
func (r *Runner) takeSeat(ctx context.Context) (bool, error) {
	first := r.First
	switch r.mem.State.Phase {
	case "", loop.New, loop.Ended:
		return false, nil
	}
	if first.Kind == "" {
		a, ok := r.mem.State.Asked(loop.HandOver)
		if !ok || r.mem.State.Phase != loop.HandingOver || a.Owner != loop.OwnerSession {
			return false, nil
		}
		first = loop.Event{Kind: loop.HandedOver, Owner: loop.OwnerSession, Text: a.Text}
	}
	if err := r.tidy(ctx); err != nil { // the runner may have been killed
		return true, err
	}
	if err := r.step(ctx, first); err != nil {
		return true, err
	}
	return true, r.drain(ctx)
}
