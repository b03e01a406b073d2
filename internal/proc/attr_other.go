//go:build unix && !linux

package proc

import "syscall"

// DyingWithParent returns the attributes as they are: only Linux ends a process
// with its parent.
func DyingWithParent(a syscall.SysProcAttr) *syscall.SysProcAttr { return &a }
