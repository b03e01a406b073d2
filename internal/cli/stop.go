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
	a.printf("%s, which nobody drove, ended %s; its work is kept: pawl report %[1]s\n", s.ID, state.Outcome)
	a.sayNotMade(s.ID, state)
	return nil
}

// sayNotMade names the edits of the plan that wait at the end of a loop.
func (a *app) sayNotMade(id string, s loop.State) {
	for _, text := range narrate.EditsNotMade(s) {
		a.printf("not made yet: %s; %s makes it\n", text, s.ResumeCommand(id))
	}
}

// pollInterval is how often a loop that is ending is looked at.
const pollInterval = 100 * time.Millisecond

// awaitEnd waits until the loop has ended and the process that drives it is gone. It
// says so if that process died before, or if the end took too long.
func (a *app) awaitEnd(ctx context.Context, s *subject, timeout time.Duration) error {
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	host, _ := os.Hostname() // "" is nobody's
	// A process that drives a session's loop does not end with it.
	watched := s.alive && !s.inSession() && s.holder.Host == host
	now := s
	for deadline := time.Now().Add(timeout); time.Now().Before(deadline); {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
		var err error
		if now, err = readable(s.Loop); err != nil {
			return err
		}
		switch {
		case now.hasEnded() && !now.alive && !(watched && proc.Alive(s.holder.PID)):
			a.printf("%s ended %s; its work is kept: pawl report %[1]s\n", now.ID, now.memory.State.Outcome)
			a.sayNotMade(now.ID, now.memory.State)
			return nil
		case !now.hasEnded() && !now.alive && !now.inSession():
			return now.requireDriver()
		}
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
