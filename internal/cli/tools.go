package cli

import (
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/launch"
	"github.com/pawl-dev/pawl/internal/mcpserver"
	"github.com/pawl-dev/pawl/internal/version"
)

// openPullRequest opens a pull request if the user allows it, and says the result.
func (a *app) openPullRequest(d *launch.Driver, s loop.State, say func(string)) error {
	ctx := a.untilSignal()
	p, err := d.OpenPullRequest(ctx, s, a.env)
	if words := p.Text(); words != "" {
		say("the agent asks to merge: " + words)
	}
	return err
}

// setTools sets the tools of the agent that the loop's runner drives.
func (a *app) setTools(d *launch.Driver) {
	d.Tools = mcpserver.New(mcpserver.Options{Env: a.env, Loop: d.Loop.ID, Version: version.String()})
}
