package runner

import (
	"context"
	"time"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
)

// maxSleep is how long to sleep at most before reading the clock again: a timer stops while
// the machine is suspended, and ignores changes of the clock.
const maxSleep = 10 * time.Second

// sleepTime returns how long to sleep before reading the clock again, when waiting until a time.
func (r *Runner) sleepTime(until time.Time) time.Duration {
	return min(max(until.Sub(r.clock.Now()), 0), maxSleep)
}

// waitUntil waits until the action's time, which may have passed already.
func (r *Runner) waitUntil(ctx context.Context, a loop.Wait, _ memory.ActionContext) (loop.EventPayload, error) {
	t := time.NewTimer(r.sleepTime(a.Until))
	defer t.Stop()
	for {
		select {
		case <-t.C:
			if !r.clock.Now().Before(a.Until) {
				return loop.TimerFired{}, nil
			}
			t.Reset(r.sleepTime(a.Until))
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// setTimer sets the timer to the current time limit, if there is one.
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
	return r.step(ctx, loop.Event{Payload: loop.LimitHit{Limit: loop.Duration}})
}
