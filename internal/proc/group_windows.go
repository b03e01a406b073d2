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

// group is a leader in a job object, which its descendants cannot leave. What
// the leader starts in the instant before it is put into the job is missed.
type group struct {
	leader int
	job    windows.Handle
}

func startGroup(cmd *exec.Cmd) (*group, error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return nil, fmt.Errorf("create job object: %w", err)
	}
	// A console group of its own, so that CTRL_BREAK reaches it and Ctrl-C does not.
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
		return fmt.Errorf("put process %d into its job: %w", g.leader, err)
	}
	return nil
}

func (g *group) terminate() {
	_ = windows.GenerateConsoleCtrlEvent(windows.CTRL_BREAK_EVENT, uint32(g.leader))
}

// kill ends the leader only: the job holds what may be spared, see sweep.
func (g *group) kill() {
	h, err := windows.OpenProcess(windows.PROCESS_TERMINATE, false, uint32(g.leader))
	if err != nil {
		return
	}
	defer windows.CloseHandle(h)
	_ = windows.TerminateProcess(h, 1)
}

func (g *group) remember() {}

func (g *group) insiders() []int { return nil } // nothing wraps a program here

func (g *group) release(keepBackground bool) {
	if keepBackground {
		g.dieWithUs(false)
	}
	_ = windows.CloseHandle(g.job)
}

// dieWithUs says whether the job ends when its last handle, ours, is closed.
func (g *group) dieWithUs(die bool) {
	var info windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	if die {
		info.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	}
	_, _ = windows.SetInformationJobObject(g.job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)))
}

// sweep ends the whole job. Sessions are unknown here, so nothing is told apart.
func (g *group) sweep(o sweepOptions) int {
	if o.scope != everything {
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

// SweepMarked ends every process that carries the marker. The environment of
// processes cannot be read here, and a job dies with its owner: there are none.
func SweepMarked(marker string, grace time.Duration) int { return 0 }

// LeftBy knows none: a job dies with its owner.
func LeftBy(marker string) []string { return nil }

// Subreaper does nothing here: a job object holds all descendants.
func Subreaper() error { return nil }

func signalName(*os.ProcessState) string { return "" }

// RSS is the resident memory of a process in bytes, 0 if it cannot be told.
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

// OnlyBegan is not known here.
func OnlyBegan(string, func(time.Time) bool) bool { return false }

// OnlyMarked is not known here.
func OnlyMarked(_, _ string) bool { return false }
