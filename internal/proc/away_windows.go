package proc

import (
	"fmt"
	"os/exec"
)

// Away starts a command that outlives whoever started it, and returns its process
// id. Its output goes where cmd.Stdout says, which must be a file or nil.
func Away(cmd *exec.Cmd) (pid int, err error) {
	Detach(cmd)
	cmd.Stderr = cmd.Stdout
	if err := cmd.Start(); err != nil {
		return 0, fmt.Errorf("start %s: %w", cmd.Path, err)
	}
	pid = cmd.Process.Pid
	return pid, cmd.Process.Release()
}
