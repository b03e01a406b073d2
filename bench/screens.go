package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/record"
)

// firstScreen compares the time from the start of pawl watch to its first screen with that
// of starting an empty program on a terminal and reading the loops' summaries one after
// the other.
func firstScreen(ctx context.Context, l *lab) (outcome, error) {
	repo, home, err := l.many(ctx)
	if err != nil {
		return outcome{}, err
	}
	subject := func(ctx context.Context) (time.Duration, error) {
		s, err := openScreen(ctx, l, repo, home)
		if err != nil {
			return 0, err
		}
		return s.first, s.leave()
	}
	reference := func(ctx context.Context) (time.Duration, error) {
		begun := time.Now()
		if _, err := (process{argv: []string{"script", "-qfec", onTerminal + l.empty, "/dev/null"}}).cpu(ctx); err != nil {
			return 0, err
		}
		_, err := readSummaries(home)(ctx)
		return time.Since(begun), err
	}
	return pair{subject, reference}.within(ctx, l.runs, 2)
}

// onTerminal begins the command of a program that script gives a terminal.
const onTerminal = "stty rows 24 cols 80; exec "

// idleScreen measures the processor time of pawl watch while nothing happens, as a share
// of the time that passes.
func idleScreen(ctx context.Context, l *lab) (outcome, error) {
	const idle, bound = 10 * time.Second, 0.05
	repo, home, err := l.many(ctx)
	if err != nil {
		return outcome{}, err
	}
	s, err := openScreen(ctx, l, repo, home)
	if err != nil {
		return outcome{}, err
	}
	time.Sleep(time.Second)
	before, err := s.spent()
	if err != nil {
		return outcome{}, err
	}
	time.Sleep(idle)
	after, err := s.spent()
	if err != nil {
		return outcome{}, err
	}
	if err := s.leave(); err != nil {
		return outcome{}, err
	}
	share := float64(after-before) / float64(idle)
	return outcome{
		reference: fmt.Sprintf("%.0f s pass", idle.Seconds()), measured: milliseconds(after - before),
		result: fmt.Sprintf("%.1f %%", 100*share), ok: share <= bound,
	}, nil
}

// screen is pawl watch on a terminal.
type screen struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	first time.Duration // until the first loop was drawn
	done  chan error
}

// openScreen starts pawl watch and waits for its first screen.
func openScreen(ctx context.Context, l *lab, repo, home string) (*screen, error) {
	script, err := exec.LookPath("script")
	if err != nil {
		return nil, fmt.Errorf("script, which gives a program a terminal: %w", errAbsent)
	}
	s := &screen{done: make(chan error, 1)}
	s.cmd = exec.CommandContext(ctx, script, "-qfec", onTerminal+l.pawl+" watch", "/dev/null")
	s.cmd.Dir, s.cmd.Env, s.cmd.WaitDelay = repo, append(os.Environ(), "PAWL_HOME="+home, "TERM=xterm-256color"), time.Second
	out, err := s.cmd.StdoutPipe()
	if err == nil {
		s.in, err = s.cmd.StdinPipe()
	}
	if err != nil {
		return nil, err
	}
	begun, drawn := time.Now(), make(chan struct{})
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		var seen bytes.Buffer
		part := make([]byte, 4<<10)
		for n, err := out.Read(part); err == nil; n, err = out.Read(part) {
			if s.first > 0 {
				continue
			}
			if _, _ = seen.Write(part[:n]); bytes.Contains(seen.Bytes(), []byte("-loop-")) {
				s.first = time.Since(begun)
				close(drawn)
			}
		}
		s.done <- s.cmd.Wait()
	}()
	select {
	case <-drawn:
		return s, nil
	case err := <-s.done:
		return nil, fmt.Errorf("no screen was drawn: %w", errors.Join(err, errors.New("it ended")))
	case <-time.After(20 * time.Second):
		_ = s.cmd.Process.Kill()
		return nil, errors.New("no screen was drawn in 20 seconds")
	}
}

// spent is the processor time of pawl watch so far, which draws for its terminal's sake.
func (s *screen) spent() (time.Duration, error) {
	children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%[1]d/children", s.cmd.Process.Pid))
	if err != nil {
		return 0, fmt.Errorf("find pawl watch: %w", errAbsent)
	}
	stat, err := os.ReadFile("/proc/" + strings.TrimSpace(string(children)) + "/stat")
	if err != nil {
		return 0, fmt.Errorf("read the time of pawl watch: %w", err)
	}
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) < 13 {
		return 0, fmt.Errorf("%q tells no time", stat)
	}
	var ticks int
	for _, f := range fields[11:13] { // user and system
		n, err := strconv.Atoi(f)
		if err != nil {
			return 0, fmt.Errorf("read the time of pawl watch: %w", err)
		}
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond, nil
}

// leave ends it.
func (s *screen) leave() error {
	if _, err := s.in.Write([]byte("q")); err != nil {
		return fmt.Errorf("leave pawl watch: %w", err)
	}
	if err := <-s.done; err != nil {
		return fmt.Errorf("leave pawl watch: %w", err)
	}
	return nil
}

// readSummaries reads and decodes the summaries of all loops.
func readSummaries(home string) work {
	return func(context.Context) (time.Duration, error) {
		begun := time.Now()
		files, err := filepath.Glob(filepath.Join(home, "loops", "*", "summary.json"))
		if err != nil {
			return 0, err
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				return 0, err
			}
			var kept struct {
				Summary record.Summary `json:"summary"`
			}
			if err := json.Unmarshal(data, &kept); err != nil {
				return 0, err
			}
		}
		return time.Since(begun), nil
	}
}
