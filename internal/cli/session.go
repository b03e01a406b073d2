package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/pawl-dev/pawl/internal/daemon"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/hook"
	"github.com/pawl-dev/pawl/internal/launch"
	"github.com/pawl-dev/pawl/internal/proc"
	"github.com/pawl-dev/pawl/internal/session"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/term"
	"github.com/pawl-dev/pawl/internal/version"
)

// sessionCmd is `pawl session`. The hooks of a session run its commands; users do not.
type sessionCmd struct {
	Begin     sessionBeginCmd     `cmd:"" help:"start a loop in a session: JSON in, JSON out"`
	Drive     sessionDriveCmd     `cmd:"" help:"do what a loop in a session waits for, up to the agent's turn"`
	Prove     sessionProveCmd     `cmd:"" help:"finish mutation testing of a loop in a session"`
	Run       sessionRunCmd       `cmd:"" help:"continue a loop that left its session"`
	Notify    sessionNotifyCmd    `cmd:"" help:"send a notice of a loop"`
	Telemetry sessionTelemetryCmd `cmd:"" help:"send traces and metrics of a loop"`
	Tracker   sessionTrackerCmd   `cmd:"" help:"reach the issues of GitHub or beads: JSON in, JSON out"`
	Daemon    sessionDaemonCmd    `cmd:"" help:"answer the hooks of a session while a loop runs there"`
}

// sessionBeginCmd is `pawl session begin`.
type sessionBeginCmd struct{}

// beginTimeout is how long the gates may run while a hook waits.
const beginTimeout = 10 * time.Minute

// Run begins the loop that the request on standard input describes.
func (sessionBeginCmd) Run(a *app) error {
	out, err := a.sessionBegin()
	if err != nil {
		out = session.BeginResult{Error: err.Error(), Hint: failure.Hint(err)}
	}
	if jsonErr := a.printJSON(out); jsonErr != nil {
		return jsonErr
	}
	if err != nil {
		return exitCode(failure.CodeOf(err))
	}
	return nil
}

// maxRequestBytes is the maximum length of a request, in bytes.
const maxRequestBytes = 8 << 20

func (a *app) sessionBegin() (session.BeginResult, error) {
	data, err := io.ReadAll(io.LimitReader(a.In, maxRequestBytes))
	if err != nil {
		return session.BeginResult{}, fmt.Errorf("read the request: %w", err)
	}
	var r session.BeginRequest
	if err := json.Unmarshal(data, &r); err != nil {
		return session.BeginResult{}, failure.New(failure.Usage, "", "read the request: %w", err)
	}
	ctx := a.untilSignal()
	q, message, err := launch.ReadBeginRequest(ctx, launch.Request{Dir: a.dir, Env: a.env}, r)
	if err != nil || q == nil {
		return session.BeginResult{Message: message}, err
	}
	p, err := launch.PrepareInSession(ctx, *q)
	if err != nil {
		return session.BeginResult{}, err
	}
	begun, err := p.BeginInSession(ctx, launch.SessionOptions{
		Session: q.Session, GateTimeout: beginTimeout, OnReady: q.OnReady,
	})
	if err == nil {
		err = a.background().ContinueGates(begun)
	}
	if err == nil {
		err = a.startDaemon(q.Session.Session)
	}
	if err != nil {
		return session.BeginResult{}, err
	}
	if message = strings.TrimSuffix(openingText(p, begun), "\n"); r.Adopt != "" {
		message = adoptionText(p, begun, q.Remark)
	}
	if words := secretWords(p.Goal); words != "" {
		message += "\n  " + words
	}
	return session.BeginResult{Loop: begun.Loop.ID, Message: message, Context: firstPrompt(begun, maxContextBytes)}, nil
}

// maxContextBytes is the maximum length of a hook's first prompt, in bytes. If it has more than 10,000
// characters, the client shows the agent only a preview.
const maxContextBytes = 9_500

// sessionDriveCmd is `pawl session drive`.
type sessionDriveCmd struct {
	loopID
}

// driverTimeout is how long to wait for another process that drives the loop. Hooks end at once; a
// process that takes longer does this work itself.
const driverTimeout = 15 * time.Second

// Run drives the loop up to the agent's turn. It outlives the hook that started it and the terminal.
func (c *sessionDriveCmd) Run(a *app, l *store.Loop) error {
	return a.runDetached(func(ctx context.Context) error { return a.driveInSession(ctx, l, driverTimeout) })
}

// driveInSession drives a loop that lives in a session until the session must act. If a process owns
// the loop already, that one does the same.
func (a *app) driveInSession(ctx context.Context, l *store.Loop, timeout time.Duration) error {
	err := a.background().DriveInSession(ctx, l, timeout, a.setTools)
	if held, ok := errors.AsType[*store.HeldError](err); ok && held.Loop == l.ID {
		return nil
	}
	return err
}

// detachedContext returns a context that a signal cancels, but not the end of the terminal. A second
// signal ends the process at once.
func detachedContext() (context.Context, context.CancelFunc) {
	signal.Ignore(syscall.SIGHUP)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}

// runDetached calls do so that a closed terminal does not end it.
func (a *app) runDetached(do func(context.Context) error) error {
	ctx, stop := detachedContext()
	defer stop()
	if err := proc.Subreaper(); err != nil {
		term.Warnf(a.Err, "processes that gates leave behind may survive: %v", err)
	}
	return do(ctx)
}

// sessionProveCmd is `pawl session prove`.
type sessionProveCmd struct {
	loopID
}

// Run finishes the mutation tests of changed functions, unless a driver begins first.
func (c *sessionProveCmd) Run(a *app, l *store.Loop) error {
	return a.runDetached(func(ctx context.Context) error {
		return launch.FinishMutationTests(ctx, l, a.env)
	})
}

// sessionDaemonCmd is `pawl session daemon`.
type sessionDaemonCmd struct {
	Session string `arg:"" help:"the client's id of a session"`
}

// Run answers the session's hooks while a loop lives there. It outlives its parent process and the
// terminal.
func (c *sessionDaemonCmd) Run(a *app) error {
	ctx, stop := detachedContext()
	defer stop()
	runtime.GOMAXPROCS(1) // calls are short and rare, so more threads would only wake each other
	return daemon.Serve(ctx, daemon.Options{
		Env: a.env, Session: c.Session, Tool: a.self, Version: version.String(), Untracked: untracked, PollInterval: 5 * time.Second, IdleTimeout: time.Hour,
	})
}

// startDaemon starts the daemon of a session with a loop and does not wait for it. If one runs
// already, the new one ends.
func (a *app) startDaemon(session string) error {
	if !daemon.Possible(a.env.PawlHome, session) || hook.HasNoRunningLoop(a.env.PawlHome, session) {
		return nil
	}
	_, err := a.background().Start(nil, "daemon", session)
	return err
}
