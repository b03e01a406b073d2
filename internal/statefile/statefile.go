// Package statefile runs loops of other tools as Pawl loops: it finds their state files, proposes a
// loop from them, and updates them while that loop is running.
//
//	for _, f := range statefile.Formats() {
//		if path := f.Find(place); path != "" {
//			p, err := f.Propose(path, place, statefile.SessionInfo{…})
//		}
//	}
//	files := f.Follow(statefile.LoopInfo{…}) // ReceiveChanges, ProgressLine, MarkEnded
//
// There is one Format for each tool, based on the pure codecs in package foreign. The hook uses
// them at the end of a turn, `pawl session begin` for an adopted loop, and the runner for a loop
// that has left its session. The files are not Pawl's: an update keeps every byte except the value
// that it sets, and a file that cannot be read stays. What an agent may have written into them
// never ends a loop.
package statefile

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"hash/fnv"
	"path/filepath"
	"time"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/core/shell"
	"github.com/pawl-dev/pawl/internal/foreign/featureloop"
	"github.com/pawl-dev/pawl/internal/foreign/freshness"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/session/place"
)

// Place is the project of a session.
type Place = place.Project

// Format is the format in which another tool keeps its loops.
type Format interface {
	// Name returns the name in record.Spec.CompatFormat.
	Name() string
	// Find returns the absolute path of the state file, "" for none. It is fast. Another tool's
	// hooks may write or remove the file at any time.
	Find(p Place) string
	// Propose reads the files and returns the loop that they ask for. An error tells the user the
	// file, the line and what to do.
	Propose(path string, p Place, c SessionInfo) (Proposal, error)
	// Follow returns the files of a running loop. It does no I/O.
	Follow(o LoopInfo) Files
}

// Formats returns all formats. If several have files, the first that belongs to the
// session is used.
func Formats() []Format {
	return []Format{
		ralphLoop{},
		thLoop{},
		verifyActive{},
		featureList{},
		planLoop{},
	}
}

// FormatByName returns the format with a name.
func FormatByName(name string) (Format, bool) {
	for _, f := range Formats() {
		if f.Name() == name {
			return f, true
		}
	}
	return nil, false
}

// FormatOfPath returns the state file that a user's path names, with its format and its project. It
// returns no format for other paths. A feature-list loop is named by its folder or a file in it;
// its list alone is a plan like any other.
func FormatOfPath(path string, p Place) (Format, string, Place) {
	for _, f := range Formats() {
		if f.Find(p) == path && filepath.Ext(path) != "" {
			return f, path, p
		}
	}
	dir := path
	switch filepath.Base(path) {
	case featureloop.ProgressName, featureloop.PromptName, featureloop.ListName:
		dir = filepath.Dir(path)
	}
	progress := filepath.Join(dir, featureloop.ProgressName)
	if existingPath(filepath.Join(dir, featureloop.ListName)) == "" || filepath.Base(path) == featureloop.ListName && existingPath(progress) == "" {
		return nil, "", p
	}
	p.RalphLoopDir = dir
	return featureList{}, progress, p
}

// FilesOf returns the state files that a loop follows, or Files that do nothing. root is
// the loop's project, dir the loop's own folder.
func FilesOf(root, dir string, spec record.Spec) Files {
	name, path := spec.CompatFormat, filepath.FromSlash(spec.CompatFile)
	if name == "" && path != "" {
		name = ralphLoop{}.Name() // loops from before there were formats
	}
	if path != "" && !filepath.IsAbs(path) {
		path = filepath.Join(root, path)
	}
	if f, ok := FormatByName(name); ok {
		return f.Follow(LoopInfo{Root: root, Path: path, LoopDir: dir, Spec: spec})
	}
	return noFiles{}
}

// Follows reports whether a loop follows state files: whether FilesOf returns any.
func Follows(spec record.Spec) bool {
	_, none := FilesOf("", "", spec).(noFiles)
	return !none
}

// noFiles are the files of a loop that follows no state files.
type noFiles struct{}

func (noFiles) OwnPaths() []string                            { return nil }
func (noFiles) ReceiveChanges(time.Time) (Changes, error)     { return Changes{}, nil }
func (noFiles) UpdateProgress(memory.Memory, time.Time) error { return nil }
func (noFiles) MarkEnded(memory.Memory, string) error         { return nil }
func (noFiles) ProgressLine(loop.State) string                { return "" }
func (noFiles) EndLine(loop.State) string                     { return "" }

// SessionInfo describes the session that may follow the files.
type SessionInfo struct {
	SessionID      string    // "" without a session
	SessionStarted time.Time // zero if not known
	Now            time.Time
	Tracked        func(path string) (bool, error) // whether git tracks a file, by absolute path: then it came with the repository, not from the user
	Unattended     bool                            // no user is in the session
	// ByAgent reports whether the session's agent may have created one of these files with a
	// command (see MayMake). It ignores paths that end in spare, where an agent keeps its notes.
	// nil means yes.
	ByAgent func(spare string, names ...string) bool
}

