//go:build unix

package proc

import (
	"os"

	"golang.org/x/sys/unix"
)

// InForeground reports whether this process is in the terminal's foreground job. Reading
// from the terminal stops any other process (SIGTTIN).
func InForeground(terminal *os.File) bool {
	group, err := unix.IoctlGetInt(int(terminal.Fd()), unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}

// InBackground reports whether another job is in the terminal's foreground. It is false if this
// process has no such terminal.
func InBackground(terminal *os.File) bool {
	group, err := unix.IoctlGetInt(int(terminal.Fd()), unix.TIOCGPGRP)
	return err == nil && group != unix.Getpgrp()
}
