package proc

import (
	"os/exec"
	"syscall"

	"golang.org/x/sys/windows"
)

// Detach makes a command that is not started yet outlive this process and its terminal,
// and protects it from their signals.
func Detach(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP | windows.DETACHED_PROCESS}
}
