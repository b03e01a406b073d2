package testreport

import (
	"bufio"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pawl-dev/pawl/internal/core/gate"
)

// junitReader reads the elements of a JUnit report one at a time, so that its memory only grows
// with the ids.
type junitReader struct {
	rep      Report
	path     []string // open elements
	suites   []string // names of the open suites
	test     *junitTest
	hasSuite bool // a testsuite or testsuites element was read
}

type junitTest struct {
	id      string
	failed  bool
	skipped bool
	message string
}

func parseJUnit(r io.Reader) (Report, error) {
	j := &junitReader{}
	err := j.read(r)
	j.rep.finish()
	if err != nil {
		return j.rep, fmt.Errorf("read junit report: %w", err)
	}
	return j.rep, nil
}

func (j *junitReader) read(r io.Reader) error {
	in, err := skipNoise(r)
	if err != nil {
		return err
	}
	d := xml.NewDecoder(in)
	d.Strict = false
	d.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) {
		return &latin1{in: bufio.NewReader(in)}, nil
	}
	for {
		tok, err := d.RawToken()
		switch {
		case err != nil && j.hasSuite && len(j.path) == 0:
			return nil // the end of the report, perhaps with noise after it
		case errors.Is(err, io.EOF):
			return io.ErrUnexpectedEOF
		case err != nil:
			return err
		}
		switch tok := tok.(type) {
		case xml.StartElement:
			j.start(tok)
		case xml.EndElement:
			if err := j.end(tok.Name.Local); err != nil {
				return err
			}
		case xml.CharData:
			if last := len(j.path) - 1; j.test != nil && j.test.failed && j.test.message == "" && (j.path[last] == "failure" || j.path[last] == "error") {
				j.test.message = firstLine(string(tok))
			}
		}
	}
}

// skipNoise discards what a runner printed before the report.
func skipNoise(r io.Reader) (io.Reader, error) {
	in := bufio.NewReaderSize(r, 4096)
	for {
		line, err := in.Peek(4096)
		if len(line) == 0 {
			if errors.Is(err, io.EOF) {
				err = errors.New("no testsuite in it")
			}
			return nil, err
		}
		at := len(line)
		for _, mark := range []string{"<?xml", "<testsuite"} {
			if i := strings.Index(string(line), mark); i >= 0 {
				at = min(at, i)
			}
		}
		if at < len(line) {
			_, err := in.Discard(at)
			return in, err
		}
		// The start of the report may be split between two buffers.
		if _, err := in.Discard(max(1, len(line)-len("<testsuite"))); err != nil {
			return nil, err
		}
	}
}

func (j *junitReader) start(e xml.StartElement) {
	name := e.Name.Local
	j.path = append(j.path, name)
	switch name {
	case "testsuites":
		j.hasSuite = true
	case "testsuite":
		j.hasSuite = true
		j.suites = append(j.suites, attr(e, "name"))
	case "testcase":
		j.test = &junitTest{id: j.id(e)}
		switch attr(e, "status") {
		case "skipped", "disabled", "notrun":
			j.test.skipped = true
		}
	case "skipped":
		if j.test != nil {
			j.test.skipped = true
		}
	case "failure", "error":
		j.failure(attr(e, "message"))
	}
}

// failure records a failure of the open test, or of the suite if no test is open.
func (j *junitReader) failure(message string) {
	if j.test != nil {
		j.test.failed = true
		if j.test.message == "" {
			j.test.message = firstLine(message)
		}
		return
	}
	suite := j.suite()
	j.rep.Failing = append(j.rep.Failing, suite)
	j.rep.addIncomplete(suite)
	j.rep.firstError(strings.TrimSuffix(suite+": "+firstLine(message), ": "))
}

func (j *junitReader) suite() string {
	if len(j.suites) == 0 {
		return ""
	}
	return j.suites[len(j.suites)-1]
}

func (j *junitReader) id(e xml.StartElement) string {
	class := attr(e, "classname")
	if class == "" {
		class = j.suite()
	}
	if class == "" {
		return attr(e, "name")
	}
	return class + "." + attr(e, "name")
}

func (j *junitReader) end(name string) error {
	if len(j.path) == 0 || j.path[len(j.path)-1] != name {
		return fmt.Errorf("</%s> closes nothing", name)
	}
	j.path = j.path[:len(j.path)-1]
	switch name {
	case "testsuite":
		j.suites = j.suites[:len(j.suites)-1]
	case "testcase":
		j.endTest()
	}
	return nil
}

func (j *junitReader) endTest() {
	t := j.test
	j.test = nil
	switch {
	case t == nil: // a testcase inside a testcase
	case t.failed:
		j.rep.add(t.id, gate.Fail)
		j.rep.firstError(strings.TrimSuffix(t.id+": "+t.message, ": "))
	case !t.skipped:
		j.rep.add(t.id, gate.Pass)
	}
}

func attr(e xml.StartElement, name string) string {
	i := slices.IndexFunc(e.Attr, func(a xml.Attr) bool { return a.Name.Local == name })
	if i < 0 {
		return ""
	}
	return e.Attr[i].Value
}

// firstLine returns the first line of s that is not blank.
func firstLine(s string) string {
	for line := range strings.Lines(s) {
		if line = strings.TrimSpace(line); line != "" {
			return line
		}
	}
	return ""
}

// latin1 decodes each byte as the rune with the same number. Reports that are not in UTF-8 use
// charsets that agree with Latin-1 on the characters of ids.
type latin1 struct {
	in   *bufio.Reader
	rest []byte
}

func (l *latin1) Read(p []byte) (int, error) {
	if len(l.rest) == 0 {
		b, err := l.in.ReadByte()
		if err != nil {
			return 0, err
		}
		l.rest = utf8.AppendRune(nil, rune(b))
	}
	n := copy(p, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}
