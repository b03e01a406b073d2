package cli

import (
	"errors"
	"os"

	"github.com/pawl-dev/pawl/internal/confine"
	"github.com/pawl-dev/pawl/internal/term"
)

// confinedCmd is `pawl confined`. It starts the agent or a gate of a confined loop.
type confinedCmd struct {
	Policy string   `required:"" placeholder:"FILE" help:"the rules of the sandbox"`
	Inside bool     `help:"the sandbox is already set up"`
	Argv   []string `arg:"" passthrough:"partial" placeholder:"COMMAND" help:"the command to run"`
}

// Shells exit with these codes if a command cannot be started or is not found. A gate that ends so has
// no result.
const (
	codeNotStarted exitCode = 126
	codeNotFound   exitCode = 127
)

// Run replaces this process with the command.
func (c *confinedCmd) Run(a *app) error {
	argv := c.Argv
	if len(argv) > 0 && argv[0] == "--" {
		argv = argv[1:]
	}
	err := confine.Enter(c.Policy, c.Inside, argv, os.Environ())
	term.Error(a.Err, err)
	if errors.Is(err, confine.ErrNoCommand) {
		return codeNotFound
	}
	return codeNotStarted
}
