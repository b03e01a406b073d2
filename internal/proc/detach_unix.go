//go:build unix

package proc

import (
	"os/exec"
	"syscall"
)

// Detach makes a command that is not started yet outlive this process, its
// terminal, and the signals that either gets.
func Detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
