package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/session/place"
)

// A loop's hooks are answered by a process that lives as long as the loop lives
// in its session. The bounds are of what starts at an event; what this process
// works for it is measured in a row of its own.

// daemon is such a process.
type daemon struct {
	cmd   *exec.Cmd
	spent time.Duration // by the last look
}

// startDaemon starts the daemon of a session, as beginning a loop does.
func (s *liveSession) startDaemon(ctx context.Context, tool string) error {
	cmd := exec.Command(tool, "session", "daemon", s.session) //nolint:noctx // the lab ends it
	cmd.Env = append(os.Environ(), "PAWL_HOME="+s.home)
	if err := cmd.Start(); err != nil {
		return err
	}
	s.daemon = &daemon{cmd: cmd}
	socket := place.Of(s.home).SocketPath(s.session)
	for range 1000 {
		if _, err := os.Stat(socket); err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(10 * time.Millisecond):
		}
	}
	return fmt.Errorf("the daemon does not listen at %s", socket)
}

// worked is the processor time of the daemon since it was asked last.
func (s *liveSession) worked() (time.Duration, error) {
	if s.daemon == nil || s.session != sessionID {
		return 0, nil
	}
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", s.daemon.cmd.Process.Pid))
	if err != nil || len(tasks) == 0 {
		return 0, fmt.Errorf("the daemon is gone, or this is no Linux: its processor time cannot be told (%w)", err)
	}
	var all time.Duration
	for _, path := range tasks {
		data, err := os.ReadFile(path)
		if err != nil {
			continue // a thread that has ended
		}
		first, _, _ := strings.Cut(string(data), " ")
		ns, err := strconv.ParseInt(first, 10, 64)
		if err != nil {
			return 0, err
		}
		all += time.Duration(ns)
	}
	since := max(all-s.daemon.spent, 0)
	s.daemon.spent = all
	return since, nil
}
