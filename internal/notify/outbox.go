package notify

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/core/notice"
	"github.com/pawl-dev/pawl/internal/figure"
	"github.com/pawl-dev/pawl/internal/proc"
)

// Outbox starts processes that send the notices of a loop. Its methods may be called from any
// goroutine.
type Outbox struct {
	Dir      string // folder of the loop
	Loop     string // id of the loop
	Settings notice.Settings
	Tool     []string // how to run pawl: its path, and arguments before the command
	Vars     []string // environment of that process
	// Start starts a process that outlives this one and returns its id. nil = proc.StartDetached.
	Start func(*exec.Cmd) (pid int, err error)

	mu      sync.Mutex
	started []int // process ids
}

// LogName is the file in a loop's folder that lists sent and failed notices.
const LogName = "notify.log"

// Post starts sending a notice and does not wait. Failures are only logged. A nil outbox sends
// nothing.
func (o *Outbox) Post(n notice.Notice) {
	if o == nil || len(o.Receivers(n)) == 0 {
		return
	}
	quiet := !o.Settings.QuietUntil(time.Now()).IsZero()
	if quiet && !n.KeepAfterQuietHours() {
		Log(o.Dir, n, "not sent in quiet hours")
		return
	}
	if err := o.post(n, quiet); err != nil {
		Log(o.Dir, n, "not sent: "+err.Error())
	}
}

// post stores a notice and starts its sender. In quiet hours the sender waits until they end.
func (o *Outbox) post(n notice.Notice, quiet bool) error {
	// Names sort by time. Another process that posts at the same moment posts another event.
	path := filepath.Join(o.Dir, fmt.Sprintf(noticePrefix+"%s-%s.json", strconv.FormatInt(time.Now().UnixNano(), 36), n.Event))
	if err := atomicfile.WriteJSON(path, n); err != nil {
		return err
	}
	pid, err := o.start("notify", filepath.Base(path))
	if err != nil {
		return errors.Join(err, os.Remove(path))
	}
	if quiet || n.IsAnswerable() && len(o.Settings.Answers) > 0 {
		return nil // the process waits for the answer, and ends with the question
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.started = append(o.started, pid)
	return nil
}

// start starts pawl session COMMAND for the loop.
func (o *Outbox) start(command string, args ...string) (pid int, err error) {
	argv := slices.Concat(o.Tool, []string{"session", command, o.Loop}, args)
	cmd := exec.Command(argv[0], argv[1:]...) //nolint:noctx // it outlives us
	cmd.Env, cmd.Dir = o.Vars, o.Dir
	if o.Start != nil {
		return o.Start(cmd)
	}
	return proc.StartDetached(cmd)
}

// Listen starts receiving replies to the questions of an earlier owner, and sends the notices that
// it left unsent.
func (o *Outbox) Listen() error {
	if o == nil || len(o.Tool) == 0 || len(o.Settings.Answers) == 0 && len(Posted(o.Dir)) == 0 {
		return nil
	}
	_, err := o.start("notify")
	return err
}

// Receivers returns the receivers of a notice, without the bell, which rings at the terminal.
func (o *Outbox) Receivers(n notice.Notice) []notice.Receiver {
	return slices.DeleteFunc(o.Settings.ReceiversFor(n.Event), func(r notice.Receiver) bool { return r.Kind == notice.Bell })
}

// Wait waits until everything is sent, but at most atMost. The rest is sent without this process,
// if the system allows it.
func (o *Outbox) Wait(atMost time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	deadline := time.Now().Add(atMost)
	for _, pid := range o.started {
		for pause := 10 * time.Millisecond; proc.Alive(pid) && time.Now().Before(deadline); pause = min(2*pause, 200*time.Millisecond) {
			time.Sleep(pause)
		}
	}
	o.started = nil
}

// Log adds a line to the log of a loop's notices.
func Log(dir string, n notice.Notice, what string) {
	_ = appendLine(filepath.Join(dir, LogName), fmt.Sprintf("%s %s: %s", n.Event, n.Reason, what)) // an error cannot be reported anywhere else
}

// notSent begins log lines about receivers that did not get a notice.
const notSent = "not sent to "

// NotSent returns the last failure and the number of failures, or "" if every receiver got its
// notices.
func NotSent(dir string) string {
	log, _ := atomicfile.Read(filepath.Join(dir, LogName), atomicfile.Large) // without a log, nothing was sent
	n, last := 0, ""
	for line := range strings.Lines(string(log)) {
		if _, what, failed := strings.Cut(line, ": "+notSent); failed {
			n, last = n+1, strings.TrimSpace(what)
		}
	}
	if n == 0 {
		return ""
	}
	return figure.Count(n, "notification") + ", the last to " + last
}

// LogSent logs that a receiver got a notice, or why it did not.
func LogSent(dir string, n notice.Notice, to notice.Receiver, err error) {
	what := "sent to " + to.String()
	if err != nil {
		what = notSent + to.String() + ": " + err.Error()
	}
	Log(dir, n, strings.ReplaceAll(what, "\n", " "))
}

// TelemetryLogName is the file in a loop's folder that lists sent and failed traces and metrics.
const TelemetryLogName = "telemetry.log"

// StartTelemetry starts a process that sends traces and metrics of a loop that has ended, and
// returns its id.
func (o *Outbox) StartTelemetry() (pid int, err error) { return o.start("telemetry") }

// PostTelemetry does the same, but only logs errors.
func (o *Outbox) PostTelemetry() {
	if len(o.Tool) == 0 {
		return
	}
	if _, err := o.StartTelemetry(); err != nil {
		_ = LogTelemetry(o.Dir, "not sent: "+err.Error()) // an error cannot be reported anywhere else
	}
}

// LogTelemetry adds a line to the log of a loop's traces and metrics.
func LogTelemetry(dir, what string) error {
	return appendLine(filepath.Join(dir, TelemetryLogName), what)
}

// appendLine adds a line that begins with the time to a log.
func appendLine(path, what string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("open log: %w", err)
	}
	_, err = fmt.Fprintf(f, "%s %s\n", time.Now().Format(time.RFC3339), what)
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	return err
}

