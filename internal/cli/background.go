package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/launch"
	"github.com/pawl-dev/pawl/internal/loopinfo"
	"github.com/pawl-dev/pawl/internal/proc"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/term"
)

// A loop that leaves its session continues in a process of its own, which outlives
// the session, its client and the terminal; so does one that was begun with --detach.
// What that process says is in run.log in the loop's folder, what it shows in screen.jsonl.

// sessionRunCmd is `pawl session run`.
type sessionRunCmd struct {
	loopID
	After int64 `required:"" placeholder:"EPOCH" help:"only if the owner is still this one"`
	Now   bool  `help:"in any phase; else only during a handover"`
	limitFlags
}

// runTimeout is how long whoever hands the loop over may take to let go of it.
const runTimeout = 5 * time.Second

// Run continues with a loop in fresh sessions, to its end or until a session takes it.
func (c *sessionRunCmd) Run(a *app, l *store.Loop) (err error) {
	signal.Ignore(syscall.SIGHUP)
	begin := a.untilSignal()
	if err := launch.RefuseResume(begin, l, a.env); err != nil {
		return err
	}
	d, err := a.resumeSoon(begin, l, c)
	if err != nil || d == nil {
		return err
	}
	return a.runLoop(d, driving{mode: term.Quiet, detached: true})
}

const letGoWords = "released for a session to take over"

// takeBack waits for that session, and takes the loop up again where it does not
// come; a signal ends the wait. There is no drive where another owner came.
func (a *app) takeBack(d *launch.Driver, e *signalHandler) (*launch.Driver, error) {
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
			"nobody has loop %s now: its session had not come (%w)", d.Loop.ID, err)
	}
	return back, err
}

// resumeSoon takes a loop up as soon as its owner lets go of it. There is none to
// drive where somebody else was sooner, and may have ended it since.
func (a *app) resumeSoon(ctx context.Context, l *store.Loop, c *sessionRunCmd) (*launch.Driver, error) {
	may := func(epoch int64) error {
		m, _, err := record.Load(l)
		if err == nil && (epoch != c.After || !c.Now && !loopinfo.LeavesSession(m.State)) {
			return store.ErrOwnershipLost // or it stays: whoever handed it over gave up on us
		}
		return err
	}
	for deadline := time.Now().Add(runTimeout); ; time.Sleep(pollInterval) {
		if newer(l, c.After) {
			return nil, nil //nolint:nilnil // it is driven
		}
		d, err := launch.Resume(ctx, l, a.env, launch.ResumeOptions{MoreLimits: c.given(), MayOwn: may})
		if errors.Is(err, store.ErrOwnershipLost) {
			return nil, nil //nolint:nilnil // since we looked
		}
		if !store.IsHeld(err) || time.Now().After(deadline) {
			return d, err
		}
	}
}

// moveTimeout is how long a process may take to continue with a loop.
const moveTimeout = 30 * time.Second

// startDriver starts a process that continues with a loop, and returns the id of the
// one that has it as soon as it has begun. The epoch is that of the owner so far;
// further flags of session run may follow.
// An error says why none came to that; there is none then.
func (a *app) startDriver(ctx context.Context, l *store.Loop, epoch int64, flags ...string) (pid int, err error) {
	log, err := openLog(l, "run.log")
	if err != nil {
		return 0, err
	}
	defer log.Close()
	said, err := log.Seek(0, io.SeekEnd)
	if err != nil {
		return 0, fmt.Errorf("write run.log: %w", err)
	}
	from := time.Now()
	pid, err = a.startDetached(log, append([]string{"run", l.ID, "--after", strconv.FormatInt(epoch, 10)}, flags...)...)
	if err != nil {
		return 0, err
	}
	owner, err := awaitOwner(ctx, l, epoch, func() (done, alive bool) {
		alive = proc.Alive(pid) // before the look: its last act is not to be missed
		return begun(l, from), alive
	})
	switch {
	case errors.Is(err, errNobody):
		words, hint := lastWords(log, said)
		err = failure.New(failure.Error, hint, "what was to continue it did not: %s", words)
	case errors.Is(err, errSlow):
		if p, findErr := os.FindProcess(pid); findErr == nil {
			_ = p.Kill() // or it would take the loop when nobody expects it any more
		}
	}
	return owner, err
}

var (
	errNobody = errors.New("there is nobody to continue it")
	errSlow   = fmt.Errorf("what was to continue it did not begin within %s", moveTimeout)
)

// awaitOwner waits for an owner after that of the epoch, and returns its process.
// look reports whether the loop has begun elsewhere, and whether what was started
// for it is alive; another may have been sooner.
func awaitOwner(ctx context.Context, l *store.Loop, epoch int64, look func() (done, alive bool)) (int, error) {
	var last store.Holder
	taken, held := false, false
	done, err := poll(ctx, moveTimeout, func() (bool, error) {
		done, alive := look()
		var err error
		last, held, err = l.Holder()
		if taken = err == nil && last.Epoch > epoch; !alive && !(taken && (done || held)) {
			return false, errNobody
		}
		return taken && done, nil
	})
	switch {
	case err != nil: // it continues without us if the context is done
		return 0, err
	case done || taken && held:
		return last.PID, nil
	}
	return 0, errSlow
}

// begun reports whether the loop continues outside of a session.
func begun(l *store.Loop, since time.Time) bool {
	m, _, err := record.Load(l)
	return err == nil && !m.State.InSession && !m.State.Now.Before(since)
}

func newer(l *store.Loop, epoch int64) bool {
	last, _, err := l.Holder()
	return err == nil && last.Epoch > epoch
}

// lastWords is the end of what a process wrote: what failed, and what it hints at.
func lastWords(log io.ReaderAt, from int64) (words, hint string) {
	const most = 3
	data, err := io.ReadAll(io.NewSectionReader(log, from, 64<<10))
	var lines []string
	for line := range strings.Lines(string(data)) {
		if h, ok := strings.CutPrefix(line, "pawl: hint: "); ok {
			hint = plan.OneLine(h, 200)
			continue
		}
		lines = append(lines, strings.TrimSpace(strings.TrimPrefix(line, "pawl: error: ")))
	}
	words = plan.OneLine(strings.Join(lines[max(0, len(lines)-most):], "; "), 400)
	if err != nil || words == "" {
		return "it ended without a word", ""
	}
	return words, hint
}

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

// background says how a loop continues without this process.
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
