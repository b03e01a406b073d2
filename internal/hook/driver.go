package hook

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/pawl-dev/pawl/internal/proc"
	"github.com/pawl-dev/pawl/internal/store"
)

// runDriver starts the driver and waits for it, at most until ctx is done or enough, which
// may be nil, returns true. The driver continues afterwards: the client kills hooks that
// exceed its timeout, and gates may take an hour.
func (h *handler) runDriver(ctx context.Context, loop string, isDone func() bool) error {
	log, err := os.OpenFile(filepath.Join(store.Open(h.Env.PawlHome).Loop(loop).Dir, store.DriverLog), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("open %s: %w", store.DriverLog, err)
	}
	defer log.Close()
	cmd := h.pawlCommand(context.WithoutCancel(ctx), "session", "drive", loop)
	cmd.Stdout, cmd.Stderr = log, log
	wait, err := h.startDetached(cmd)
	if err != nil {
		return fmt.Errorf("start driver of %s: %w", loop, err)
	}
	done := make(chan struct{})
	go func() {
		_ = wait() // how it went shows in the journal
		close(done)
	}()
	poll := time.NewTicker(pollInterval)
	defer poll.Stop()
	for {
		select {
		case <-done:
			return nil
		case <-ctx.Done():
			return nil
		case <-poll.C:
			if isDone != nil && isDone() {
				return nil
			}
		}
	}
}

// startChild starts a process and returns a function that waits for it.
func (c Call) startChild(cmd *exec.Cmd) (wait func() error, err error) {
	if c.start != nil {
		return c.start(cmd)
	}
	return cmd.Wait, cmd.Start()
}

// startDetached starts a process that survives the hook, and returns a function that
// waits for it.
func (c Call) startDetached(cmd *exec.Cmd) (wait func() error, err error) {
	if c.start != nil {
		return c.start(cmd)
	}
	pid, err := proc.StartDetached(cmd)
	return func() error {
		for pause := fastPollInterval; proc.Alive(pid); pause = min(2*pause, pollInterval) {
			time.Sleep(pause)
		}
		return nil
	}, err
}

// startProcess starts a process that survives the hook, and returns its id; a process of a
// test has none.
func (c Call) startProcess(cmd *exec.Cmd) (pid int, err error) {
	if c.start == nil {
		return proc.StartDetached(cmd)
	}
	_, err = c.start(cmd)
	return 0, err
}

// pawlCommand prepares a call of the tool, outside of any session.
func (h *handler) pawlCommand(ctx context.Context, args ...string) *exec.Cmd {
	argv := append(append([]string{}, h.Tool...), args...)
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env = h.Env.Vars
	return cmd
}

// pollInterval is how often the driver's progress is checked.
const pollInterval = 250 * time.Millisecond
