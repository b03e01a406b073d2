//go:build unix && !linux

package proc

import (
	"os"

	"golang.org/x/sys/unix"
)

const getTermios, setTermios = unix.TIOCGETA, unix.TIOCSETA

func duplicateFD(f *os.File, fd int) error { return unix.Dup2(int(f.Fd()), fd) }
