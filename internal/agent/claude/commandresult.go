package claude

import (
	"strings"

	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/testreport"
)

// calledTool is a running tool call.
type calledTool struct {
	name  string
	input map[string]any
}

// ran returns the command of a result. It returns nil if there is none or if the command has not
// ended: it runs in the background or was refused.
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
	code, rest, ok := testreport.CutExitCode(out)
	if !ok {
		return nil
	}
	return &agent.Ran{Command: command, ExitCode: code, Output: rest}
}
