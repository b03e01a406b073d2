// Package term prints a loop at a terminal, and as JSON events for programs.
//
// The driver of a loop describes it as plain events (events.go) and passes them to a Printer. There
// are three printers: a live block that is redrawn in place, plain lines with a time for logs and
// pipes, and one JSON object per line. All three show the same facts and make no decisions.
//
// Text in events comes from plans, agents and test output and may be hostile. Escape sequences,
// control characters and direction marks are removed before it is printed. Secrets are redacted
// before events are created.
package term

import (
	"io"
	"os"
	"time"

	"golang.org/x/term"
)

// Printer shows events as they happen. Its methods may be called from several goroutines.
type Printer interface {
	// Print shows an event. It only waits for the write. Write errors are ignored, because a broken
	// pipe must not end a loop.
	Print(e Event)
	// PrintAt shows an event of an earlier time, for example in a replay.
	PrintAt(e Event, at time.Time)
	// Close restores the terminal. Defer it, so that it also runs in a panic. It may be called
	// twice.
	Close() error
}

// Mode is how a Printer prints.
type Mode int

// The modes.
const (
	Plain Mode = iota // a line with its time for each event
	Live              // a block redrawn in place
	JSON              // one object per line
	Quiet             // only the summary at the end
)

// Options of a Printer.
type Options struct {
	Out   io.Writer
	Mode  Mode
	Color bool                       // false under NO_COLOR
	ASCII bool                       // false if NO_COLOR is set
	Size  func() (columns, rows int) // of the terminal, for Live; nil or zeros mean 80 × 24
	Now   func() time.Time           // nil means time.Now
	Zone  *time.Location             // time zone of printed times; nil means local

	// InBackground reports whether another job has the terminal. Then Live only prints lines.
	InBackground func() bool // nil means never

	Attached   bool // another process drives the loop: Ctrl-C does not reach it
	Detachable bool // the key d detaches
}

// ModeFor returns the mode for a file: Live for a terminal that can move the cursor, which a dumb
// one cannot.
func ModeFor(f *os.File, json, quiet, dumb bool) Mode {
	switch {
	case json:
		return JSON
	case quiet:
		return Quiet
	case !dumb && term.IsTerminal(int(f.Fd())):
		return Live
	}
	return Plain
}

// SizeOf returns a function for Options.Size. It asks f for the size each time, because a user may
// resize the terminal.
func SizeOf(f *os.File) func() (int, int) {
	return func() (int, int) {
		columns, rows, err := term.GetSize(int(f.Fd()))
		if err != nil {
			return 0, 0
		}
		return columns, rows
	}
}

// New returns a Printer.
func New(o Options) Printer {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Zone == nil {
		o.Zone = time.Local
	}
	if o.Size == nil {
		o.Size = func() (int, int) { return 0, 0 }
	}
	if o.ASCII && o.Mode != JSON {
		o.Out = asciiWriter{o.Out}
	}
	switch o.Mode {
	case Live:
		return newLive(o)
	case JSON:
		return &jsonPrinter{o: o}
	default:
		return &plain{o: o, story: newStory(o)}
	}
}
