//go:build unix

package proc_test

import (
	"os/exec"
	"syscall"
)

func ownSession(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
