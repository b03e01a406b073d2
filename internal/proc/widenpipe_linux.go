package proc

import (
	"os"

	"golang.org/x/sys/unix"
)

// widenPipe enlarges a pipe, if the system allows it.
func widenPipe(pipe *os.File) {
	conn, err := pipe.SyscallConn()
	if err != nil {
		return
	}
	_ = conn.Control(func(fd uintptr) { _, _ = unix.FcntlInt(fd, unix.F_SETPIPE_SZ, widePipeBytes) })
}
