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

// AncestorPIDs returns the ids of this process's ancestors, without process 1, in no
// particular order.
func AncestorPIDs() []int {
	set := ancestors(readStats(), os.Getpid())
	delete(set, os.Getpid())
	delete(set, 1)
	return slices.Sorted(maps.Keys(set))
}

// AncestorMarkers returns the markers (MarkerName) that this process's ancestors were
// started with, sorted. A command that removes the variable from its environment does not
// remove it from theirs. It returns none where the environment of other processes cannot
// be read (macOS, Windows).
func AncestorMarkers() []string {
	table := readTable("")
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

// Alive reports whether a process with this id exists, possibly another one than
// expected, since ids are reused. A zombie counts as dead where the system tells.
func Alive(pid int) bool {
	err := syscall.Kill(pid, 0)
	return pid > 0 && (err == nil || errors.Is(err, syscall.EPERM)) && !isZombie(pid)
}

// StartTime returns when a process started, to the second or better, or zero if unknown.
func StartTime(pid int) time.Time {
	if pid <= 0 {
		return time.Time{}
	}
	return startTime(pid)
}

// StartID distinguishes a process from later ones with the same id. It is "" where the
// system does not tell it cheaply, and if there is no such process.
func StartID(pid int) string { return startID(pid) }
