package cli

import (
	"context"
	"os"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/launch"
	"github.com/pawl-dev/pawl/internal/mcpserver"
	"github.com/pawl-dev/pawl/internal/version"
)

type mcpCmd struct {
	Loop string `placeholder:"LOOP" help:"id of the loop to serve; default: this session's loop, looked up at each call"`
}

// Run serves until the client closes the connection.
func (c *mcpCmd) Run(ctx context.Context, a *app) error {
	o := mcpserver.Options{Env: a.env, Loop: c.Loop, Client: os.Getppid(), Dir: a.dir, Version: version.String(), Project: a.projectGates}
	if c.Loop != "" {
		l, err := a.store.Resolve(c.Loop, "")
		if err != nil {
			return err
		}
		o.Loop = l.ID
	}
	a.announceRead("an MCP client, which normally starts this itself (the plugin, or: claude mcp add pawl -- pawl mcp); Ctrl-C ends it")
	return mcpserver.New(o).Serve(ctx, mcpserver.Lines{In: a.In, Out: a.Out})
}

// projectGates runs the project's gates as `pawl verify` does.
func (a *app) projectGates(ctx context.Context) ([]gate.Result, error) {
	root := a.root()
	settings, err := a.gates("verify", root, nil, "tell the user that  pawl trust  is needed: only they may let it run")
	if err != nil {
		return nil, err
	}
	results, _, err := a.runGates(ctx, root, settings)
	return results, err
}

// setTools sets the tools of the agent that the loop's runner drives.
func (a *app) setTools(d *launch.Driver) {
	d.Tools = mcpserver.New(mcpserver.Options{Env: a.env, Loop: d.Loop.ID, Version: version.String()})
}
