//go:build unix

package proc

import (
	"os/exec"
	"syscall"
)

// Detach makes a command that is not started yet outlive this process and its terminal,
// and protects it from their signals.
func Detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
