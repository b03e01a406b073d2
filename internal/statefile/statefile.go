// Package statefile has the loops of other tools live on Pawl's machine: it
// finds their state files, says what loop they ask for, and keeps them up to date
// while that loop is under way.
//
//	for _, f := range statefile.Formats() {
//		if path := f.Find(place); path != "" {
//			p, err := f.Propose(path, place, circumstances)
//		}
//	}
//	files := f.Follow(statefile.Order{…})  // Hear, GoesOn, Ends
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
	"github.com/pawl-dev/pawl/internal/core/shell"
	"github.com/pawl-dev/pawl/internal/foreign/featureloop"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/session/place"
)

// Place is where a session lives, and where its tools leave their files.
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
	Propose(path string, p Place, c Circumstances) (Proposal, error)
	// Follow returns the files of a loop under way. It does no I/O.
	Follow(o Order) Files
}

// Formats lists all formats. Where the files of several are there, the first
// that is for a session wins.
func Formats() []Format {
	return []Format{
		ralphLoop{},
		thLoop{},
		verifyActive{},
		featureList{},
		planLoop{},
	}
}

// Named returns the format of that name.
func Named(name string) (Format, bool) {
	for _, f := range Formats() {
		if f.Name() == name {
			return f, true
		}
	}
	return nil, false
}

// Meant returns the state file that a path of the user's names, with its format and the
// project as that is to see it; no format where it names none. Of a feature-list loop
// the folder is named, or a file in it; its list alone is a plan like any.
func Meant(path string, p Place) (Format, string, Place) {
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
	if there(filepath.Join(dir, featureloop.ListName)) == "" || filepath.Base(path) == featureloop.ListName && there(progress) == "" {
		return nil, "", p
	}
	p.RalphLoopDir = dir
	return featureList{}, progress, p
}

// Of returns the other tool's files of a loop; where it has none, Files that know
// and do nothing. root is the folder that the loop is bound to, dir the loop's own.
func Of(root, dir string, spec record.Spec) Files {
	name, path := spec.Format, filepath.FromSlash(spec.File)
	if name == "" && path != "" {
		name = ralphLoop{}.Name() // there was no other once
	}
	if path != "" && !filepath.IsAbs(path) {
		path = filepath.Join(root, path)
	}
	if f, ok := Named(name); ok {
		return f.Follow(Order{Root: root, Path: path, LoopDir: dir, Spec: spec})
	}
	return none{}
}

// none are the files of a loop of our own.
type none struct{}

func (none) Own() []string                         { return nil }
func (none) Hear(time.Time) (Word, error)          { return Word{}, nil }
func (none) GoesOn(record.Memory, time.Time) error { return nil }
func (none) Ends(record.Memory, string) error      { return nil }
func (none) Line(loop.State) string                { return "" }
func (none) Ending(loop.State) string              { return "" }

// Circumstances are what is known beside the files.
type Circumstances struct {
	SessionID      string    // of the session that asks, "" where none does
	SessionStarted time.Time // zero if not known
	Now            time.Time
	Tracked        func(path string) (bool, error) // whether git tracks a file, by its absolute path: such a file came with the repository, not from the user
	Unattended     bool                            // nobody sits in the session
	// ByAgent tells whether the session's own agent ran something that names one of
	// these, and may have made it (MayMake); paths that end in spare aside, where an
	// agent keeps its record. nil is yes.
	ByAgent func(spare string, names ...string) bool
}

// begin is the command with which the user has a loop made of a file that is too old
// to begin one by itself. Where nobody can type in the session it is for the next one.
func (c Circumstances) begin(name string) string {
	name = shell.Quoted([]string{name})
	if c.SessionID == "" || c.Unattended {
		return "touch " + name + " && claude"
	}
	return "! pawl start " + name
}

// Proposal is what a loop made of the files is to be.
type Proposal struct {
	Skip    bool   // it is none of this session's: there is nothing to say
	Refused string // why no session may follow the files, for people, with their path; "" if one may

	Prompt         string
	Plan           string        // absolute path, "" for none
	Kind           loop.Kind     // "" is loop.Change
	Every          time.Duration // of loop.Periodic
	MaxIterations  int           // if MaxGiven: 0 is no limit
	MaxGiven       bool
	MaxDuration    time.Duration // if DurationGiven: 0 is no limit
	DurationGiven  bool
	Promise        string
	Verify         string // command that is to succeed. It came out of a file: it needs trust
	VerifyTimeout  time.Duration
	VerifyDir      string // where it runs, absolute; "" for the root
	Counted        int    // iterations that were counted there
	Handover       bool   // the format promises to go on in fresh sessions, and the user chose it
	Isolation      *record.Isolation
	InSessionTries int    // failed tries before an isolated one, if Isolation is set; 0: the ladder decides
	Remark         string // worth telling the user when the loop begins, "" for nothing
}

// Order is a loop under way, of whose files there is something to know.
type Order struct {
	Root    string      // folder that the loop is bound to, absolute
	Path    string      // the state file, absolute
	LoopDir string      // the loop's own folder, for what is to be remembered
	Spec    record.Spec // what was asked of it
}

// Files are the files of a loop under way. Each call reads them anew: anyone may
// have changed them.
type Files interface {
	// Own are all paths that it may write, relative to the root, with slashes:
	// they are no work of the agent's. Paths elsewhere are left out.
	Own() []string
	// Hear tells what the user, or another process, did to the files since it was
	// last asked. It is called before the machine hears that a turn has ended.
	Hear(now time.Time) (Word, error)
	// GoesOn is called when a turn is given: it brings counters and marks up to date.
	GoesOn(m record.Memory, now time.Time) error
	// Ends is called when the loop has ended. session is the one that it lived in,
	// "" for none: files that are another's stay.
	Ends(m record.Memory, session string) error
	// Voice is what people, and their scripts, read.
	Voice
}

// Voice says in the other tool's words how a loop goes.
type Voice interface {
	// Line is shown when a turn is given; "" for Pawl's own line.
	Line(s loop.State) string
	// Ending is shown at the end, before Pawl's own line; "" for nothing.
	Ending(s loop.State) string
}

// Leaver is an optional power of Files: the session is left with the loop open.
// reason is the client's word for it.
type Leaver interface {
	Leaves(m record.Memory, reason string, now time.Time) error
}

// Word is what was heard.
type Word struct {
	Notes []Note
	Stop  string // why the loop is to end, "" if it is not
	Held  bool   // the files say that the loop rests
	// Heard remembers that the word was passed on, so that it is not said again;
	// nil where there is nothing to remember.
	Heard func() error
}

// Note is for the next prompt.
type Note struct {
	ID   string // the same words heard once more have it again: up to 50 letters, digits, hyphens and underscores
	Text string
}
