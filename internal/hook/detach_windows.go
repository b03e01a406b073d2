package hook

import (
	"os/exec"
	"syscall"
)

const detachedProcess = 0x8 // DETACHED_PROCESS: no console that could close on it

// detach gives a child a process group of its own: it gets none of our signals.
func detach(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP | detachedProcess}
}
