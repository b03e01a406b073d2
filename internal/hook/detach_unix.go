//go:build unix

package hook

import (
	"os/exec"
	"syscall"
)

// detach gives a child a session of its own: it gets none of our signals.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