const (
	noticePrefix = "notice-"    // begins the file names of posted notices
	quietLock    = "quiet.lock" // lock of the process that waits for the end of quiet hours
	// clockCheckInterval is how often that process reads the clock: a timer stops while the machine sleeps.
	clockCheckInterval = time.Minute
)

// Posted returns the names of notices in a loop's folder that no process has taken yet, the oldest
// first.
func Posted(dir string) []string {
	paths, _ := filepath.Glob(filepath.Join(dir, noticePrefix+"*.json")) // only an invalid pattern fails
	for i, path := range paths {
		paths[i] = filepath.Base(path)
	}
	return paths
}

// TakePosted reads a posted notice and removes it, so that only one process sends it.
func TakePosted(dir, name string) (notice.Notice, error) {
	var n notice.Notice
	path := filepath.Join(dir, filepath.Base(name))
	mine := path + ".taken"
	err := os.Rename(path, mine)
	if err == nil {
		err = atomicfile.ReadJSON(mine, &n)
		err = errors.Join(err, os.Remove(mine))
	}
	if err != nil {
		return n, fmt.Errorf("read notice: %w", err)
	}
	return n, nil
}

// AwaitQuietEnd waits until the loop's quiet hours end. It returns false if the context ends first, or
// if another process already waits and will send what was posted.
func AwaitQuietEnd(ctx context.Context, dir string, s notice.Settings) (bool, error) {
	if s.QuietUntil(time.Now()).IsZero() {
		return true, nil
	}
	lock := flock.New(filepath.Join(dir, quietLock), flock.SetPermissions(0o600))
	if locked, err := lock.TryLock(); !locked {
		return false, err
	}
	defer func() { _ = lock.Unlock() }()
	for {
		until := s.QuietUntil(time.Now())
		if until.IsZero() {
			return true, nil
		}
		select {
		case <-time.After(min(clockCheckInterval, time.Until(until))):
		case <-ctx.Done():
			return false, ctx.Err()
		}
	}
}
