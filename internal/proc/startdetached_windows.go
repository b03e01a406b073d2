package proc

import (
	"fmt"
	"os/exec"
)

// StartDetached starts a command without a parent and returns its process id. A new session is not
// enough. A client that ends its hooks (Esc, a closed terminal, a timeout) finds their processes by
// their parents, but not after a parent has exited. The command's input is empty; cmd.Stdout must
// be a file or nil.
func StartDetached(cmd *exec.Cmd) (pid int, err error) {
	Detach(cmd)
	cmd.Stderr = cmd.Stdout
	if err := cmd.Start(); err != nil {
		return 0, fmt.Errorf("start %s: %w", cmd.Path, err)
	}
	pid = cmd.Process.Pid
	return pid, cmd.Process.Release()
}
