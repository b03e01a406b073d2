package launch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/environment"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/notify"
	"github.com/pawl-dev/pawl/internal/proc"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/runner"
	"github.com/pawl-dev/pawl/internal/store"
)

// A loop that leaves its session continues in another process, which outlives the session, its client
// and the terminal. A loop that was begun with --detach does the same. The output of that process is
// in run.log in the loop's folder. For a loop in a session, it is in drive.log.

// Background starts processes of this program that continue loops and outlive this one.
type Background struct {
	Tool string // path of this program
	Dir  string // current folder
	Env  environment.Environment
}

// acquireTimeout is how long a process may take to acquire a loop.
const acquireTimeout = 30 * time.Second

// StartDriver starts a process that continues a loop, and waits until one has acquired it. It returns
// the id of that process. epoch is that of the last owner. flags are more flags of session run. If no
// process continues the loop, the error says why.
func (b Background) StartDriver(ctx context.Context, l *store.Loop, epoch int64, flags ...string) (pid int, err error) {
	log, err := openLog(l, store.RunnerLog)
	if err != nil {
		return 0, err
	}
	defer log.Close()
	said, err := log.Seek(0, io.SeekEnd)
	if err != nil {
		return 0, fmt.Errorf("write run.log: %w", err)
	}
	from := time.Now()
	pid, err = b.Start(log, append([]string{"run", l.ID, "--after", strconv.FormatInt(epoch, 10)}, flags...)...)
	if err != nil {
		return 0, err
	}
	owner, err := awaitOwner(ctx, l, epoch, func() (done, alive bool) {
		alive = proc.Alive(pid) // before begun: the last act of a process must not be missed
		m, _, err := record.Load(l)
		return err == nil && !m.State.InSession && !m.State.Now.Before(from), alive
	})
	switch {
	case errors.Is(err, errNoSuccessor):
		words, hint := LastWords(log, said)
		err = failure.New(failure.Error, hint, "the process that should continue it failed: %s", words)
	case errors.Is(err, errSuccessorSlow):
		if p, findErr := os.FindProcess(pid); findErr == nil {
			_ = p.Kill() // otherwise it could take the loop later, unexpectedly
		}
	}
	return owner, err
}

var (
	errNoSuccessor   = errors.New("no process continues it")
	errSuccessorSlow = fmt.Errorf("the process that should continue it did not start within %s", acquireTimeout)
)

// awaitOwner waits for an owner with a later epoch, and returns its process. look reports whether the
// loop runs outside of the session, and whether the started process is alive. Another process may
// acquire the loop first.
func awaitOwner(ctx context.Context, l *store.Loop, epoch int64, look func() (done, alive bool)) (int, error) {
	var last store.Holder
	taken, held := false, false
	done, err := Poll(ctx, acquireTimeout, func() (bool, error) {
		done, alive := look()
		var err error
		last, held, err = l.Holder()
		if taken = err == nil && last.Epoch > epoch; !alive && !(taken && (done || held)) {
			return false, errNoSuccessor
		}
		return taken && done, nil
	})
	switch {
	case err != nil: // if ctx has ended, the process continues alone
		return 0, err
	case done || taken && held:
		return last.PID, nil
	}
	return 0, errSuccessorSlow
}

// LastWords returns the end of a process's output: the error and its hint.
func LastWords(log io.ReaderAt, from int64) (words, hint string) {
	const most = 3
	data, err := io.ReadAll(io.NewSectionReader(log, from, 64<<10))
	var lines []string
	for line := range strings.Lines(string(data)) {
		if h, ok := strings.CutPrefix(line, "pawl: hint: "); ok {
			hint = plan.OneLine(h, 200)
			continue
		}
		lines = append(lines, strings.TrimSpace(strings.TrimPrefix(line, "pawl: error: ")))
	}
	words = plan.OneLine(strings.Join(lines[max(0, len(lines)-most):], "; "), 400)
	if err != nil || words == "" {
		return "it ended without output", ""
	}
	return words, hint
}

// Successor is the process that continues a loop for the owner that started it.
type Successor struct {
	After  int64       // epoch of that owner
	Now    bool        // in any phase; else only while the loop is handed over to a runner
	Limits loop.Limits // see ResumeOptions.MoreLimits
}

// ownerReleaseTimeout is how long the last owner may take to release the loop.
const ownerReleaseTimeout = 5 * time.Second

