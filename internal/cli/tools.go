package cli

import (
	"github.com/pawl-dev/pawl/internal/launch"
	"github.com/pawl-dev/pawl/internal/mcpserver"
	"github.com/pawl-dev/pawl/internal/version"
)

// giveTools lets the agent that the loop's runner drives have its tools.
func (a *app) giveTools(d *launch.Drive) {
	d.Tools = mcpserver.New(mcpserver.Options{Env: a.env, Loop: d.Loop.ID, Version: version.String()})
}
