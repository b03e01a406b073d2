//go:build unix && !linux

package proc

import (
	"context"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

const psTimeout = 5 * time.Second

// readTable returns the process table. Processes that exit meanwhile are omitted.
func readTable(string) []entry {
	ctx, cancel := context.WithTimeout(context.Background(), psTimeout)
	defer cancel()
	out, err := exec.CommandContext(ctx, "ps", "-axo", "pid=,ppid=,pgid=,stat=,lstart=").Output()
	if err != nil {
		return nil
	}
	var table []entry
	for line := range strings.Lines(string(out)) {
		if e, ok := parsePS(line); ok {
			table = append(table, e)
		}
	}
	return table
}

// readStats returns the process table. It is the same, because environments are never read.
func readStats() []entry { return readTable("") }

func parsePS(line string) (entry, bool) {
	f := strings.Fields(line)
	if len(f) < 5 {
		return entry{}, false
	}
	e := entry{zombie: strings.HasPrefix(f[3], "Z"), start: strings.Join(f[4:], " ")}
	for i, dst := range []*int{&e.pid, &e.ppid, &e.pgid} {
		n, err := strconv.Atoi(f[i])
		if err != nil {
			return entry{}, false
		}
		*dst = n
	}
	e.sid = e.pgid
	return e, true
}

// isZombie reports whether a process has exited and was not waited for.
func isZombie(int) bool { return false } // starting ps for one process is too slow

// startID returns the start time of a process as the system shows it, or "".
func startID(pid int) string { return "" }

// startTime returns when a process started, as precisely as the system tells.
func startTime(pid int) time.Time {
	ctx, cancel := context.WithTimeout(context.Background(), psTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, "ps", "-o", "lstart=", "-p", strconv.Itoa(pid))
	cmd.Env = append(cmd.Environ(), "LC_ALL=C")
	out, err := cmd.Output()
	if err != nil {
		return time.Time{}
	}
	at, err := time.ParseInLocation(time.ANSIC, strings.TrimSpace(string(out)), time.Local)
	if err != nil {
		return time.Time{}
	}
	return at
}

// sessionID returns the session of a process, 0 if unknown.
func sessionID(pid int) int {
	pgid, err := unix.Getpgid(pid)
	if err != nil {
		return 0
	}
	return pgid
}

// Subreaper makes this process the parent of all orphans below it, so that descendants
// that cleared their environment and left their session are still found. Call it once, in
// main. It does nothing on systems without subreapers.
func Subreaper() error { return nil }

// FreeMemory returns 0: it is unknown.
func FreeMemory() int64 { return 0 }

// RSS returns the resident memory of a process in bytes, 0 if unknown.
func RSS(pid int) int64 {
	ctx, cancel := context.WithTimeout(context.Background(), psTimeout)
	defer cancel()
	out, err := exec.CommandContext(ctx, "ps", "-o", "rss=", "-p", fmt.Sprint(pid)).Output()
	if err != nil {
		return 0
	}
	kib, _ := strconv.ParseInt(strings.TrimSpace(string(out)), 10, 64)
	return kib * 1024
}

// commandLine returns the command line of a process, or "" if it is gone.
func commandLine(int) string { return "" }

// hasName reports whether a process has a program's name. It is false: unknown.
func hasName(int, string) bool { return false }