// Resume resumes a loop as soon as its owner releases it. It returns nil if another process acquired
// it first, which may have ended it since.
func (c Successor) Resume(ctx context.Context, l *store.Loop, env environment.Environment) (d *Driver, err error) {
	may := func(epoch int64) error {
		m, _, err := record.Load(l)
		if err == nil && (epoch != c.After || !c.Now && m.State.HandsOverTo() != loop.OwnerRunner) {
			return store.ErrOwnershipLost // the last owner may have kept it after a timeout
		}
		return err
	}
	_, ended := Poll(ctx, ownerReleaseTimeout, func() (bool, error) {
		if last, _, lost := l.Holder(); lost == nil && last.Epoch > c.After {
			d, err = nil, nil // another process drives it
			return true, nil
		}
		d, err = Resume(ctx, l, env, ResumeOptions{MoreLimits: c.Limits, MayOwn: may})
		return !store.IsHeld(err), nil
	})
	if errors.Is(err, store.ErrOwnershipLost) {
		return nil, nil //nolint:nilnil // another process acquired it just now
	}
	return d, cmp.Or(ended, err)
}

// DriveInSession drives a loop in a session up to the agent's turn. If the loop is handed over, it
// starts the new owner; if that fails, the loop stays in its session. It waits up to timeout while
// another process holds the loop. prepare completes the driver.
func (b Background) DriveInSession(ctx context.Context, l *store.Loop, timeout time.Duration, prepare func(*Driver)) error {
	d, err := Rejoin(ctx, l, b.Env, timeout)
	if err != nil {
		return err
	}
	if m, _, err := record.Load(l); err == nil && !m.InSession(d.Spec.Policy) {
		return d.Close() // it has left this session meanwhile
	}
	epoch := d.Owner.Epoch()
	prepare(d)
	state, err := d.RunInSession(ctx)
	if err = errors.Join(err, d.Close()); err != nil {
		return err
	}
	if state.HandsOverTo() != loop.OwnerRunner {
		if m, _, err := record.Load(l); err != nil || !runner.HasMutationTestsLeft(l, m) {
			return err
		}
		return b.startBeside(l, "prove")
	}
	if _, err = b.StartDriver(ctx, l, epoch); err == nil || ctx.Err() != nil {
		return err
	}
	return KeepInSession(ctx, l, b.Env, err.Error())
}

// ContinueGates starts a process that waits for the gates if they still run.
func (b Background) ContinueGates(begun *SessionLoop) error {
	if !begun.GatesRunning {
		return nil
	}
	return b.startBeside(begun.Loop, "drive")
}

// startBeside starts a process for a loop in a session. It outlives this one.
func (b Background) startBeside(l *store.Loop, command string) error {
	log, err := openLog(l, store.DriverLog)
	if err != nil {
		return err
	}
	defer log.Close()
	_, err = b.Start(log, command, l.ID)
	return err
}

// openLog opens a log of the loop for appending.
func openLog(l *store.Loop, name string) (*os.File, error) {
	log, err := os.OpenFile(filepath.Join(l.Dir, name), os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("write %s: %w", name, err)
	}
	return log, nil
}

// Start starts a command of pawl session that outlives this process.
func (b Background) Start(log io.Writer, args ...string) (pid int, err error) {
	cmd := exec.Command(b.Tool, append([]string{"session"}, args...)...) //nolint:noctx // it outlives this process
	cmd.Dir, cmd.Stdout, cmd.Stderr = b.Dir, log, log
	if pid, err = proc.StartDetached(cmd); err != nil {
		return 0, fmt.Errorf("start pawl session %s: %w", args[0], err)
	}
	return pid, nil
}

// pollInterval is how often Poll checks.
const pollInterval = 100 * time.Millisecond

// Poll calls look, at once and then again and again, until it returns true or an error. It returns false
// after the timeout.
func Poll(ctx context.Context, timeout time.Duration, look func() (done bool, err error)) (bool, error) {
	for deadline := time.Now().Add(timeout); ; {
		if done, err := look(); done || err != nil || time.Now().After(deadline) {
			return done, err
		}
		select {
		case <-ctx.Done():
			return false, ctx.Err()
		case <-time.After(pollInterval):
		}
	}
}

// lastNoticeTimeout is how long Close waits for notices that are being sent.
const lastNoticeTimeout = 5 * time.Second

// outbox returns the outbox that sends the loop's notices. It sends nothing if the path of
// this program is unknown.
func (d *Driver) outbox(l *store.Loop, env environment.Environment) *notify.Outbox {
	box := &notify.Outbox{Dir: l.Dir, Loop: l.ID, Vars: env.Vars}
	if self, err := os.Executable(); err == nil {
		box.Tool, box.Settings = []string{self}, d.Spec.Notify
	}
	return box
}

// Listen starts a process that receives answers to the questions of an ended loop.
func Listen(l *store.Loop, env environment.Environment) error {
	spec, err := record.ReadSpec(l)
	if err != nil {
		return err
	}
	return (&Driver{Spec: spec}).outbox(l, env).Listen()
}
