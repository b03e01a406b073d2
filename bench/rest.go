package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// resting is a loop whose agent sleeps, after the runner has come to rest.
type resting struct {
	cmd  *exec.Cmd
	proc string // its folder in /proc
}

// rest starts a loop whose agent sleeps, and waits until the runtime has given back the
// memory of the start.
func (l *lab) rest(ctx context.Context) (*resting, error) {
	if runtime.GOOS != "linux" {
		return nil, fmt.Errorf("/proc: %w", errAbsent)
	}
	s, err := l.small(ctx)
	if err != nil {
		return nil, err
	}
	begun, agent := filepath.Join(l.dir, "asleep"), filepath.Join(l.dir, "sleeper")
	_ = os.Remove(begun)
	if err := os.WriteFile(agent, []byte("#!/bin/sh\n: > '"+begun+"'\nexec sleep 600\n"), 0o700); err != nil {
		return nil, err
	}
	if _, _, err := (process{dir: s.repo, argv: []string{"git", "checkout", "-q", "."}}).run(ctx); err != nil {
		return nil, err
	}
	r := &resting{cmd: exec.CommandContext(ctx, l.pawl, "run", "work", "--agent", "command", "--agent-command", agent,
		"--branch", "current", "--max-iterations", "1", "--yes", "--quiet")}
	r.cmd.Dir, r.cmd.Env = s.repo, append(os.Environ(), "PAWL_HOME="+filepath.Join(l.dir, "rest"))
	r.cmd.Cancel, r.cmd.WaitDelay = func() error { return r.cmd.Process.Signal(os.Interrupt) }, 20*time.Second
	if err := r.cmd.Start(); err != nil {
		return nil, err
	}
	r.proc = filepath.Join("/proc", strconv.Itoa(r.cmd.Process.Pid))
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		if _, err := os.Stat(begun); err == nil {
			time.Sleep(15 * time.Second)
			return r, nil
		}
		if time.Now().After(deadline) {
			return nil, errors.Join(errors.New("the agent does not start"), r.end())
		}
	}
}

// end ends the loop as Ctrl-C does.
func (r *resting) end() error {
	if err := r.cmd.Process.Signal(os.Interrupt); err != nil {
		return err
	}
	_ = r.cmd.Wait() // its exit code says that it was cancelled
	return nil
}

// status adds up a number of /proc's status files.
func status(pattern, field string) (sum int, err error) {
	files, err := filepath.Glob(pattern)
	if err == nil && len(files) == 0 {
		err = errors.New("there is no such process")
	}
	if err != nil {
		return 0, fmt.Errorf("%s: %w", pattern, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // a thread that has ended
		}
		_, rest, _ := strings.Cut(string(text), "\n"+field+":")
		words := strings.Fields(rest)
		if len(words) == 0 {
			return 0, fmt.Errorf("%s has no %s", file, field)
		}
		n, err := strconv.Atoi(words[0])
		if err != nil {
			return 0, err
		}
		sum += n
	}
	return sum, nil
}

// wakeups counts how often a thread of a resting loop wakes up: each goes to sleep again by
// itself, a voluntary context switch.
func wakeups(ctx context.Context, l *lab) (outcome, error) {
	const watched, bound = 10 * time.Second, 5.0
	r, err := l.rest(ctx)
	if err != nil {
		return outcome{}, err
	}
	threads := filepath.Join(r.proc, "task", "*", "status")
	before, err := status(threads, "voluntary_ctxt_switches")
	time.Sleep(watched)
	after, later := status(threads, "voluntary_ctxt_switches")
	if err := errors.Join(err, later, r.end()); err != nil {
		return outcome{}, err
	}
	each := float64(after-before) / watched.Seconds()
	return outcome{
		reference: fmt.Sprintf("%.0f s pass", watched.Seconds()), measured: fmt.Sprintf("%d", after-before),
		result: fmt.Sprintf("%.1f a second", each), ok: each <= bound,
	}, nil
}

// restMemory reads the memory of a resting loop that belongs to it alone: the pages of the
// program itself are a file's, which the kernel shares between loops and drops when it
// needs them. The reference is all that is resident.
func restMemory(ctx context.Context, l *lab) (outcome, error) {
	const bound = 20 << 10 // kB
	r, err := l.rest(ctx)
	if err != nil {
		return outcome{}, err
	}
	file := filepath.Join(r.proc, "status")
	all, err := status(file, "VmRSS")
	own, later := status(file, "RssAnon")
	if err := errors.Join(err, later, r.end()); err != nil {
		return outcome{}, err
	}
	return outcome{
		reference: fmt.Sprintf("%.1f MB resident", float64(all)/1024), measured: fmt.Sprintf("%.1f MB", float64(own)/1024),
		result: fmt.Sprintf("%.1f MB", float64(own)/1024), ok: own <= bound,
	}, nil
}
