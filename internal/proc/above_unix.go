//go:build unix

package proc

import (
	"errors"
	"maps"
	"os"
	"slices"
	"syscall"
	"time"
)

// Above are the ids of the processes above this one, process 1 aside, in no
// particular order.
func Above() []int {
	set := ancestors(readTable(), os.Getpid())
	delete(set, os.Getpid())
	delete(set, 1)
	return slices.Sorted(maps.Keys(set))
}

// MarkersAbove are the markers (MarkerName) that processes above this one were
// started with, sorted. A command that takes the variable out of its environment
// does not take it out of theirs. There are none where the environment of other
// processes cannot be read (macOS, Windows).
func MarkersAbove() []string {
	table := readTable()
	above := ancestors(table, os.Getppid())
	var markers []string
	for _, e := range table {
		if e.marker != "" && above[e.pid] {
			markers = append(markers, e.marker)
		}
	}
	slices.Sort(markers)
	return slices.Compact(markers)
}

// Alive tells whether there is a process of this id, be it another one than was
// meant: ids are used again. One that has ended and that nobody has asked for is
// dead, where the system tells.
func Alive(pid int) bool {
	err := syscall.Kill(pid, 0)
	return pid > 0 && (err == nil || errors.Is(err, syscall.EPERM)) && !zombie(pid)
}

// Began is when a process began, to the second or better, zero where that cannot be
// told.
func Began(pid int) time.Time {
	if pid <= 0 {
		return time.Time{}
	}
	return beganAt(pid)
}

// Started tells a process from a later one of the same id. It is "" where the system
// does not say cheaply, and for a process that is not there.
func Started(pid int) string { return startOf(pid) }
