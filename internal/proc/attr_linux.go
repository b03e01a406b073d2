package proc

import "syscall"

// attributes of a new leader: a session of its own, and a TERM when we die,
// even of a KILL.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGTERM}
}
