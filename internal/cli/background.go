package cli

import (
	"context"
	"errors"
	"fmt"
	"os/signal"
	"syscall"

	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/launch"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/term"
)

// sessionRunCmd is `pawl session run`.
type sessionRunCmd struct {
	loopID
	After int64 `required:"" placeholder:"EPOCH" help:"only if the owner is still this one"`
	Now   bool  `help:"in any phase; else only during a handover"`
	limitFlags
}

// Run continues a loop in fresh sessions until it ends or a session takes it over.
func (c *sessionRunCmd) Run(a *app, l *store.Loop) (err error) {
	signal.Ignore(syscall.SIGHUP)
	begin := a.untilSignal()
	if err := launch.RefuseResume(begin, l, a.env); err != nil {
		return err
	}
	d, err := launch.Successor{After: c.After, Now: c.Now, Limits: c.given()}.Resume(begin, l, a.env)
	if err != nil || d == nil {
		return err
	}
	return a.runLoop(d, driveOptions{mode: term.Quiet, detached: true})
}

// background returns the launcher of processes that continue loops.
func (a *app) background() launch.Background {
	return launch.Background{Tool: a.self, Dir: a.dir, Env: a.env}
}

const releaseReason = "released for a session to take over"

// awaitTake waits for the session that asked for the loop. If the session does not come in time, it
// acquires the loop again. A signal ends the wait. The driver is nil if another owner came.
func (a *app) awaitTake(d *launch.Driver, e *signalHandler) (*launch.Driver, error) {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	go func() {
		select {
		case why := <-e.causes:
			cancel(errors.New(why))
		case <-ctx.Done():
		}
	}()
	back, err := d.ReleaseForSession(ctx, a.env, launch.TakeTimeout)
	if ctx.Err() != nil {
		return nil, failure.New(failure.Error, fmt.Sprintf("pawl resume %s continues it;  ! pawl start --take %[1]s  in Claude Code takes it", d.Loop.ID),
			"no process runs loop %s now: no session took it (%w)", d.Loop.ID, err)
	}
	return back, err
}

// detach creates the loop and starts a process for it that outlives this one and its terminal.
func (c *runCmd) detach(a *app, p *launch.Prepared) error {
	ctx := a.untilSignal()
	p.Spec.DetachOnHangup = true // also of who resumes it in a terminal
	l, _, err := p.Create(ctx)
	if err != nil {
		return err
	}
	return a.startInBackground(ctx, l, backgroundRun{quiet: c.Quiet})
}

// backgroundRun holds the options for continuing a loop in another process.
type backgroundRun struct {
	epoch int64    // of the current owner
	flags []string // more options for pawl session run
	quiet bool     // print only the id
}

// startInBackground starts the process that drives a loop and prints the commands for it.
func (a *app) startInBackground(ctx context.Context, l *store.Loop, b backgroundRun) error {
	pid, err := a.background().StartDriver(ctx, l, b.epoch, append(b.flags, "--now")...)
	switch {
	case ctx.Err() != nil:
		term.Warnf(a.Err, "%s may have started in the background:  pawl status %[1]s  shows it,  pawl stop %[1]s  ends it", l.ID)
		return ctx.Err()
	case err != nil && failure.Hint(err) == "":
		return failure.New(failure.CodeOf(err), "fix that, then  pawl resume "+l.ID, "%w", err)
	case err != nil:
		return err
	case b.quiet:
		a.printf("%s\n", l.ID)
		return nil
	}
	a.printf("%s runs in the background (process %d)\n  watch  pawl attach %[1]s\n  tell   pawl tell %[1]s \"…\"\n  stop   pawl stop %[1]s\n", l.ID, pid)
	return nil
}
