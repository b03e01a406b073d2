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

const psPatience = 5 * time.Second

// readTable asks ps. The session is not to be had on macOS, so the group stands
// for it; the environment neither.
func readTable() []entry {
	ctx, cancel := context.WithTimeout(context.Background(), psPatience)
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

func zombie(int) bool { return false } // ps is too slow to be asked of one

func startOf(pid int) string { return "" }

// beganAt is when a process began, to the second.
func beganAt(pid int) time.Time {
	ctx, cancel := context.WithTimeout(context.Background(), psPatience)
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

func sidOf(pid int) int {
	pgid, err := unix.Getpgid(pid)
	if err != nil {
		return 0
	}
	return pgid
}

// Subreaper makes this process the parent of all orphans below it, so that a
// descendant which cleared its environment and left its session can still be
// found. Called once, in main. It does nothing where there is no such thing.
func Subreaper() error { return nil }

// RSS is the resident memory of a process in bytes, 0 if it cannot be told.
func RSS(pid int) int64 {
	ctx, cancel := context.WithTimeout(context.Background(), psPatience)
	defer cancel()
	out, err := exec.CommandContext(ctx, "ps", "-o", "rss=", "-p", fmt.Sprint(pid)).Output()
	if err != nil {
		return 0
	}
	kib, _ := strconv.ParseInt(strings.TrimSpace(string(out)), 10, 64)
	return kib * 1024
}

// commandOf is asked of processes with a marker only, and none is seen here.
func commandOf(int) string { return "" }

// runs is not known here.
func runs(int, string) bool { return false }
