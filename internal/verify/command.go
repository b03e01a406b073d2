package verify

import (
	"runtime"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/proc"
	"github.com/pawl-dev/pawl/internal/testreport"
)

// command is how to run a gate.
type command struct {
	argv   []string
	env    []string // added to the environment
	shown  string   // as the user wrote it
	report string   // format, see gate.Gate
}

// commandFor decides how to run a gate. A plain `go test` reports test IDs.
func commandFor(g gate.Gate) command {
	text := g.ShellCommand()
	c := command{shown: text, report: g.Report}
	if runtime.GOOS == "windows" && len(g.Argv) > 0 { // no shell there reads its quotes
		c.argv = g.Argv
	}
	if c.report == "" {
		if c.report = testreport.Detect(text); c.report == "" && c.argv == nil {
			if withIDs, ok := testreport.AddGoTestJSON(text); ok {
				text, c.report = withIDs, testreport.GoJSON
			}
		}
	}
	if c.argv == nil {
		c.argv, c.env = proc.Shell(text)
	}
	return c
}
