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

// drive starts what does the machine's work, and waits until that is done, but
// not longer than ctx. It lives on without us: a client that loses patience kills
// its hooks, and gates may take an hour.
func (h *hook) drive(ctx context.Context, loop string) error {
	return h.driveUntil(ctx, loop, func() bool { return false })
}

// driveUntil is drive, which waits no longer than until enough is done.
func (h *hook) driveUntil(ctx context.Context, loop string, enough func() bool) error {
	log, err := os.OpenFile(filepath.Join(store.Open(h.Env.PawlHome).Loop(loop).Dir, "drive.log"), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("drive %s: %w", loop, err)
	}
	defer log.Close()
	cmd := h.pawl(context.WithoutCancel(ctx), "session", "drive", loop)
	cmd.Stdout, cmd.Stderr = log, log
	wait, err := h.away(cmd)
	if err != nil {
		return fmt.Errorf("start pawl, which does the work of a loop: %w", err)
	}
	done := make(chan struct{})
	go func() {
		_ = wait() // how it went shows in the journal
		close(done)
	}()
	look := time.NewTicker(lookOften)
	defer look.Stop()
	for {
		select {
		case <-done:
			return nil
		case <-ctx.Done():
			return nil
		case <-look.C:
			if enough() {
				return nil
			}
		}
	}
}

// begins starts a process, and returns what waits for its end.
func (c Call) begins(cmd *exec.Cmd) (wait func() error, err error) {
	if c.start != nil {
		return c.start(cmd)
	}
	return cmd.Wait, cmd.Start()
}

// away starts what is to live on should we be ended, and returns what waits for
// its end.
func (c Call) away(cmd *exec.Cmd) (wait func() error, err error) {
	if c.start != nil {
		return c.start(cmd)
	}
	pid, err := proc.Away(cmd)
	return func() error {
		for pause := lookSoon; proc.Alive(pid); pause = min(2*pause, lookOften) {
			time.Sleep(pause)
		}
		return nil
	}, err
}

// pawl is the tool itself. It is told of no session: what it does is its own.
func (h *hook) pawl(ctx context.Context, args ...string) *exec.Cmd {
	argv := append(append([]string{}, h.Tool...), args...)
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env = h.Env.Vars
	return cmd
}

// lookOften is between looks at how far the work is.
const lookOften = 250 * time.Millisecond
