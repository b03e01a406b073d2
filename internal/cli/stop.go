package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/figure"
	"github.com/pawl-dev/pawl/internal/launch"
	"github.com/pawl-dev/pawl/internal/narrate"
	"github.com/pawl-dev/pawl/internal/proc"
	"github.com/pawl-dev/pawl/internal/record"
)

type stopCmd struct {
	unendedArg
	Wait time.Duration `default:"1m" placeholder:"TIME" help:"how long to wait for the end; 0 = return at once"`
}

// Run asks the loop to end and waits until it has.
func (c *stopCmd) Run(ctx context.Context, a *app, s *subject) error {
	if s.hasEnded() && s.alive && c.Wait > 0 {
		return a.awaitEnd(ctx, s, c.Wait)
	}
	if err := s.notEnded(); err != nil {
		return err
	}
	if s.isStranded() {
		return a.giveUp(s)
	}
	if s.inSession() {
		return a.stopInSession(ctx, s, c.Wait)
	}
	if !s.alive {
		return a.endOrphaned(ctx, s)
	}
	if err := s.post(record.MessageStop, ""); err != nil {
		return err
	}
	if c.Wait == 0 {
		a.printf("%s was asked to stop; process %d drives it\n", s.ID, s.holder.PID)
		return nil
	}
	return a.awaitEnd(ctx, s, c.Wait)
}

// endOrphaned ends a loop that nobody drives.
func (a *app) endOrphaned(ctx context.Context, s *subject) (err error) {
	d, err := launch.Resume(ctx, s.Loop, a.env, launch.ResumeOptions{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	state, err := d.End(ctx)
	if err != nil {
		return err
	}
	a.sayEnded(s.ID, ", which nobody drove,", state)
	return nil
}

// sayEnded says how a loop ended, with a remark on it, and which edits of the plan wait.
func (a *app) sayEnded(id, remark string, s loop.State) {
	a.printf("%s%s ended %s; its work is kept: pawl report %[1]s\n", id, remark, s.Outcome)
	for _, text := range narrate.EditsNotMade(s) {
		a.printf("not made yet: %s; %s makes it\n", text, s.ResumeCommand(id))
	}
}

// pollInterval is how often a loop that is about to change is looked at.
const pollInterval = 100 * time.Millisecond

// poll looks until something is done, and reports whether it is when the time is over.
func poll(ctx context.Context, timeout time.Duration, look func() (done bool, err error)) (done bool, err error) {
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for deadline := time.Now().Add(timeout); time.Now().Before(deadline); {
		select {
		case <-ctx.Done():
			return false, ctx.Err()
		case <-tick.C:
		}
		if done, err = look(); done || err != nil {
			return done, err
		}
	}
	return false, nil
}

// awaitEnd waits until the loop has ended and the process that drives it is gone. It
// says so if that process died before, or if the end took too long.
func (a *app) awaitEnd(ctx context.Context, s *subject, timeout time.Duration) error {
	host, _ := os.Hostname() // "" is nobody's
	// A process that drives a session's loop does not end with it.
	watched := s.alive && !s.inSession() && s.holder.Host == host
	now := s
	ended, err := poll(ctx, timeout, func() (ended bool, err error) {
		if now, err = readable(s.Loop); err != nil {
			return false, err
		}
		if !now.hasEnded() && !now.alive && !now.inSession() {
			return false, now.requireDriver()
		}
		return now.hasEnded() && !now.alive && !(watched && proc.Alive(s.holder.PID)), nil
	})
	switch {
	case err != nil:
		return err
	case ended:
		a.sayEnded(now.ID, "", now.memory.State)
		return nil
	}
	now.holder = s.holder
	return now.stillRuns(timeout)
}

// stillRuns is the error for a loop whose process has not ended in time.
func (s *subject) stillRuns(timeout time.Duration) error {
	waited := figure.Duration(timeout)
	switch {
	case s.hasEnded():
		return failure.New(failure.Error, fmt.Sprintf("kill %d ends the process; nothing of the loop is lost", s.holder.PID),
			"loop %s has ended %s, but process %d still runs after %s", s.ID, s.memory.State.Outcome, s.holder.PID, waited)
	case s.inSession():
		return failure.New(failure.Error, "it was asked to and will; pawl status "+s.ID+" shows what it does",
			"loop %s has not ended within %s", s.ID, waited)
	}
	return failure.New(failure.Error,
		fmt.Sprintf("pawl status %s shows what it does; to end it without waiting: kill -9 %d && pawl stop %[1]s", s.ID, s.holder.PID),
		"loop %s was asked to stop and has not ended within %s: process %d still runs", s.ID, waited, s.holder.PID)
}
