package git

import (
	"os"
	"os/exec"
	"syscall"
)

// setProcessGroup gives git its own process group, so that Ctrl-C on our terminal does
// not kill it during a write. On Unix a cancelled context sends TERM to the group, and
// git removes its lock files.
func setProcessGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

// killGroup does nothing: there are no groups to be signalled.
func killGroup(*exec.Cmd) {}

// errNotDir is what a path below a file fails with.
var errNotDir error = syscall.ERROR_PATH_NOT_FOUND

const onWindows = true

// nonblock makes opening a named pipe return at once, where the system has pipes among
// files.
const nonblock = 0

// isOnlyLink is false: that cannot be told.
func isOnlyLink(os.FileInfo) bool { return false }
