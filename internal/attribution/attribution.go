// Package attribution finds out whose a change in a loop's work tree is: the agent's, the
// user's, or Pawl's. Only the agent's changes are gated, committed and undone; the user's stay.
//
// Before each tool call that may write, and after it, Pawl records the call and the time. So it
// does for its gates and for the user's commit hooks. Whose a change is follows from that:
//
//   - An editing tool wrote the file: the agent's.
//   - Its times (also those of a new folder around it) lie outside of all recorded spans: the
//     user's. A file that appeared while gates ran is the gates'.
//   - A tracked file that the agent edited, and that somebody changed again while no call ran: the
//     agent's, named as perhaps the user's.
//   - No call since the last inspection can have changed a protected file: the user's.
//   - A commit whose object was written while no call ran: the user's.
//   - In doubt, as with a clock that is not this machine's: the agent's, so that no ungated work
//     passes and none is lost.
//
// What was attributed once is journalled and stays, since a stash or a checkout alters times. The
// decisions are in package core/authorship, which is pure; this package gets calls, times and
// trees for them.
package attribution

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/core/authorship"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/store"
)

// Tracker attributes the changes of one loop while this process owns it. Its turn's calls may
// come from any goroutine. All else is for one at a time.
type Tracker struct {
	Options
	recording
	recorded      record.CallReader
	inspected     memory.Attribution     // of the running inspection
	runnerBytes   int64                  // bytes of record.RunnerCallsFile that this owner has inspected
	cutOff        authorship.Span        // from the start of the call in which the owner before this one was killed to the start of this one
	others        memory.NewFiles        // files that this owner attributed to others than the agent
	agentNewFiles map[string]bool        // new files that are attributed to the agent
	complete      string                 // base and state of the index at which all new files were attributed
	agentEdits    map[string]bool        // tracked files whose changes since the base are attributed to the agent
	agentBlobs    map[string]string      // contents of the agent's tracked files at the last inspection
	editsBase     string                 // that base
	notByGates    map[string]bool        // tracked files that changed while gates ran, and that no gate changes
	userEdits     map[string][]time.Time // tracked files with changes of the user since the base, with their times when they were last attributed
}

// Options of a Tracker.
type Options struct {
	Loop      *store.Loop
	Repo      *git.Repo // of the work tree
	InSession bool      // a user's session has the loop
	// KnownFiles returns files that need no attribution, such as those that Pawl writes.
	KnownFiles func() []string
}

// New returns a Tracker.
func New(o Options) *Tracker {
	t := &Tracker{Options: o, agentNewFiles: map[string]bool{}, agentEdits: map[string]bool{}, notByGates: map[string]bool{}, agentBlobs: map[string]string{}, userEdits: map[string][]time.Time{}}
	t.calls.Resolve = record.PathNames
	return t
}

// recording is what the agent's tool calls may have changed, and when they ran. It is locked,
// since a process that a turn left in the background may make calls when the next turn begins.
type recording struct {
	mu          sync.Mutex
	calls       authorship.Calls
	activity    authorship.Activity
	hasNewSpans atomic.Bool // a span was recorded since the last inspection
}

const (
	clockTick   = 50 * time.Millisecond // kernels stamp files with the time of their last tick: 4 to 16 ms ago
	wholeSecond = time.Second           // the precision of some file systems
)

// timeline returns when agent, gates and hooks ran. It is empty if file times are unusable.
func (t *Tracker) timeline(m memory.ActionContext) (authorship.Timeline, error) {
	calls, err := t.recorded.Read(t.Loop)
	if err != nil {
		return authorship.Timeline{}, err
	}
	tolerance, ok := t.fileTimeError()
	if !ok {
		return authorship.Timeline{}, nil
	}
	t.mu.Lock()
	calls.OpenSpan = t.activity.OpenSpan(time.Now())
	t.mu.Unlock()
	return calls.Timeline(m.StartedAt, time.Now(), tolerance), nil
}

// fileTimeError returns how far the times of files may be from this machine's clock, measured with a
// new file. ok is false if the file system uses another clock, as some network file systems do.
func (t *Tracker) fileTimeError() (tolerance time.Duration, ok bool) {
	before := time.Now()
	f, err := os.CreateTemp(t.Repo.GitDir(), "pawl-clock-")
	if err != nil {
		return 0, false
	}
	defer func() { _ = os.Remove(f.Name()) }()
	if err := f.Close(); err != nil {
		return 0, false
	}
	info, err := os.Stat(f.Name())
	if err != nil {
		return 0, false
	}
	return clockError(info.ModTime(), authorship.Span{From: before, Until: time.Now()})
}

// clockError returns how far times may be off if a file that was made in a span has this time. A
// time without a fraction is of a file system that stores whole seconds.
func clockError(made time.Time, span authorship.Span) (tolerance time.Duration, ok bool) {
	off := max(span.From.Sub(made), made.Sub(span.Until))
	switch {
	case off > wholeSecond:
		return 0, false
	case off > clockTick || made.Nanosecond() == 0:
		return wholeSecond, true
	}
	return clockTick, true
}

// abs returns the absolute path of a file of the work tree.
func (t *Tracker) abs(file string) string {
	return filepath.Join(t.Repo.Root(), filepath.FromSlash(file))
}

// timesOf returns the times of a file, given by its absolute path; none if they cannot be read.
func timesOf(path string) []time.Time {
	times, err := atomicfile.Times(path)
	if err != nil {
		return nil
	}
	return times
}

// editTimes returns the times of a tracked file. For a deleted file it returns those of the
// nearest existing folder, or none if they cannot be read.
func (t *Tracker) editTimes(file string) (times []time.Time, deleted bool) {
	for name := file; ; name = path.Dir(name) {
		times, err := atomicfile.Times(t.abs(name))
		if err == nil || name == "." || !errors.Is(err, fs.ErrNotExist) {
			return times, name != file
		}
	}
}
