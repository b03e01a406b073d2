package proc

import (
	"maps"
	"os"
	"slices"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// Above are the ids of the processes above this one, in no particular order.
func Above() []int {
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

// MarkersAbove are the markers of the processes above this one. Their environment
// cannot be read here, so there are none.
func MarkersAbove() []string { return nil }

// Alive tells whether there is a process of this id, be it another one than was
// meant: ids are used again.
func Alive(pid int) bool {
	h, err := windows.OpenProcess(windows.SYNCHRONIZE, false, uint32(pid))
	if err != nil {
		return false
	}
	defer windows.CloseHandle(h)
	state, err := windows.WaitForSingleObject(h, 0)
	return err == nil && state == uint32(windows.WAIT_TIMEOUT)
}

// Began is when a process began, zero where that cannot be told.
func Began(pid int) time.Time {
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

// Started tells nothing here: see the other systems.
func Started(int) string { return "" }
