package cli

import (
	"runtime"
	"time"

	"github.com/pawl-dev/pawl/internal/daemon"
	"github.com/pawl-dev/pawl/internal/hook"
	"github.com/pawl-dev/pawl/internal/version"
)

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
