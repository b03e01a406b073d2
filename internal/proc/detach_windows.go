package proc

import (
	"os/exec"
	"syscall"

	"golang.org/x/sys/windows"
)

// Detach makes a command that is not started yet outlive this process, its
// terminal, and the signals that either gets.
func Detach(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP | windows.DETACHED_PROCESS}
}
