package runner

import (
	"context"
	"time"

	"github.com/pawl-dev/pawl/internal/core/loop"
)

// maxNap bounds how long a timer sleeps before it reads the clock again: a timer stands
// still while the machine is suspended, and knows nothing of a clock that is set.
const maxNap = 10 * time.Second

// nap is how long to sleep before the clock is read again, on the way to a time.
func nap(until time.Time) time.Duration { return min(max(time.Until(until), 0), maxNap) }

// sleepUntil returns at a time of the clock, or when ctx is done.
func sleepUntil(ctx context.Context, until time.Time) error {
	t := time.NewTimer(nap(until))
	defer t.Stop()
	for {
		select {
		case <-t.C:
			if !time.Now().Before(until) {
				return nil
			}
			t.Reset(nap(until))
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// setTimer sets the timer of Run's goroutine to the time limit of what the loop waits for.
// Who only takes an event to an ended loop has none.
func (r *Runner) setTimer() {
	if r.timer == nil {
		return
	}
	if at := r.mem.State.Deadline(); at.IsZero() {
		r.timer.Stop()
	} else {
		r.timer.Reset(nap(at))
	}
}

// checkDeadline reports the time limit if it has passed.
func (r *Runner) checkDeadline(ctx context.Context) error {
	at := r.mem.State.Deadline()
	if at.IsZero() || time.Now().Before(at) {
		r.setTimer()
		return nil
	}
	return r.step(ctx, loop.Event{Kind: loop.LimitHit, Limit: loop.Duration})
}
