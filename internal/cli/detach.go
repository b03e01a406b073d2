package cli

import (
	"context"

	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/launch"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/term"
)

// detach creates the loop and leaves it to a process of its own, which outlives this
// one and its terminal.
func (c *runCmd) detach(a *app, p *launch.Prepared) error {
	ctx := a.untilSignal()
	p.Spec.DetachOnHangup = true // also of who resumes it in a terminal
	l, err := p.Create(ctx)
	if err != nil {
		return err
	}
	return a.inBackground(ctx, l, background{quiet: c.Quiet})
}

// background says how a loop goes on without this process.
type background struct {
	epoch int64    // of the owner so far
	flags []string // of session run, beside those that every loop gets
	quiet bool     // print the id alone
}

// inBackground starts the process that drives a loop, and says what to type next.
func (a *app) inBackground(ctx context.Context, l *store.Loop, b background) error {
	pid, err := a.startDriver(ctx, l, b.epoch, append(b.flags, "--now")...)
	switch {
	case ctx.Err() != nil:
		term.Warnf(a.Err, "%s may have begun in the background:  pawl status %[1]s  shows it,  pawl stop %[1]s  ends it", l.ID)
		return ctx.Err()
	case err != nil && failure.Hint(err) == "":
		return failure.New(failure.CodeOf(err), "put that right, then  pawl resume "+l.ID, "%w", err)
	case err != nil:
		return err
	case b.quiet:
		a.printf("%s\n", l.ID)
		return nil
	}
	a.printf("%s runs in the background (process %d)\n  watch  pawl attach %[1]s\n  tell   pawl tell %[1]s \"…\"\n  stop   pawl stop %[1]s\n", l.ID, pid)
	return nil
}
