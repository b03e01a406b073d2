// Package testreport reads what test runners print: which tests
// passed, which failed, and what the first error was.
//
// Formats: go-json (the event stream of `go test -json`), tap, and junit (the
// XML that most runners can write). A report only adds detail to an exit code,
// so readers are forgiving: noise before, between and after the report is
// passed over, a report that breaks off still gives what it said, and the tests
// that began without an end count as failed. Skipped tests are left out: a test
// that passed before and is skipped now has not passed.
//
// Read tells what became of the tests of any command, also where no report is
// printed: by its exit code, and where the command hides that, by the lines with
// which its runner sums up. Nothing here guesses from prose.
package testreport

import (
	"fmt"
	"io"
	"slices"

	"github.com/pawl-dev/pawl/internal/core/gate"
)

// The formats Parse reads.
const (
	GoJSON = "go-json"
	TAP    = "tap"
	JUnit  = "junit"
)

// Report is what one run of a test runner said.
type Report struct {
	// Tests that ran, by id: package.Test for Go, classname.name for JUnit, the
	// path of descriptions ("parent > child") for TAP.
	Tests map[string]gate.Status
	// Failing holds the ids of failed tests and the names of packages or suites
	// that failed as a whole, sorted.
	Failing []string
	// FirstError is one line, "" if nothing failed.
	FirstError string
	// BuildFailed: some of the tests could not even be built.
	BuildFailed bool
	// Incomplete names the groups of which not every test was heard: a package
	// that did not build or crashed. A test belongs to group g if its id begins
	// with g and a dot, or to "" in any case.
	Incomplete []string
}

// Parse reads a whole report. An error means that it broke off or that the
// format is unknown; the Report then holds what was read until there.
func Parse(format string, r io.Reader) (Report, error) {
	if format == JUnit {
		return parseJUnit(r)
	}
	s, err := NewStream(format, io.Discard)
	if err != nil {
		return Report{}, err
	}
	if _, err := io.Copy(s, r); err != nil {
		return s.Report(), fmt.Errorf("read %s report: %w", format, err)
	}
	return s.Report(), nil
}

// maxLine is the longest line that is parsed; what is longer is passed on
// unread.
const maxLine = 1 << 20

// Stream reads a report while it is being printed, in bounded memory per
// running test, and passes on what a user would want to read of it.
type Stream struct {
	reader  lineReader
	pending []byte
	long    bool // the pending line passed maxLine, its rest is dropped
	err     error
}

// lineReader is one format. A line comes without its newline.
type lineReader interface {
	line(line string) error
	report() Report
}

// NewStream begins to read a report of format go-json or tap; text receives the
// readable part.
func NewStream(format string, text io.Writer) (*Stream, error) {
	switch format {
	case GoJSON:
		return &Stream{reader: newGoReader(text)}, nil
	case TAP:
		return &Stream{reader: newTAPReader(text)}, nil
	}
	return nil, fmt.Errorf("read test report: unknown format %q (go-json, tap or junit)", format)
}

// Write takes the next part of the runner's output. It fails only when the
// writer of the readable part does.
func (s *Stream) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 && s.err == nil {
		i := slices.Index(p, '\n')
		if i < 0 {
			s.hold(p)
			break
		}
		s.hold(p[:i])
		s.flush()
		p = p[i+1:]
	}
	return n, s.err
}

func (s *Stream) hold(p []byte) {
	if room := maxLine - len(s.pending); len(p) > room {
		p, s.long = p[:room], true
	}
	s.pending = append(s.pending, p...)
}

func (s *Stream) flush() {
	line := string(s.pending)
	if s.long {
		line += "…"
	}
	s.pending, s.long = s.pending[:0], false
	if cap(s.pending) > 1<<16 {
		s.pending = nil
	}
	s.err = s.reader.line(line)
}

// Report returns the report of what was read until now, as if the output had ended.
func (s *Stream) Report() Report {
	if len(s.pending) > 0 {
		s.flush()
	}
	r := s.reader.report()
	r.finish()
	return r
}

// maxTests bounds the tests that a report keeps. Output that never ends may look
// like one; no suite has so many.
const maxTests = 250_000

// add notes the result of a test; where an id comes twice, fail wins.
func (r *Report) add(id string, status gate.Status) {
	if r.Tests == nil {
		r.Tests = map[string]gate.Status{}
	}
	if _, there := r.Tests[id]; !there && len(r.Tests) >= maxTests {
		return
	}
	if r.Tests[id] != gate.Fail {
		r.Tests[id] = status
	}
}

func (r *Report) firstError(line string) {
	if r.FirstError == "" {
		r.FirstError = oneLine(line)
	}
}

// cutShort notes a group of which not every test was heard.
func (r *Report) cutShort(group string) {
	if !slices.Contains(r.Incomplete, group) {
		r.Incomplete = append(r.Incomplete, group)
	}
}

// finish derives what is derived, and makes equal reports equal.
func (r *Report) finish() {
	for id, s := range r.Tests {
		if s == gate.Fail {
			r.Failing = append(r.Failing, id)
		}
	}
	slices.Sort(r.Failing)
	r.Failing = slices.Compact(r.Failing)
	slices.Sort(r.Incomplete)
}

// Merge adds what another report of the same run says; fail wins.
func (r *Report) Merge(other Report) {
	for id, s := range other.Tests {
		r.add(id, s)
	}
	r.Failing = append(r.Failing, other.Failing...)
	r.Incomplete = append(r.Incomplete, other.Incomplete...)
	r.BuildFailed = r.BuildFailed || other.BuildFailed
	r.firstError(other.FirstError)
	r.finish()
	r.Incomplete = slices.Compact(r.Incomplete)
}
