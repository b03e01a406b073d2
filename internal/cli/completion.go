package cli

import (
	"github.com/pawl-dev/pawl/internal/clihelp"
)

type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish"`
}

// Run prints the script.
func (c *completionCmd) Run(a *app) error {
	a.print(clihelp.Completion(newParser(&grammar{}).Model.Node, c.Shell))
	return nil
}
