package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/hook"
	"github.com/pawl-dev/pawl/internal/launch"
	"github.com/pawl-dev/pawl/internal/loopinfo"
	"github.com/pawl-dev/pawl/internal/proc"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/runner"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/term"
)

// sessionCmd is what the hooks of a session run; people have no use for it.
type sessionCmd struct {
	Begin     sessionBeginCmd     `cmd:"" help:"start a loop in a session: JSON in, JSON out"`
	Drive     sessionDriveCmd     `cmd:"" help:"do what a loop in a session waits for, up to the agent's turn"`
	Prove     sessionProveCmd     `cmd:"" help:"finish mutation testing of a loop in a session"`
	Run       sessionRunCmd       `cmd:"" help:"continue a loop that left its session"`
	Notify    sessionNotifyCmd    `cmd:"" help:"send a notice of a loop"`
	Telemetry sessionTelemetryCmd `cmd:"" help:"send traces and metrics of a loop"`
	Tracker   sessionTrackerCmd   `cmd:"" help:"reach the issues of GitHub or beads: JSON in, JSON out"`
	Daemon    sessionDaemonCmd    `cmd:"" help:"answer the hooks of a session while a loop lives there"`
}

// sessionBeginCmd is `pawl session begin`.
type sessionBeginCmd struct{}

// beginTimeout is how long the gates may take while a hook waits.
const beginTimeout = 10 * time.Minute

// Run begins a loop as the request on the standard input says.
func (sessionBeginCmd) Run(a *app) error {
	out, err := a.sessionBegin()
	if err != nil {
		out = hook.BeginResult{Error: err.Error(), Hint: failure.Hint(err)}
	}
	if jsonErr := a.printJSON(out); jsonErr != nil {
		return jsonErr
	}
	if err != nil {
		return exitCode(failure.CodeOf(err))
	}
	return nil
}

// requestMax bounds a request, in bytes.
const requestMax = 8 << 20

func (a *app) sessionBegin() (hook.BeginResult, error) {
	data, err := io.ReadAll(io.LimitReader(a.In, requestMax))
	if err != nil {
		return hook.BeginResult{}, fmt.Errorf("read the request: %w", err)
	}
	var r hook.BeginRequest
	if err := json.Unmarshal(data, &r); err != nil {
		return hook.BeginResult{}, failure.New(failure.Usage, "", "read the request: %w", err)
	}
	ctx := a.untilSignal()
	q, message, err := a.understand(ctx, r)
	if err != nil || q == nil {
		return hook.BeginResult{Message: message}, err
	}
	p, err := launch.PrepareInSession(ctx, q.SessionRequest)
	if err != nil {
		return hook.BeginResult{}, err
	}
	begun, err := p.BeginInSession(ctx, launch.SessionOptions{
		Session: q.Session, GateTimeout: beginTimeout, OnReady: q.ready,
	})
	if err == nil {
		err = a.goOnDriving(begun)
	}
	if err == nil {
		err = a.startDaemon(q.Session.Session)
	}
	if err != nil {
		return hook.BeginResult{}, err
	}
	if message = strings.TrimSuffix(opening(p, begun), "\n"); r.Adopt != "" {
		message = adoption(p, begun, q.remark)
	}
	if words := secretWords(p.Goal); words != "" {
		message += "\n  " + words
	}
	return hook.BeginResult{Loop: begun.Loop.ID, Message: message, Context: firstWord(begun, mostContext)}, nil
}

// mostContext is how long the first prompt of a hook may be, in bytes: of more
// than 10,000 characters the client shows the agent a preview only.
const mostContext = 9_500

// sessionDriveCmd is `pawl session drive`.
type sessionDriveCmd struct {
	loopID
}

// driverTimeout is how long another process at work on the loop is waited for:
// hooks are done at once; one that takes longer does what is to be done.
const driverTimeout = 15 * time.Second

// Run does what the loop waits for. It outlives the hook that began it, and the
// terminal.
func (c *sessionDriveCmd) Run(a *app, l *store.Loop) error {
	return a.outliveTheHook(func(ctx context.Context) error {
		err := a.driveInSession(ctx, l, driverTimeout)
		if held, ok := errors.AsType[*store.HeldError](err); ok && held.Loop == l.ID {
			return nil // it does the same
		}
		return err
	})
}

// outliveTheHook does what a loop in a session waits for in a process that no terminal ends.
func (a *app) outliveTheHook(do func(context.Context) error) error {
	signal.Ignore(syscall.SIGHUP)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	if err := proc.Subreaper(); err != nil {
		term.Warnf(a.Err, "processes that gates leave behind may survive: %v", err)
	}
	return do(ctx)
}

// sessionProveCmd is `pawl session prove`.
type sessionProveCmd struct {
	loopID
}

// Run finds out which changed functions the tests prove, until a driver begins.
func (c *sessionProveCmd) Run(a *app, l *store.Loop) error {
	return a.outliveTheHook(func(ctx context.Context) error {
		return launch.FinishMutationTests(ctx, l, a.env)
	})
}

// driveInSession does what a loop in a session waits for. Where that is another owner, it
// is found one; a loop that finds none stays where it is.
func (a *app) driveInSession(ctx context.Context, l *store.Loop, timeout time.Duration) error {
	d, err := launch.Rejoin(ctx, l, a.env, timeout)
	if err != nil {
		return err
	}
	if m, _, err := record.Load(l); err == nil && !m.InSession(d.Spec.Policy) {
		return d.Close() // it has left the session meanwhile
	}
	epoch := d.Owner.Epoch()
	a.giveTools(d)
	state, err := d.RunInSession(ctx)
	if err = errors.Join(err, d.Close()); err != nil {
		return err
	}
	if !loopinfo.LeavesSession(state) {
		return a.startProving(l)
	}
	if _, err = a.startDriver(ctx, l, epoch); err == nil || ctx.Err() != nil {
		return err
	}
	return launch.KeepInSession(ctx, l, a.env, err.Error())
}

// startProving starts mutation testing where some is left.
func (a *app) startProving(l *store.Loop) error {
	m, _, err := record.Load(l)
	if err != nil || !runner.HasMutationTestsLeft(l, m) {
		return err
	}
	return a.startBeside(l, "prove")
}

// goOnDriving lets a process of its own continue where the gates take long.
func (a *app) goOnDriving(begun *launch.SessionLoop) error {
	if !begun.GatesRunning {
		return nil
	}
	return a.startBeside(begun.Loop, "drive")
}

// startBeside starts a process of a loop in a session, which continues without us.
func (a *app) startBeside(l *store.Loop, command string) error {
	log, err := openLog(l, "drive.log")
	if err != nil {
		return err
	}
	defer log.Close()
	_, err = a.startDetached(log, command, l.ID)
	return err
}

// openLog opens a log of a loop's for what is added to it.
func openLog(l *store.Loop, name string) (*os.File, error) {
	log, err := os.OpenFile(filepath.Join(l.Dir, name), os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("write %s: %w", name, err)
	}
	return log, nil
}

// startDetached starts a command of pawl session that outlives us.
func (a *app) startDetached(log io.Writer, args ...string) (pid int, err error) {
	cmd := exec.Command(a.self, append([]string{"session"}, args...)...) //nolint:noctx // it outlives us
	cmd.Dir, cmd.Stdout, cmd.Stderr = a.dir, log, log
	if pid, err = proc.StartDetached(cmd); err != nil {
		return 0, fmt.Errorf("start pawl session %s: %w", args[0], err)
	}
	return pid, nil
}
