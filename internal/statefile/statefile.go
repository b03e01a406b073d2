// Package statefile runs loops of other tools as Pawl loops: it
// finds their state files, says what loop they ask for, and keeps them up to date
// while that loop is under way.
//
//	for _, f := range statefile.Formats() {
//		if path := f.Find(place); path != "" {
//			p, err := f.Propose(path, place, statefile.SessionInfo{…})
//		}
//	}
//	files := f.Follow(statefile.LoopInfo{…}) // ReceiveChanges, ProgressLine, MarkEnded
//
// There is one Format for each tool, over the pure codecs below foreign. The hook
// asks them at the end of a turn, `pawl session begin` when one is adopted, and
// the runner when a loop has left its session. The files are other people's: what
// is not the value being set stays to the byte, what cannot be read is kept, and
// nothing that an agent may have written into them ends a loop by itself.
package statefile

import (
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

// Format is what another tool keeps its loops in.
type Format interface {
	// Name is kept in record.Spec.Format.
	Name() string
	// Find is the absolute path of the state file, "" for none: a few looks at the
	// disk. Another tool's hooks may write or remove it at any time.
	Find(p Place) string
	// Propose reads the files, and says what a loop made of them is to be. An error
	// is for people: which file, which line, what to do.
	Propose(path string, p Place, c SessionInfo) (Proposal, error)
	// Follow returns the files of a loop under way. It does no I/O.
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

// FormatByName returns a format.
func FormatByName(name string) (Format, bool) {
	for _, f := range Formats() {
		if f.Name() == name {
			return f, true
		}
	}
	return nil, false
}

// FormatOfPath returns the state file that a user's path names, with its format and the
// project for it; no format if it names none. A feature-list loop is named by its folder
// or a file in it; its list alone is a plan like any other.
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
		name = ralphLoop{}.Name() // there was no other once
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

// noFiles are the files of a loop that follows no other tool.
type noFiles struct{}

func (noFiles) OwnPaths() []string                            { return nil }
func (noFiles) ReceiveChanges(time.Time) (Changes, error)     { return Changes{}, nil }
func (noFiles) UpdateProgress(memory.Memory, time.Time) error { return nil }
func (noFiles) MarkEnded(memory.Memory, string) error         { return nil }
func (noFiles) ProgressLine(loop.State) string                { return "" }
func (noFiles) EndLine(loop.State) string                     { return "" }

// SessionInfo is what is known about the session that may follow the files.
type SessionInfo struct {
	SessionID      string    // of the session that asks, "" where none does
	SessionStarted time.Time // zero if not known
	Now            time.Time
	Tracked        func(path string) (bool, error) // whether git tracks a file, by its absolute path: such a file came with the repository, not from the user
	Unattended     bool                            // nobody sits in the session
	// ByAgent reports whether the session's own agent ran something that names one of
	// these, and may have made it (MayMake); paths that end in spare aside, where an
	// agent keeps its record. nil is yes.
	ByAgent func(spare string, names ...string) bool
}

// startHint returns the command with which the user starts a loop from a file that is too
// old to start one by itself.
func (c SessionInfo) startHint(name string) string {
	name = shell.QuoteCommand([]string{name})
	if c.SessionID == "" || c.Unattended {
		return "touch " + name + " && claude"
	}
	return "! pawl start " + name
}

// about is what is known of the file that a display name stands for; whether git tracks
// it and when it was written the caller adds.
func (c SessionInfo) about(name string, followed bool) freshness.FileContext {
	return freshness.FileContext{
		SessionID: c.SessionID, SessionStarted: c.SessionStarted, Now: c.Now, Followed: followed, Begin: c.startHint(name),
	}
}

// Proposal is the loop that the files ask for.
type Proposal struct {
	Skip    bool   // the files do not belong to this session
	Refused string // why no session may follow the files, for people, with their path; "" if one may

	Prompt            string
	Plan              string        // absolute path; "": none
	Kind              loop.GoalKind // "" is loop.Change
	Every             time.Duration // of loop.Periodic
	MaxIterations     int           // if MaxGiven; 0: unlimited
	MaxGiven          bool
	MaxDuration       time.Duration // if DurationGiven; 0: unlimited
	DurationGiven     bool
	Promise           string
	Verify            string // command that is to succeed. It came out of a file: it needs trust
	VerifyTimeout     time.Duration
	VerifyDir         string // where it runs, absolute; "" for the root
	CountedIterations int    // iterations that the file counted
	Handover          bool   // the format promises to continue in fresh sessions, and the user chose it
	Isolation         *record.Isolation
	InSessionTries    int    // failed tries before an isolated one, if Isolation is set; 0: the ladder decides
	StartMessage      string // shown to the user when the loop begins
}

// LoopInfo is a running loop that follows state files.
type LoopInfo struct {
	Root    string      // the loop's project, absolute
	Path    string      // the state file, absolute
	LoopDir string      // the loop's own folder, for state between calls
	Spec    record.Spec // what was asked of it
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
	// UpdateProgress writes counters and checkboxes when a turn begins.
	UpdateProgress(m memory.Memory, now time.Time) error
	// MarkEnded writes the end of the loop. session is the loop's session, or "": files
	// of another session stay unchanged.
	MarkEnded(m memory.Memory, session string) error
	// ProgressLine is shown when a turn begins, in the other tool's words, which people's
	// scripts read; "": Pawl's own line is.
	ProgressLine(s loop.State) string
	// EndLine is shown at the end, before Pawl's own line; "": nothing.
	EndLine(s loop.State) string
}

// SessionLeaver is implemented by Files that record that the session was left with the
// loop open. reason is the client's word.
type SessionLeaver interface {
	SessionLeft(m memory.Memory, reason string, now time.Time) error
}

// Changes are what ReceiveChanges found.
type Changes struct {
	Notes  []Note
	Stop   string // why the loop should end; "": it should not
	Paused bool   // the files pause the loop
	// Acknowledge stores that the changes were passed on, so that they are not returned
	// again; nil: nothing to store.
	Acknowledge func() error
}

// Note is for the next prompt.
type Note struct {
	ID   string // the same words heard once more have it again: up to 50 letters, digits, hyphens and underscores
	Text string
}
