package cli

import (
	"context"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"github.com/pawl-dev/pawl/internal/daemon"
	"github.com/pawl-dev/pawl/internal/hook"
	"github.com/pawl-dev/pawl/internal/version"
)

// sessionDaemonCmd is `pawl session daemon`.
type sessionDaemonCmd struct {
	Session string `arg:"" help:"the client's id of a session"`
}

// Run answers the session's hooks while a loop lives there. It outlives whoever
// started it, and the terminal.
func (c *sessionDaemonCmd) Run(a *app) error {
	signal.Ignore(syscall.SIGHUP)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	runtime.GOMAXPROCS(1)        // its calls are short and seldom: more threads would only wake one another
	return daemon.Serve(ctx, daemon.Options{
		Env: a.env, Session: c.Session, Tool: a.self, Version: version.String(), Untracked: untracked, PollInterval: 5 * time.Second, IdleTimeout: time.Hour,
	})
}

// startDaemon starts what answers the hooks of a session that a loop lives in. It
// is not waited for, and one that is there already stays the only one.
func (a *app) startDaemon(session string) error {
	if !daemon.Possible(a.env.PawlHome, session) || hook.HasNoRunningLoop(a.env.PawlHome, session) {
		return nil
	}
	_, err := a.background().Start(nil, "daemon", session)
	return err
}
