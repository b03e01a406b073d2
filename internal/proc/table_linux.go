package proc

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// readTable returns the process table. Processes that exit meanwhile are omitted. Reading
// environments takes most of the time, so those of processes older than since are not read; ""
// reads all.
func readTable(since string) []entry {
	table := readStats()
	self, _ := os.Readlink("/proc/self/exe")
	for i := range table {
		if !startedBefore(table[i].start, since) {
			readEnviron(&table[i], self)
		}
	}
	return table
}

// readStats returns the process table without information from environments.
func readStats() []entry {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil
	}
	var table []entry
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		if e, ok := readStat(pid); ok {
			table = append(table, e)
		}
	}
	return table
}

// envEnd is the last field of /proc/PID/stat that is read.
const envEnd = 48

// statOf returns the fields of /proc/PID/stat after the name. The name is in parentheses and may
// contain anything, so fields are counted from the last ")".
func statOf(pid int) ([]string, bool) {
	var line [2048]byte // longer than 52 fields can be
	fd, err := unix.Open("/proc/"+strconv.Itoa(pid)+"/stat", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, false
	}
	n, err := unix.Read(fd, line[:])
	_ = unix.Close(fd)
	b := line[:max(n, 0)]
	f := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
	return f, err == nil && len(f) > envEnd
}

// kernelThread is the flag of a kernel thread (PF_KTHREAD in include/linux/sched.h).
const kernelThread = 1 << 21

// readStat reads /proc/PID/stat. A first thread that has ended is a zombie while the other threads
// end and hold memory and sockets (delay_group_leader in include/linux/sched/signal.h). Such a
// process is not a zombie yet.
func readStat(pid int) (entry, bool) {
	f, ok := statOf(pid)
	if !ok {
		return entry{}, false
	}
	const state, ppid, pgid, sid, flags, threads, start = 0, 1, 2, 3, 6, 17, 19
	alone := f[threads] == "1" || f[threads] == "0"
	e := entry{pid: pid, start: f[start], zombie: f[state] == "X" || f[state] == "Z" && alone}
	e.ppid, _ = strconv.Atoi(f[ppid])
	e.pgid, _ = strconv.Atoi(f[pgid])
	e.sid, _ = strconv.Atoi(f[sid])
	bits, _ := strconv.ParseUint(f[flags], 10, 64)
	e.kernel = bits&kernelThread != 0
	return e, true
}

// readEnviron adds the tags and marker from a process's environment. Another user's environment is
// not readable; its process is never a descendant. A process that starts, ends or calls exec shows
// none or a part of its environment, which does not make it a foreign one.
func readEnviron(e *entry, selfExe string) {
	if e.zombie || e.kernel { // these have none
		return
	}
	exe := executablePath(e.pid) // read first: until exec, a child has this process's environment
	env, told := environOf(e.pid)
	for kv := range bytes.SplitSeq(env, []byte{0}) {
		if v, ok := bytes.CutPrefix(kv, []byte(tagName+"=")); ok {
			e.tags = string(v)
		} else if v, ok := bytes.CutPrefix(kv, []byte(MarkerName+"=")); ok {
			e.marker = string(v)
		}
	}
	e.foreignEnv = told && exe != "" && exe != selfExe && exe == executablePath(e.pid)
}

// executablePath returns the program that a process runs, or "".
func executablePath(pid int) string {
	exe, _ := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	return exe
}

// environOf returns the environment of a process, and whether it is known. During exec the kernel
// shows none (environ_read in fs/proc/base.c), as if it were empty. The difference is env_end,
// which is 0 during exec.
func environOf(pid int) (env []byte, told bool) {
	path := fmt.Sprintf("/proc/%d/environ", pid)
	env, err := os.ReadFile(path)
	if err != nil || len(env) > 0 {
		return env, err == nil
	}
	if f, ok := statOf(pid); !ok || f[envEnd] == "0" {
		return nil, false
	}
	env, err = os.ReadFile(path) // exec may have finished meanwhile
	return env, err == nil
}

// isZombie reports whether a process has exited and was not waited for.
func isZombie(pid int) bool {
	e, ok := readStat(pid)
	return ok && e.zombie
}

// startID returns the start time of a process as the system shows it, or "".
func startID(pid int) string {
	e, _ := readStat(pid)
	return e.start
}

// clockTick is the unit of times in /proc, on every architecture that Go supports (USER_HZ).
const clockTick = 10 * time.Millisecond

// startTime returns when a process started, as precisely as the system reports it.
func startTime(pid int) time.Time {
	ticks, err := strconv.ParseInt(startID(pid), 10, 64)
	var up unix.Timespec
	if err != nil || unix.ClockGettime(unix.CLOCK_BOOTTIME, &up) != nil {
		return time.Time{}
	}
	return time.Now().Add(time.Duration(ticks)*clockTick - time.Duration(up.Nano()))
}

// sessionID returns the session of a process, 0 if unknown.
func sessionID(pid int) int {
	sid, err := unix.Getsid(pid)
	if err != nil {
		return 0
	}
	return sid
}

// Subreaper makes this process the parent of all orphans below it, so that descendants
// that cleared their environment and left their session are still found. Call it once, in
// main. It does nothing on systems without subreapers.
func Subreaper() error {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("become subreaper: %w", err)
	}
	return nil
}

// FreeMemory returns the memory in bytes that programs can get without swapping, 0 if unknown.
func FreeMemory() int64 {
	info, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(info)) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == "MemAvailable:" {
			kib, _ := strconv.ParseInt(f[1], 10, 64)
			return kib << 10
		}
	}
	return 0
}

// RSS returns the resident memory of a process in bytes, 0 if unknown.
func RSS(pid int) int64 {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0
	}
	f := strings.Fields(string(b))
	if len(f) < 2 {
		return 0
	}
	pages, _ := strconv.ParseInt(f[1], 10, 64)
	return pages * int64(os.Getpagesize())
}

// hasName reports whether a process has a program's name. It compares as killall does: the kernel
// keeps 15 bytes.
func hasName(pid int, program string) bool {
	name, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/comm")
	return err == nil && strings.TrimSuffix(string(name), "\n") == program[:min(len(program), 15)]
}

// commandLine returns the command line of a process, or "" if it is gone.
func commandLine(pid int) string {
	argv, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(strings.ReplaceAll(string(argv), "\x00", " "))
}
