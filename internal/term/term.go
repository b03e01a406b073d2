// Package term prints a loop at a terminal, and as JSON events for programs.
//
// The driver of a loop describes it as plain events (events.go) and passes them to a
// Printer. There are three: a live block that is redrawn in place, plain lines with
// a time for logs and pipes, and one JSON object per line. All three show the same
// facts; none of them decides anything.
//
// Text in events comes from plans, agents and test output and may be hostile:
// escape sequences, control characters and direction marks are removed before
// anything is printed. Secrets are redacted before events are made.
package term

import (
	"io"
	"os"
	"time"

	"golang.org/x/term"
)

// Printer shows events as they happen. Its methods may be called from several
// goroutines.
type Printer interface {
	// Print shows one event. It never waits for more than the write itself;
	// what cannot be written is dropped, for a broken pipe must not end a loop.
	Print(e Event)
	// PrintAt shows an event that happened at a time: one that is shown again.
	PrintAt(e Event, at time.Time)
	// Close leaves the terminal as it was found: defer it, so that it also
	// runs in a panic. Idempotent.
	Close() error
}

// Mode says how to print.
type Mode int

// The modes.
const (
	Plain Mode = iota // a line with its time for each event
	Live              // a block redrawn in place
	JSON              // one object a line
	Quiet             // the summary at the end alone
)

// Options of a Printer.
type Options struct {
	Out   io.Writer
	Mode  Mode
	Color bool                       // false under NO_COLOR
	ASCII bool                       // print no symbols beyond ASCII; JSON stays as it is
	Size  func() (columns, rows int) // of the terminal, for Live; nil or zeros mean 80 × 24
	Now   func() time.Time           // nil means time.Now
	Zone  *time.Location             // of the times shown; nil means local

	Attached   bool // another process drives the loop: Ctrl-C does not reach it
	Detachable bool // the key d detaches
}

// ModeFor chooses the mode for a file: Live where a user can see it.
// A dumb one moves no cursor.
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

// SizeOf returns a function for Options.Size that asks f each time, so that a
// resized terminal is noticed.
func SizeOf(f *os.File) func() (int, int) {
	return func() (int, int) {
		columns, rows, err := term.GetSize(int(f.Fd()))
		if err != nil {
			return 0, 0
		}
		return columns, rows
	}
}

// New makes a printer.
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