// startHint returns the command by which the user starts a loop from a file that is too old to
// start one by itself.
func (c SessionInfo) startHint(name string) string {
	name = shell.QuoteCommand([]string{name})
	if c.SessionID == "" || c.Unattended {
		return "touch " + name + " && claude"
	}
	return "! pawl start " + name
}

// fileContext returns what is known about the file with a display name. The caller adds whether git
// tracks it and when it was modified.
func (c SessionInfo) fileContext(name string, followed bool) freshness.FileContext {
	return freshness.FileContext{
		SessionID: c.SessionID, SessionStarted: c.SessionStarted, Now: c.Now, Followed: followed, StartCommand: c.startHint(name),
	}
}

// Proposal is the loop that the files ask for.
type Proposal struct {
	Skip    bool   // the files do not belong to this session
	Refused string // why no session may follow the files, with their path, "" = one may

	Prompt            string
	Plan              string        // absolute path, "" = none
	Kind              loop.GoalKind // "" = loop.Change
	Every             time.Duration // for loop.Periodic
	MaxIterations     int           // if MaxGiven; 0 = unlimited
	MaxGiven          bool
	MaxDuration       time.Duration // if DurationGiven; 0 = unlimited
	DurationGiven     bool
	Promise           string
	Verify            string // command that must succeed. It comes from a file, so it needs trust
	VerifyTimeout     time.Duration
	VerifyDir         string // absolute folder of the command, "" = the root
	CountedIterations int    // iterations that the file counted
	Handover          bool   // the format promises fresh sessions, and the user chose it
	Isolation         *record.Isolation
	InSessionTries    int    // failed attempts before an isolated one, if Isolation is set; 0 = as in the retry ladder
	StartMessage      string // shown to the user when the loop starts
}

// LoopInfo is a running loop that follows state files.
type LoopInfo struct {
	Root    string      // the loop's project, absolute
	Path    string      // the state file, absolute
	LoopDir string      // the loop's own folder, for state between calls
	Spec    record.Spec // the loop's specification
}

// Files are another tool's state files of a running loop. Each call reads them again,
// since anyone may have changed them.
type Files interface {
	// OwnPaths returns all paths that it may write, relative to the root, with slashes.
	// Changes of them are not attributed to the agent. Paths elsewhere are omitted.
	OwnPaths() []string
	// ReceiveChanges returns what the user, or another process, wrote into the files
	// since the last call. Call it before the state machine receives the end of a turn.
	ReceiveChanges(now time.Time) (Changes, error)
	// UpdateProgress writes counters and checkboxes when a turn starts.
	UpdateProgress(m memory.Memory, now time.Time) error
	// MarkEnded writes the end of the loop. session is the loop's session, or "": files
	// of another session stay unchanged.
	MarkEnded(m memory.Memory, session string) error
	// ProgressLine returns the line that is shown when a turn starts. It has the other tool's
	// wording, which scripts read. "" means Pawl's own line.
	ProgressLine(s loop.State) string
	// EndLine returns a line that is shown at the end before Pawl's own line, "" for none.
	EndLine(s loop.State) string
}

// newNote returns a note. Of equal texts at one time, number tells them apart.
func newNote(at time.Time, number int, text string) Note {
	h := fnv.New128a()
	fmt.Fprintf(h, "%d %d %s", at.UnixNano(), number, text)
	return Note{ID: hex.EncodeToString(h.Sum(nil)), Text: text}
}

// GoalSource is implemented by Files in which the user may change the goal while the loop runs.
type GoalSource interface {
	// Goal returns the goal as ReceiveChanges last acknowledged it, "" for that of the beginning.
	Goal() string
}

// CurrentGoal returns what the user asked for, as they last wrote it. dir is the loop's folder.
func CurrentGoal(root, dir string, spec record.Spec) string {
	if files, ok := FilesOf(root, dir, spec).(GoalSource); ok {
		return cmp.Or(files.Goal(), spec.Prompt)
	}
	return spec.Prompt
}

// goalChanged returns the note about a new goal.
func goalChanged(file, goal string) string {
	return fmt.Sprintf("The prompt in %s was changed. Work on this from now on:\n%s", file, goal)
}

// SessionLeaver is implemented by Files that store that the session was left with the loop open.
// reason is the client's word.
type SessionLeaver interface {
	SessionLeft(m memory.Memory, reason string, now time.Time) error
}

// Changes holds what ReceiveChanges found.
type Changes struct {
	Notes  []Note
	Stop   string // why the loop should end, "" = it should not
	Paused bool   // the files pause the loop
	// Acknowledge stores that the changes were passed on, so that they are not returned again. nil
	// means that there is nothing to store.
	Acknowledge func() error
}

// Note is a text for the next prompt.
type Note struct {
	ID   string // a repeated note has the same id: up to 50 letters, digits, hyphens and underscores
	Text string
}
