package git

import (
	"os"
	"os/exec"
	"syscall"
)

// setProcessGroup gives git a separate process group, so that Ctrl-C does not kill it during a
// write. On Unix a cancelled context sends TERM to the group, and git removes its lock files.
func setProcessGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

// killGroup does nothing: Windows has no signals for groups.
func killGroup(*exec.Cmd) {}

// errNotDir is the error for a path below a file.
var errNotDir error = syscall.ERROR_PATH_NOT_FOUND

const onWindows = true

// nonblock makes opening a named pipe return immediately, if the system has named pipes.
const nonblock = 0

// isOnlyLink is false: unknown.
func isOnlyLink(os.FileInfo) bool { return false }
