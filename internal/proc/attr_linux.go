package proc

import "syscall"

// KillWithParent adds to the attributes of a new process that it gets a TERM when
// the thread that starts it ends, even by a KILL.
func KillWithParent(a syscall.SysProcAttr) *syscall.SysProcAttr {
	a.Pdeathsig = syscall.SIGTERM
	return &a
}
