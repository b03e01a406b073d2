//go:build unix

package proc

import (
	"errors"
	"maps"
	"os"
	"slices"
	"syscall"
)

// Above are the ids of the processes above this one, process 1 aside, in no
// particular order.
func Above() []int {
	set := ancestors(readTable(), os.Getpid())
	delete(set, os.Getpid())
	delete(set, 1)
	return slices.Sorted(maps.Keys(set))
}

// Alive tells whether there is a process of this id, be it another one than was
// meant: ids are used again.
func Alive(pid int) bool {
	err := syscall.Kill(pid, 0)
	return pid > 0 && (err == nil || errors.Is(err, syscall.EPERM))
}
