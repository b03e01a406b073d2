//go:build unix

package faults

import (
	"os/exec"
	"syscall"
)

// ownGroup makes a command the leader of a group, which is killed as a whole.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
