//go:build unix && !linux

package proc

import "syscall"

// attributes of a new leader: a session of its own.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
