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

// setTimer sets a timer to the time limit of what the loop waits for; the zero time is none.
func setTimer(t *time.Timer, at time.Time) {
	if at.IsZero() {
		t.Stop()
	} else {
		t.Reset(nap(at))
	}
}

// checkDeadline reports the time limit if it has passed.
func (r *Runner) checkDeadline(ctx context.Context) error {
	if at := r.mem.State.Deadline(); at.IsZero() || time.Now().Before(at) {
		return nil
	}
	return r.step(ctx, loop.Event{Kind: loop.LimitHit, Limit: loop.Duration})
}
