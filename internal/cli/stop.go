package cli

import (
	"context"
	"errors"
	"time"

	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/figure"
	"github.com/pawl-dev/pawl/internal/launch"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/store/journal"
)

type stopCmd struct {
	loopArg
	Wait time.Duration `default:"1m" placeholder:"TIME" help:"how long to wait for the end; 0 does not wait"`
}

func (stopCmd) Help() string {
	return `The turn under way is interrupted, what must not be cut in half is finished, and the work is kept.

  pawl stop brisk-otter`
}

// Run asks the loop to end and waits until it has.
func (c *stopCmd) Run(a *app) error {
	if err := a.byPerson("stop a loop"); err != nil {
		return err
	}
	s, err := a.find(c.Loop)
	if err != nil {
		return err
	}
	if err := s.notEnded(); err != nil {
		return err
	}
	if s.inSession() {
		return a.stopInSession(s, c.Wait)
	}
	if !s.alive {
		return a.endLost(s)
	}
	if err := s.post(record.MessageStop, ""); err != nil {
		return err
	}
	if c.Wait == 0 {
		a.printf("%s was asked to stop\n", s.ID)
		return nil
	}
	ctx, cancel := untilSignal()
	defer cancel()
	return a.awaitEnd(ctx, s, c.Wait)
}

// endLost ends a loop that nobody drives.
func (a *app) endLost(s *subject) (err error) {
	ctx, cancel := untilSignal()
	defer cancel()
	d, err := launch.Resume(ctx, s.Loop, a.env)
	if err != nil {
		return ended(ctx, err)
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	state, err := d.End(ctx)
	if err != nil {
		return ended(ctx, err)
	}
	a.printf("%s, which nobody drove, ended %s; its work is kept: pawl report %[1]s\n", s.ID, state.Outcome)
	return nil
}

// lookEvery is how often a loop that is ending is looked at.
const lookEvery = 100 * time.Millisecond

// awaitEnd waits until the loop has ended, its owner is gone, or it took too long.
func (a *app) awaitEnd(ctx context.Context, s *subject, patience time.Duration) error {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
		select {
		case <-ctx.Done():
			return ended(ctx, ctx.Err())
		case <-tick.C:
		}
		now, err := look(s.Loop)
		if _, damaged := errors.AsType[*journal.CorruptError](err); err != nil && !damaged {
			return err
		}
		switch {
		case now.hasEnded():
			a.printf("%s ended %s; its work is kept: pawl report %[1]s\n", now.ID, now.memory.State.Outcome)
			return nil
		case !now.alive && !now.inSession():
			return now.driven()
		}
	}
	return failure.New(failure.Error, "it was asked to and will; pawl status "+s.ID+" shows what it does",
		"loop %s has not ended within %s", s.ID, figure.Duration(patience))
}
