//go:build unix

package git

import (
	"os"
	"os/exec"
	"syscall"

	"github.com/pawl-dev/pawl/internal/proc"
)

// setProcessGroup gives git a separate process group, so that Ctrl-C does not kill it during a
// write. On Unix a cancelled context sends TERM to the group, and git removes its lock files.
func setProcessGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = proc.KillWithParent(syscall.SysProcAttr{Setpgid: true})
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
}

// killGroup ends the processes that a failed git has left in its group.
func killGroup(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }

// errNotDir is the error for a path below a file.
var errNotDir error = syscall.ENOTDIR

const onWindows = false

// nonblock makes opening a named pipe return immediately, if the system has named pipes.
const nonblock = syscall.O_NONBLOCK

// isOnlyLink reports whether a file has no other hard link.
func isOnlyLink(info os.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && stat.Nlink == 1
}
