package launch

import (
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
	"github.com/pawl-dev/pawl/internal/proc"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/runner"
	"github.com/pawl-dev/pawl/internal/store"
)

// A loop that leaves its session continues in a process of its own, which outlives the session, its
// client and the terminal; so does one that was begun with --detach. What that process prints is in
// run.log in the loop's folder; for a loop in a session, it is in drive.log.

// Background starts processes of this program that continue with loops and outlive us.
type Background struct {
	Tool string // path of this program
	Dir  string // current folder
	Env  environment.Environment
}

// moveTimeout is how long a process may take to continue with a loop.
const moveTimeout = 30 * time.Second

// StartDriver starts a process that continues with a loop, and returns the id of the
// one that has it as soon as it has begun. The epoch is that of the owner so far;
// further flags of session run may follow.
// An error says why none came to that; there is none then.
func (b Background) StartDriver(ctx context.Context, l *store.Loop, epoch int64, flags ...string) (pid int, err error) {
	log, err := openLog(l, "run.log")
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
		alive = proc.Alive(pid) // before the look: its last act is not to be missed
		return begun(l, from), alive
	})
	switch {
	case errors.Is(err, errNobody):
		words, hint := LastWords(log, said)
		err = failure.New(failure.Error, hint, "what was to continue it did not: %s", words)
	case errors.Is(err, errSlow):
		if p, findErr := os.FindProcess(pid); findErr == nil {
			_ = p.Kill() // or it would take the loop when nobody expects it any more
		}
	}
	return owner, err
}

var (
	errNobody = errors.New("there is nobody to continue it")
	errSlow   = fmt.Errorf("what was to continue it did not begin within %s", moveTimeout)
)

// awaitOwner waits for an owner after that of the epoch, and returns its process.
// look reports whether the loop has begun elsewhere, and whether what was started
// for it is alive; another may have been sooner.
func awaitOwner(ctx context.Context, l *store.Loop, epoch int64, look func() (done, alive bool)) (int, error) {
	var last store.Holder
	taken, held := false, false
	done, err := Poll(ctx, moveTimeout, func() (bool, error) {
		done, alive := look()
		var err error
		last, held, err = l.Holder()
		if taken = err == nil && last.Epoch > epoch; !alive && !(taken && (done || held)) {
			return false, errNobody
		}
		return taken && done, nil
	})
	switch {
	case err != nil: // it continues without us if the context is done
		return 0, err
	case done || taken && held:
		return last.PID, nil
	}
	return 0, errSlow
}

// begun reports whether the loop continues outside of a session.
func begun(l *store.Loop, since time.Time) bool {
	m, _, err := record.Load(l)
	return err == nil && !m.State.InSession && !m.State.Now.Before(since)
}

func newer(l *store.Loop, epoch int64) bool {
	last, _, err := l.Holder()
	return err == nil && last.Epoch > epoch
}

// LastWords is the end of what a process wrote: what failed, and what it hints at.
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
		return "it ended without a word", ""
	}
	return words, hint
}

// Successor is the process that continues a loop for the owner that started it.
type Successor struct {
	After  int64       // epoch of that owner
	Now    bool        // in any phase; else only while the loop is handed over to a runner
	Limits loop.Limits // see ResumeOptions.MoreLimits
}

// runTimeout is how long whoever hands the loop over may take to let go of it.
const runTimeout = 5 * time.Second

// Resume resumes a loop as soon as its owner releases it. It returns nil if another process was
// sooner, which may have ended it since.
func (c Successor) Resume(ctx context.Context, l *store.Loop, env environment.Environment) (*Driver, error) {
	may := func(epoch int64) error {
		m, _, err := record.Load(l)
		if err == nil && (epoch != c.After || !c.Now && m.State.HandsOverTo() != loop.OwnerRunner) {
			return store.ErrOwnershipLost // or it stays: whoever handed it over gave up on us
		}
		return err
	}
	for deadline := time.Now().Add(runTimeout); ; time.Sleep(pollInterval) {
		if newer(l, c.After) {
			return nil, nil //nolint:nilnil // it is driven
		}
		d, err := Resume(ctx, l, env, ResumeOptions{MoreLimits: c.Limits, MayOwn: may})
		if errors.Is(err, store.ErrOwnershipLost) {
			return nil, nil //nolint:nilnil // since we looked
		}
		if !store.IsHeld(err) || time.Now().After(deadline) {
			return d, err
		}
	}
}

// DriveInSession does what a loop in a session waits for. If that is another owner, it starts one;
// if none begins, the loop stays in its session. It waits up to timeout while another process
// holds the loop. prepare completes the driver.
func (b Background) DriveInSession(ctx context.Context, l *store.Loop, timeout time.Duration, prepare func(*Driver)) error {
	d, err := Rejoin(ctx, l, b.Env, timeout)
	if err != nil {
		return err
	}
	if m, _, err := record.Load(l); err == nil && !m.InSession(d.Spec.Policy) {
		return d.Close() // it has left the session meanwhile
	}
	epoch := d.Owner.Epoch()
	prepare(d)
	state, err := d.RunInSession(ctx)
	if err = errors.Join(err, d.Close()); err != nil {
		return err
	}
	if state.HandsOverTo() != loop.OwnerRunner {
		return b.startProving(l)
	}
	if _, err = b.StartDriver(ctx, l, epoch); err == nil || ctx.Err() != nil {
		return err
	}
	return KeepInSession(ctx, l, b.Env, err.Error())
}

// startProving starts mutation testing where some is left.
func (b Background) startProving(l *store.Loop) error {
	m, _, err := record.Load(l)
	if err != nil || !runner.HasMutationTestsLeft(l, m) {
		return err
	}
	return b.startBeside(l, "prove")
}

// ContinueGates starts a process that continues if the gates take long.
func (b Background) ContinueGates(begun *SessionLoop) error {
	if !begun.GatesRunning {
		return nil
	}
	return b.startBeside(begun.Loop, "drive")
}

// startBeside starts a process of a loop in a session, which continues without us.
func (b Background) startBeside(l *store.Loop, command string) error {
	log, err := openLog(l, "drive.log")
	if err != nil {
		return err
	}
	defer log.Close()
	_, err = b.Start(log, command, l.ID)
	return err
}

// openLog opens a log of a loop's for what is added to it.
func openLog(l *store.Loop, name string) (*os.File, error) {
	log, err := os.OpenFile(filepath.Join(l.Dir, name), os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("write %s: %w", name, err)
	}
	return log, nil
}

// Start starts a command of pawl session that outlives us.
func (b Background) Start(log io.Writer, args ...string) (pid int, err error) {
	cmd := exec.Command(b.Tool, append([]string{"session"}, args...)...) //nolint:noctx // it outlives us
	cmd.Dir, cmd.Stdout, cmd.Stderr = b.Dir, log, log
	if pid, err = proc.StartDetached(cmd); err != nil {
		return 0, fmt.Errorf("start pawl session %s: %w", args[0], err)
	}
	return pid, nil
}

// pollInterval is how often a loop that is about to change is looked at.
const pollInterval = 100 * time.Millisecond

// Poll looks until something is done, and reports whether it is when the time is over.
func Poll(ctx context.Context, timeout time.Duration, look func() (done bool, err error)) (done bool, err error) {
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for deadline := time.Now().Add(timeout); time.Now().Before(deadline); {
		select {
		case <-ctx.Done():
			return false, ctx.Err()
		case <-tick.C:
		}
		if done, err = look(); done || err != nil {
			return done, err
		}
	}
	return false, nil
}
