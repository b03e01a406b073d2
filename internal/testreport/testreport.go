// Package testreport reads the output of test runners: which tests passed, which failed, and the
// first error.
//
// It reads three report formats: go-json (the events of `go test -json`), tap, and junit (XML that
// most runners can write). A report only adds detail to an exit code, so the readers are forgiving.
// They skip noise before, between and after the report. They return the results of a truncated
// report. A test that started but did not end has failed. Skipped tests are left out: a test that
// passed before and is skipped now has not passed.
//
// Read returns the result of the tests of any command, with or without a report. It uses the exit
// code, or the summary of the runner if the command hides the exit code. It does not interpret
// prose.
package testreport

import (
	"fmt"
	"io"
	"slices"

	"github.com/pawl-dev/pawl/internal/core/gate"
)

// The formats that Parse reads.
const (
	GoJSON = "go-json"
	TAP    = "tap"
	JUnit  = "junit"
)

// Report holds the results of one run of a test runner.
type Report struct {
	// Tests holds the tests that ran, by id: package.Test for Go, classname.name for JUnit, the
	// path of descriptions ("parent > child") for TAP.
	Tests map[string]gate.Status
	// Failing holds the ids of failed tests and the names of packages or suites that failed as a
	// whole, sorted.
	Failing []string
	// FirstError is one line, "" if nothing failed.
	FirstError string
	// BuildFailed reports that some tests did not compile.
	BuildFailed bool
	// Incomplete names the groups with missing results, such as a package that did not compile or
	// crashed. A test belongs to group g if its id begins with g and a dot. Every test belongs to
	// group "".
	Incomplete []string
}

// Parse reads a whole report. It returns an error if the report is truncated or its format is
// unknown, together with what it read.
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

// maxLine limits the length of a parsed line in bytes; longer lines are cut.
const maxLine = 1 << 20

// Stream reads a report while it is printed. It writes the readable part to another writer, and its
// memory per running test is limited.
type Stream struct {
	reader  lineReader
	pending []byte
	cut     bool // the pending line exceeds maxLine, its rest is dropped
	err     error
}

// lineReader reads one format. Lines have no newline.
type lineReader interface {
	line(line string) error
	report() Report
}

// NewStream returns a Stream for a report of format go-json or tap. It writes the readable part to
// text.
func NewStream(format string, text io.Writer) (*Stream, error) {
	switch format {
	case GoJSON:
		return &Stream{reader: &goReader{text: text, running: map[string]*goTest{}}}, nil
	case TAP:
		return &Stream{reader: &tapReader{text: text, yaml: -1}}, nil
	}
	return nil, fmt.Errorf("read test report: unknown format %q (go-json, tap or junit)", format)
}

// Write reads the next part of the runner's output. It only fails if the writer of the readable
// part fails.
func (s *Stream) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 && s.err == nil {
		i := slices.Index(p, '\n')
		if i < 0 {
			s.buffer(p)
			break
		}
		s.buffer(p[:i])
		s.readLine()
		p = p[i+1:]
	}
	return n, s.err
}

func (s *Stream) buffer(p []byte) {
	if room := maxLine - len(s.pending); len(p) > room {
		p, s.cut = p[:room], true
	}
	s.pending = append(s.pending, p...)
}

func (s *Stream) readLine() {
	line := string(s.pending)
	if s.cut {
		line += "…"
	}
	s.pending, s.cut = s.pending[:0], false
	if cap(s.pending) > 1<<16 {
		s.pending = nil
	}
	s.err = s.reader.line(line)
}

// Report returns the report so far, as if the output had ended.
func (s *Stream) Report() Report {
	if len(s.pending) > 0 {
		s.readLine()
	}
	r := s.reader.report()
	r.finish()
	return r
}

// maxTests limits the tests of a report. No suite has so many, but endless output may look like
// one.
const maxTests = 250_000

// add records the result of a test. If an id occurs twice, a failure has priority.
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

// addIncomplete records a group with missing results.
func (r *Report) addIncomplete(group string) {
	if !slices.Contains(r.Incomplete, group) {
		r.Incomplete = append(r.Incomplete, group)
	}
}

// finish adds failed tests to Failing, and sorts, so that equal reports compare equal.
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

// Merge adds the results of another report of the same run. A failure has priority.
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
