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
	"github.com/pawl-dev/pawl/internal/loopinfo"
	"github.com/pawl-dev/pawl/internal/narrate"
	"github.com/pawl-dev/pawl/internal/proc"
	"github.com/pawl-dev/pawl/internal/record"
)

type stopCmd struct {
	unendedArg
	Wait time.Duration `default:"1m" placeholder:"TIME" help:"how long to wait for the end; 0 = return at once"`
}

// Run asks the loop to end and waits until it has.
func (c *stopCmd) Run(ctx context.Context, a *app, s *loopinfo.Loop) error {
	if s.HasEnded() && s.Alive && c.Wait > 0 {
		return a.awaitEnd(ctx, s, c.Wait)
	}
	if err := requireUnended(s); err != nil {
		return err
	}
	if s.CannotContinue() {
		if err := s.GiveUp(time.Now()); err != nil {
			return err
		}
		a.printf("%s was ended: its journal is damaged; journal, commits and checkpoints are kept\n", s.ID)
		return nil
	}
	if s.InSession() {
		return a.stopInSession(ctx, s, c.Wait)
	}
	if !s.Alive {
		return a.endOrphaned(ctx, s)
	}
	if err := post(s, record.MessageStop, ""); err != nil {
		return err
	}
	if c.Wait == 0 {
		a.printf("%s was asked to stop; process %d drives it\n", s.ID, s.Driver.PID)
		return nil
	}
	return a.awaitEnd(ctx, s, c.Wait)
}

// endOrphaned ends a loop that nobody drives.
func (a *app) endOrphaned(ctx context.Context, s *loopinfo.Loop) (err error) {
	if lost := launch.LostRepository(ctx, s.Spec); lost != "" {
		state, err := launch.EndLost(ctx, s.Loop, a.env, lost)
		if err == nil {
			a.printf("%s ended %s: %s; its journal and report are kept\n", s.ID, state.Outcome, lost)
		}
		return err
	}
	d, err := launch.Resume(ctx, s.Loop, a.env, launch.ResumeOptions{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	state, err := d.End(ctx)
	if err != nil {
		return err
	}
	a.printEnded(s.ID, ", which was not running,", state)
	return nil
}

// printEnded says how a loop ended, with a remark, and which edits of the plan wait.
func (a *app) printEnded(id, remark string, s loop.State) {
	a.printf("%s%s ended %s; its work is kept: pawl report %[1]s\n", id, remark, s.Outcome)
	for _, text := range narrate.EditsNotMade(s) {
		a.printf("not applied yet: %s; %s applies it\n", text, s.ResumeCommand(id))
	}
}

// awaitEnd waits until the loop has ended and its process is gone. It fails if that process died
// before, or if the end took too long.
func (a *app) awaitEnd(ctx context.Context, s *loopinfo.Loop, timeout time.Duration) error {
	host, _ := os.Hostname() // no driver has the host ""
	// A process that drives a session's loop does not end with it.
	watched := s.Alive && !s.InSession() && s.Driver.Host == host
	now := s
	ended, err := launch.Poll(ctx, timeout, func() (ended bool, err error) {
		if now, err = loopinfo.ReadDamaged(s.Loop); err != nil {
			return false, err
		}
		if !now.HasEnded() && !now.Alive && !now.InSession() {
			return false, requireDriver(now)
		}
		return now.HasEnded() && !now.Alive && !(watched && proc.Alive(s.Driver.PID)), nil
	})
	switch {
	case err != nil:
		return err
	case ended:
		a.printEnded(now.ID, "", now.Memory.State)
		return nil
	}
	waited := figure.Duration(timeout)
	switch {
	case now.HasEnded():
		return failure.New(failure.Error, fmt.Sprintf("kill %d ends the process; nothing of the loop is lost", s.Driver.PID),
			"loop %s has ended %s, but process %d still runs after %s", s.ID, now.Memory.State.Outcome, s.Driver.PID, waited)
	case now.InSession():
		return failure.New(failure.Error, "it was asked to end and will; pawl status "+s.ID+" shows what it does",
			"loop %s has not ended within %s", s.ID, waited)
	}
	return failure.New(failure.Error,
		fmt.Sprintf("pawl status %s shows what it does; to end it without waiting: kill -9 %d && pawl stop %[1]s", s.ID, s.Driver.PID),
		"loop %s was asked to stop and has not ended within %s: process %d still runs", s.ID, waited, s.Driver.PID)
}

// stopInSession ends a loop that lives in a session. The agent's current turn continues, because it
// belongs to the session.
func (a *app) stopInSession(ctx context.Context, s *loopinfo.Loop, timeout time.Duration) error {
	if err := post(s, record.MessageStop, ""); err != nil {
		return err
	}
	now, err := a.deliverInbox(s)
	switch {
	case err != nil:
		return err
	case now.HasEnded():
		a.printEnded(s.ID, "", now.Memory.State)
		return nil
	case timeout == 0:
		a.printf("%s was asked to stop\n", s.ID)
		return nil
	}
	return a.awaitEnd(ctx, s, timeout)
}
