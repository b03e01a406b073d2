package verify

import (
	"runtime"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/testreport"
)

// command is how a gate is run.
type command struct {
	argv   []string
	env    []string // added to the environment
	shown  string   // as the user wrote it
	report string   // format, see gate.Gate
}

// commandName carries the command to cmd.exe, which would not understand the
// quotes that Go puts around an argument.
const commandName = "PAWL_GATE"

// plan decides how to run a gate: a plain `go test` is asked for its results by
// test, and a repeat for a run that its cache does not answer.
func plan(g gate.Gate, uncached bool) command {
	text := g.ShellCommand()
	c := command{shown: text, report: g.Report}
	if runtime.GOOS == "windows" && len(g.Argv) > 0 { // no shell there reads its quotes
		c.argv = g.Argv
	}
	if c.report == "" {
		if c.report = testreport.Detect(text); c.report == "" && c.argv == nil {
			if withIDs, ok := testreport.WithIDs(text); ok {
				text, c.report = withIDs, testreport.GoJSON
			}
		}
	}
	if uncached {
		text = testreport.Uncached(text)
	}
	if c.argv == nil {
		c.argv, c.env = asked(text)
	}
	return c
}

// asked is how the system's shell is asked to run a command.
func asked(text string) (argv, env []string) {
	if runtime.GOOS == "windows" {
		return []string{"cmd", "/d", "/c", "%" + commandName + "%"}, []string{commandName + "=" + text}
	}
	return []string{"sh", "-c", text}, nil
}
