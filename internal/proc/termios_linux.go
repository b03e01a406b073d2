package proc

import (
	"os"

	"golang.org/x/sys/unix"
)

const getTermios, setTermios = unix.TCGETS, unix.TCSETS

func duplicateFD(f *os.File, fd int) error { return unix.Dup3(int(f.Fd()), fd, 0) }
