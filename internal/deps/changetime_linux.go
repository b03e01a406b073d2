package deps

import (
	"io/fs"
	"syscall"
)

// HasChangeTime reports whether ChangeTime tells.
const HasChangeTime = true

// ChangeTime is when a file or its attributes changed last, in nanoseconds. Unlike the
// time of its content a program cannot set it.
func ChangeTime(info fs.FileInfo) int64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return s.Ctim.Nano()
	}
	return 0
}
