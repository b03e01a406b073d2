//go:build unix && !linux

package proc

import "syscall"

// KillWithParent returns the attributes as they are: only Linux ends a process
// with its parent.
func KillWithParent(a syscall.SysProcAttr) *syscall.SysProcAttr { return &a }
