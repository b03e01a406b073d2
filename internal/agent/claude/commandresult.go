package claude

import (
	"strings"

	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/testreport"
)

// calledTool is a tool call under way.
type calledTool struct {
	name  string
	input map[string]any
}

// ran is the command that a result is of, nil if there is none or if it tells of
// no end: one in the background, one that was refused.
func (c calledTool) ran(b block) *agent.Ran {
	command, ok := c.input["command"].(string)
	if !ok || b.Excerpt || c.name != "Bash" || c.input["run_in_background"] == true {
		return nil
	}
	out := string(b.Content)
	if !b.IsError {
		if strings.HasPrefix(out, "Command running in background with ID") || strings.HasPrefix(out, "Command was manually backgrounded") {
			return nil
		}
		return &agent.Ran{Command: command, Output: out}
	}
	code, rest, ok := testreport.CutExit(out)
	if !ok {
		return nil
	}
	return &agent.Ran{Command: command, ExitCode: code, Output: rest}
}
