package runner

import (
	"context"
	"time"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
)

// maxSleep bounds how long a timer sleeps before it reads the clock again: a timer stands
// still while the machine is suspended, and knows nothing of a clock that is set.
const maxSleep = 10 * time.Second

// sleepTime is how long to sleep before the clock is read again, on the way to a time.
func (r *Runner) sleepTime(until time.Time) time.Duration {
	return min(max(until.Sub(r.clock.Now()), 0), maxSleep)
}

// waitUntil ends at a time, which may have passed while nobody was there.
func (r *Runner) waitUntil(ctx context.Context, a loop.Action, _ memory.ActionContext) (loop.Event, error) {
	t := time.NewTimer(r.sleepTime(a.Until))
	defer t.Stop()
	for {
		select {
		case <-t.C:
			if !r.clock.Now().Before(a.Until) {
				return loop.Event{Kind: loop.TimerFired}, nil
			}
			t.Reset(r.sleepTime(a.Until))
		case <-ctx.Done():
			return loop.Event{}, ctx.Err()
		}
	}
}

// setTimer sets a timer to the time limit of what the loop waits for, if there is one.
func (r *Runner) setTimer(t *time.Timer) {
	if at := r.mem.State.Deadline(); at.IsZero() {
		t.Stop()
	} else {
		t.Reset(r.sleepTime(at))
	}
}

// checkDeadline reports the time limit if it has passed.
func (r *Runner) checkDeadline(ctx context.Context) error {
	if at := r.mem.State.Deadline(); at.IsZero() || r.clock.Now().Before(at) {
		return nil
	}
	return r.step(ctx, loop.Event{Kind: loop.LimitHit, Limit: loop.Duration})
}
