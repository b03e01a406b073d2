//go:build unix

package git

import (
	"os/exec"
	"syscall"

	"github.com/pawl-dev/pawl/internal/proc"
)

// isolate gives git a process group of its own: Ctrl-C on our terminal must not
// kill it in the middle of a write. A cancelled context sends TERM to the group,
// on which git removes its lock files.
func isolate(cmd *exec.Cmd) {
	cmd.SysProcAttr = proc.DyingWithParent(syscall.SysProcAttr{Setpgid: true})
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
}

// killGroup ends what a git that failed has left behind in its group.
func killGroup(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }

// errNotDir is what a path below a file fails with.
var errNotDir error = syscall.ENOTDIR

const onWindows = false

// nonblock has opening a pipe not wait for who writes into it.
const nonblock = syscall.O_NONBLOCK
