package git

import (
	"os/exec"
	"syscall"
)

// isolate gives git a process group of its own: Ctrl-C on our console must not
// kill it in the middle of a write.
func isolate(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

// killGroup does nothing: there are no groups to be signalled.
func killGroup(*exec.Cmd) {}

// errNotDir is what a path below a file fails with.
var errNotDir error = syscall.ERROR_PATH_NOT_FOUND

const onWindows = true

// nonblock: there are no pipes among the files.
const nonblock = 0
