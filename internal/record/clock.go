package record

import (
	"sync"
	"time"

	"github.com/pawl-dev/pawl/internal/core/loop"
)

// Clock is a loop's clock. It follows the machine's clock, but never goes back: if the
// machine's clock is set back, time continues from where it was, so that no wait and no
// limit becomes longer. The loop's owner stamps all events with it.
type Clock struct {
	Machine func() time.Time // nil = time.Now

	mu       sync.Mutex
	loopTime time.Time // the loop's time when Now or Stamp was last called
	readAt   time.Time // the machine's time of that call, with its monotonic reading
}

// AdvanceTo moves the clock forward to a time that an owner recorded before. It never
// moves it back.
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

// Stamp returns the event with the current time. Times of day in it are shifted to the
// loop's clock, so that a wait takes as long as by the machine's clock even if the loop's
// clock is ahead of that.
func (c *Clock) Stamp(e loop.Event) loop.Event {
	now, ahead := c.now()
	e.At = now
	switch p := e.Payload.(type) {
	case loop.AgentFailed:
		if until := &p.Failure.Until; !until.IsZero() {
			*until = until.Add(ahead)
			e.Payload = p
		}
	case loop.GatesFinished:
		if retry := &p.Gates.RetryAt; !retry.IsZero() {
			*retry = retry.Add(ahead)
			e.Payload = p
		}
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

// current returns the last time of the clock plus the time since then.
func (c *Clock) current() time.Time {
	if c.loopTime.IsZero() {
		return c.loopTime
	}
	return c.loopTime.Add(time.Since(c.readAt))
}
