package runner

import (
	"context"
	"sync"
	"time"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
)

// clock is what the loop's time was when it was last told.
type clock struct {
	mu   sync.Mutex
	told time.Time
	read time.Time // on the machine's clock, with its monotonic reading
}

// now returns the loop's time: that of the machine's clock, which somebody may set back.
// Then time goes on from where it was, so that no wait and no limit becomes longer.
func (r *Runner) now() time.Time {
	r.clock.mu.Lock()
	defer r.clock.mu.Unlock()
	read := time.Now()
	if r.MachineClock != nil {
		read = r.MachineClock()
	}
	on := r.clock.told.Add(time.Since(r.clock.read))
	if wall := read.Round(0); r.clock.told.IsZero() || wall.After(on) {
		on = wall
	}
	r.clock.told, r.clock.read = on, time.Now()
	return on
}

// setClock makes the loop's time go on from where its last owner left it.
func (r *Runner) setClock() {
	r.clock.mu.Lock()
	defer r.clock.mu.Unlock()
	r.clock.told, r.clock.read = r.mem.State.Now, time.Now()
}

// maxNap bounds how long a timer sleeps before it reads the clock again: a timer stands
// still while the machine is suspended, and knows nothing of a clock that is set.
const maxNap = 10 * time.Second

// nap is how long to sleep before the clock is read again, on the way to a time.
func (r *Runner) nap(until time.Time) time.Duration { return min(max(until.Sub(r.now()), 0), maxNap) }

// wait ends at a time, which may have passed while nobody was there.
func (r *Runner) wait(ctx context.Context, a loop.Action, _ memory.Memory) (loop.Event, error) {
	t := time.NewTimer(r.nap(a.Until))
	defer t.Stop()
	for {
		select {
		case <-t.C:
			if !r.now().Before(a.Until) {
				return loop.Event{Kind: loop.TimerFired}, nil
			}
			t.Reset(r.nap(a.Until))
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
		t.Reset(r.nap(at))
	}
}

// checkDeadline reports the time limit if it has passed.
func (r *Runner) checkDeadline(ctx context.Context) error {
	if at := r.mem.State.Deadline(); at.IsZero() || r.now().Before(at) {
		return nil
	}
	return r.step(ctx, loop.Event{Kind: loop.LimitHit, Limit: loop.Duration})
}
