//go:build unix

package git

import (
	"os/exec"
	"syscall"
)

// isolate gives git a process group of its own: Ctrl-C on our terminal must not
// kill it in the middle of a write. A cancelled context sends TERM to the group,
// on which git removes its lock files.
func isolate(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
}

// errNotDir is what a path below a file fails with.
var errNotDir error = syscall.ENOTDIR

const onWindows = false
