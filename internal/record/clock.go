package record

import (
	"sync"
	"time"

	"github.com/pawl-dev/pawl/internal/core/loop"
)

// Clock tells a loop's time: that of the machine's clock, which somebody may set back.
// Then time goes on from where it was, so that no wait and no limit becomes longer.
// Whoever owns the loop stamps its events by one.
type Clock struct {
	Machine func() time.Time // nil = time.Now

	mu       sync.Mutex
	loopTime time.Time // the loop's time when it was last told
	readAt   time.Time // at that moment, with its monotonic reading
}

// AdvanceTo makes the loop's time go on from a time that was told before, by any owner,
// unless it is later already.
func (c *Clock) AdvanceTo(loopTime time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if loopTime.After(c.current()) {
		c.loopTime, c.readAt = loopTime, time.Now()
	}
}

// Now returns the loop's time.
func (c *Clock) Now() time.Time {
	now, _ := c.now()
	return now
}

// Stamp sets the time of an event that happens now. A time of day that it carries becomes
// the loop's: the wait for it takes as long as by the machine's clock, though that was
// wrongly ahead before, and the loop's time still is.
func (c *Clock) Stamp(e loop.Event) loop.Event {
	now, ahead := c.now()
	e.At = now
	if f := e.Failure; f != nil && !f.Until.IsZero() {
		shifted := *f
		shifted.Until = f.Until.Add(ahead)
		e.Failure = &shifted
	}
	if g := e.Gates; g != nil && !g.RetryAt.IsZero() {
		shifted := *g
		shifted.RetryAt = g.RetryAt.Add(ahead)
		e.Gates = &shifted
	}
	return e
}

// now returns the loop's time, and how far it is ahead of the machine's clock.
func (c *Clock) now() (now time.Time, ahead time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	machineNow := time.Now()
	if c.Machine != nil {
		machineNow = c.Machine()
	}
	machineTime, now := machineNow.Round(0), c.current()
	if c.loopTime.IsZero() || machineTime.After(now) {
		now = machineTime
	}
	c.loopTime, c.readAt = now, time.Now()
	return now, now.Sub(machineTime).Truncate(time.Second)
}

// current is the time that was told last, plus what has passed since.
func (c *Clock) current() time.Time {
	if c.loopTime.IsZero() {
		return c.loopTime
	}
	return c.loopTime.Add(time.Since(c.readAt))
}
