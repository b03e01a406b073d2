package proc

import (
	"maps"
	"os"
	"slices"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// AncestorPIDs returns the ids of this process's ancestors, without process 1, in no
// particular order.
func AncestorPIDs() []int {
	snapshot, err := windows.CreateToolhelp32Snapshot(windows.TH32CS_SNAPPROCESS, 0)
	if err != nil {
		return nil
	}
	defer windows.CloseHandle(snapshot)
	parent := map[int]int{}
	var e windows.ProcessEntry32
	e.Size = uint32(unsafe.Sizeof(e))
	for err = windows.Process32First(snapshot, &e); err == nil; err = windows.Process32Next(snapshot, &e) {
		parent[int(e.ProcessID)] = int(e.ParentProcessID)
	}
	set := map[int]bool{}
	for pid := parent[os.Getpid()]; pid > 0 && !set[pid]; pid = parent[pid] {
		set[pid] = true
	}
	return slices.Sorted(maps.Keys(set))
}

// AncestorMarkers returns the markers (MarkerName) that this process's ancestors were
// started with, sorted. A command that removes the variable from its environment does not
// remove it from theirs. It returns none where the environment of other processes cannot
// be read (macOS, Windows).
func AncestorMarkers() []string { return nil }

// Alive reports whether a process with this id exists, possibly another one than
// expected, since ids are reused. A zombie counts as dead where the system tells.
func Alive(pid int) bool {
	h, err := windows.OpenProcess(windows.SYNCHRONIZE, false, uint32(pid))
	if err != nil {
		return false
	}
	defer windows.CloseHandle(h)
	state, err := windows.WaitForSingleObject(h, 0)
	return err == nil && state == uint32(windows.WAIT_TIMEOUT)
}

// StartTime returns when a process started, to the second or better, or zero if unknown.
func StartTime(pid int) time.Time {
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(max(pid, 0)))
	if err != nil {
		return time.Time{}
	}
	defer windows.CloseHandle(h)
	var created, exited, kernel, user windows.Filetime
	if err := windows.GetProcessTimes(h, &created, &exited, &kernel, &user); err != nil {
		return time.Time{}
	}
	return time.Unix(0, created.Nanoseconds())
}

// StartID distinguishes a process from later ones with the same id. It is "" where the
// system does not tell it cheaply, and if there is no such process.
func StartID(int) string { return "" }
