//go:build unix

package proc

import (
	"os"

	"golang.org/x/sys/unix"
)

// InForeground reports whether this process belongs to the foreground job of the
// terminal. Any other that reads from the terminal is stopped (SIGTTIN).
func InForeground(terminal *os.File) bool {
	group, err := unix.IoctlGetInt(int(terminal.Fd()), unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}
