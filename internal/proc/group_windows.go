package proc

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// group is a leader and its descendants.
type group struct {
	leader int
	job    windows.Handle
}

func startGroup(cmd *exec.Cmd) (*group, error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return nil, fmt.Errorf("create job object: %w", err)
	}
	// A separate console group: CTRL_BREAK reaches it and Ctrl-C does not.
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP}
	if err := cmd.Start(); err != nil {
		_ = windows.CloseHandle(job)
		return nil, err
	}
	g := &group{leader: cmd.Process.Pid, job: job}
	g.dieWithUs(true)
	if err := g.assign(); err != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		g.release(false)
		return nil, err
	}
	return g, nil
}

func (g *group) assign() error {
	h, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(g.leader))
	if err != nil {
		return fmt.Errorf("open process %d: %w", g.leader, err)
	}
	defer windows.CloseHandle(h)
	if err := windows.AssignProcessToJobObject(g.job, h); err != nil {
		return fmt.Errorf("assign process %d to job: %w", g.leader, err)
	}
	return nil
}

func (g *group) terminate() {
	_ = windows.GenerateConsoleCtrlEvent(windows.CTRL_BREAK_EVENT, uint32(g.leader))
}

// kill only ends the leader, because sweep may spare others in the job.
func (g *group) kill() {
	h, err := windows.OpenProcess(windows.PROCESS_TERMINATE, false, uint32(g.leader))
	if err != nil {
		return
	}
	defer windows.CloseHandle(h)
	_ = windows.TerminateProcess(h, 1)
}

// recordDescendants stores the descendants while their parents are known. Afterwards only
// the tag identifies them.
func (g *group) recordDescendants() {}

// sessionPIDs returns the descendants in the leader's session.
func (g *group) sessionPIDs() []int { return nil } // nothing wraps a program here

func (g *group) release(keepBackground bool) {
	if keepBackground {
		g.dieWithUs(false)
	}
	_ = windows.CloseHandle(g.job)
}

// dieWithUs sets whether the job ends when this process closes its handle, the last one.
func (g *group) dieWithUs(die bool) {
	var info windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	if die {
		info.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	}
	_, _ = windows.SetInformationJobObject(g.job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)))
}

// sweep ends the descendants and returns how many there were.
func (g *group) sweep(o sweepOptions) int {
	if o.scope != allDescendants {
		return 0
	}
	n := g.active()
	_ = windows.TerminateJobObject(g.job, 1)
	return n
}

// active counts the processes in the job.
func (g *group) active() int {
	var info struct {
		TotalUserTime, TotalKernelTime, PeriodUserTime, PeriodKernelTime int64
		PageFaults, Total, Active, Terminated                            uint32
	}
	const basicAccounting = 1
	err := windows.QueryInformationJobObject(g.job, basicAccounting,
		uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)), nil)
	if err != nil {
		return 0
	}
	return int(info.Active)
}

// SweepMarked ends every process with the marker and its descendants, which a killed Pawl left
// running. It spares the caller and its ancestors. It returns how many there were. It finds none if
// the environment of processes cannot be read (macOS).
func SweepMarked(marker string, grace time.Duration) int { return 0 }

// Orphans lists the processes with the marker as "PID COMMAND", and, if this process is
// the subreaper, orphans that cleared their environment.
func Orphans(marker string) []string { return nil }

// Subreaper makes this process the parent of all orphans below it, so that descendants
// that cleared their environment and left their session are still found. Call it once, in
// main. It does nothing on systems without subreapers.
func Subreaper() error { return nil }

func signalName(*os.ProcessState) string { return "" }

// FreeMemory returns the memory in bytes that programs can have, 0 if unknown, as here.
func FreeMemory() int64 { return 0 }

// RSS returns the resident memory of a process in bytes, 0 if unknown.
func RSS(pid int) int64 {
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(pid))
	if err != nil {
		return 0
	}
	defer windows.CloseHandle(h)
	var m struct {
		Size, PageFaults                                 uint32
		PeakWorkingSet, WorkingSet                       uintptr
		PeakPagedPool, PagedPool, PeakNonPaged, NonPaged uintptr
		Pagefile, PeakPagefile                           uintptr
	}
	m.Size = uint32(unsafe.Sizeof(m))
	info := windows.NewLazySystemDLL("psapi.dll").NewProc("GetProcessMemoryInfo")
	if ok, _, _ := info.Call(uintptr(h), uintptr(unsafe.Pointer(&m)), uintptr(m.Size)); ok == 0 {
		return 0
	}
	return int64(m.WorkingSet)
}

// AllStartedWhen reports whether a program runs and all its processes started at a time
// for which holds returns true, or descend from such a process. It returns false if that
// is unknown.
func AllStartedWhen(string, func(time.Time) bool) bool { return false }

// AllMarked reports whether a program runs and all its processes have the marker, or
// descend from one that has. It returns false if that is unknown.
func AllMarked(_, _ string) bool { return false }
