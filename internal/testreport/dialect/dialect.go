// Package dialect reads what test runners print for people: how many tests
// failed, which, and what the first error was.
//
// Each runner has a table of lines that it prints itself, from the first column
// to the last: its header, its summary, the names of what failed. A line that
// only speaks of failure is none of them. Tests print what they like, also such
// lines, but they do so before the runner sums up: a later summary takes the
// place of an earlier one.
//
// The text comes as lines without terminal control.
package dialect

import (
	"slices"
	"strconv"
	"strings"

	"github.com/pawl-dev/pawl/internal/regex"
)

// Said is what the text of a run says.
type Said struct {
	// Marks counts the different kinds of lines of this runner that were met.
	Marks int
	// Summed: a summary was met, so that the absence of failures means something.
	Summed bool
	// Failed, Passed, Skipped count tests, as far as a summary gave them.
	Failed, Passed, Skipped int
	// Uncounted: nothing says how many tests passed; Passed is 1 where some did.
	Uncounted bool
	// Several: a summary took the place of an earlier one that counted tests, as where
	// a runner is started twice; the numbers are of the last.
	Several bool
	// Red: the summary says by a word, or by its number of files, that tests failed.
	Red bool
	// Bad: something failed that is not counted as a test.
	Bad bool
	// None: no tests were found or run. Broken: the runner did not get to run any.
	// Gate: green tests did not suffice (coverage). Stopped: by a user.
	None, Broken, Gate, Stopped bool
	// Failing are names of failed tests, in the order they came.
	Failing []string
	// FirstError is a line, "" if there is none.
	FirstError string
}

// maxNames bounds the failing tests that are kept.
const maxNames = 1000

// kind is what a line tells.
type kind int

const (
	mark    kind = iota
	start        // the summary begins: what was counted before was not it
	count        // numbers: named groups, or a text of "2 failed, 1 passed"
	bad          // a failure that no number counts
	red          // the same, unless a summary follows
	name         // of a failed test; a group "err" is its error
	subject      // a file or package that failed, to be named where no test is
	whole        // the last subject failed as a whole
	first        // the first error, if there is none yet
	none         // no tests
	broken       // the runner itself failed
	gated        // a demand beside the tests
	stopped      // by a user
	forget       // the names begin anew
	enter        // a section
	leave        // the end of all sections
)

// rule is one line of a runner.
type rule struct {
	kind kind
	re   *regex.Regex
	in   string // the section it counts in; "" = any
	to   string // the section it begins
	// next: the next line that is not blank is the first error, if there is none.
	next bool
}

// Dialect is one runner.
type Dialect struct {
	rules []rule
	// all: a summary's total counts the tests that ended with an error too.
	all bool
	// settle may correct what the lines said.
	correct func(*reading)
	// line sees every line before the rules; true takes it.
	line func(*reading, string) bool
}

// reading is a text being read.
type reading struct {
	Said
	marks   map[int]bool
	seen    map[string]bool
	section string
	want    bool // the next line that is not blank is the first error
	part    []string
	// subjects failed, and some of them are named by no test.
	subjects []string
	ticks    int  // tests that were listed as passed
	errs     int  // failures that are not a test's
	total    int  // of the tests, where a summary gives it
	red      bool // a failure was named that no summary has counted yet
}

// dialects are tried in this order where the runner is not known. The patterns
// are compiled when they are first wanted.
var dialects = []struct {
	name    string
	dialect func() Dialect
}{
	{"jest", jest},
	{"vitest", vitest},
	{"mocha", mocha},
	{"node", node},
	{"ava", ava},
	{"jasmine", jasmine},
	{"tap", tap},
	{"bun", bun},
	{"playwright", playwright},
	{"go", golang},
	{"cargo", cargo},
	{"pytest", pytest},
	{"unittest", unittest},
	{"rspec", rspec},
	{"minitest", minitest},
	{"bats", bats},
	{"prove", prove},
	{"junit", junit},
	{"maven", maven},
	{"gradle", gradle},
	{"phpunit", phpunit},
	{"ctest", ctest},
}

// Read reads lines as the text output of a runner. It returns false if the
// runner has no known text format.
func Read(runner string, lines []string) (Said, bool) {
	for _, d := range dialects {
		if d.name == runner {
			return d.dialect().read(lines), true
		}
	}
	return Said{}, false
}

// Headers stand at the beginning and summaries at the end: so many lines of
// each are looked at by every dialect.
const (
	sampleHead = 500
	sampleTail = 2000
)

// Recognize finds the runner whose text this is, by at least two of its marks.
func Recognize(lines []string) (string, Said) {
	sample := lines
	if len(lines) > sampleHead+sampleTail {
		sample = slices.Concat(lines[:sampleHead], lines[len(lines)-sampleTail:])
	}
	marks, runner := 1, ""
	for _, d := range dialects {
		if s := d.dialect().read(sample); s.Marks > marks {
			marks, runner = s.Marks, d.name
		}
	}
	said, _ := Read(runner, lines)
	return runner, said
}

func (d Dialect) read(lines []string) Said {
	r := &reading{marks: map[int]bool{}, seen: map[string]bool{}}
	for _, line := range lines {
		r.line(d, strings.TrimRight(line, " \t"))
	}
	if r.total > 0 && r.Passed == 0 {
		r.Passed = max(0, r.total-r.Failed-r.Skipped)
		if d.all {
			r.Passed = max(0, r.Passed-r.errs)
		}
	}
	r.Bad = r.Bad || r.Red || r.red
	if d.correct != nil {
		d.correct(r)
	}
	if len(r.Failing) == 0 {
		r.Failing = r.subjects
	}
	r.Failed += r.errs
	r.Marks = len(r.marks)
	return r.Said
}

// zero: a summary that counts nothing at all.
func (r *reading) zero() bool {
	return r.Summed && !r.Bad && r.Failed+r.errs+r.Passed+r.Skipped == 0
}

func noneIfZero(r *reading) { r.None = r.None || r.zero() }

func (r *reading) line(d Dialect, line string) {
	if line == "" {
		return
	}
	if r.want {
		r.want = false
		r.error(line)
	}
	if d.line != nil && d.line(r, line) {
		return
	}
	for i, rule := range d.rules {
		if rule.in != "" && rule.in != r.section {
			continue
		}
		if m := rule.re.FindStringSubmatch(line); m != nil {
			r.marks[i] = true
			r.apply(rule, m)
			return
		}
	}
}

func (r *reading) apply(rule rule, m []string) {
	if rule.to != "" {
		r.section = rule.to
	}
	r.want = rule.next && r.FirstError == ""
	switch rule.kind {
	case start:
		r.reset()
		r.count(rule.re, m)
	case count:
		r.count(rule.re, m)
	case bad:
		r.Bad = true
		r.error(group(rule.re, m, "err"))
	case red:
		r.red = true
		r.error(group(rule.re, m, "err"))
	case name:
		r.name(group(rule.re, m, "name"))
		r.error(group(rule.re, m, "err"))
	case subject:
		r.subject(group(rule.re, m, "name"))
	case whole:
		r.whole()
	case first:
		r.error(group(rule.re, m, "err"))
	case none:
		r.None = true
	case broken:
		r.Broken = true
		r.error(m[0])
	case gated:
		r.Gate = true
		r.error(m[0])
	case stopped:
		r.Stopped = true
	case forget:
		r.Failing, r.seen = nil, map[string]bool{}
	case leave:
		r.section = ""
	}
}

// reset forgets the counts of a summary that was none.
func (r *reading) reset() {
	r.Several = r.Several || r.Failed+r.Passed+r.Skipped+r.errs+r.total > 0
	r.Failed, r.Passed, r.Skipped, r.errs, r.total = 0, 0, 0, 0, 0
	r.None, r.Summed, r.Red, r.red = false, false, false, false
}

func group(re *regex.Regex, m []string, name string) string {
	if i := re.SubexpIndex(name); i >= 0 {
		return m[i]
	}
	return ""
}

func (r *reading) name(s string) {
	s = strings.Join(strings.Fields(s), " ")
	if s == "" || r.seen[s] || len(r.Failing) >= maxNames {
		return
	}
	r.seen[s] = true
	r.Failing = append(r.Failing, s)
}

func (r *reading) subject(s string) {
	if len(r.subjects) < maxNames && s != "" {
		r.subjects = append(r.subjects, s)
	}
}

func (r *reading) whole() {
	if len(r.subjects) > 0 {
		r.name(r.subjects[len(r.subjects)-1])
	}
}

func (r *reading) error(s string) {
	if s = strings.TrimSpace(s); r.FirstError == "" {
		r.FirstError = s
	}
}

// count adds the numbers of a summary line: from the groups fail, errors, pass, skip
// and from the words of the group counts.
func (r *reading) count(re *regex.Regex, m []string) {
	r.Summed = true
	for i, g := range re.SubexpNames() {
		if m[i] == "" {
			continue
		}
		n, err := strconv.Atoi(m[i])
		if err != nil {
			n = 0
		}
		switch g {
		case "fail":
			r.Failed += n
		case "errors":
			r.errs += n
		case "pass":
			r.Passed += n
		case "skip":
			r.Skipped += n
		case "suites": // of the failed tests, or that could not be run
			r.Red = r.Red || n > 0
		case "total":
			r.total += n
		case "counts":
			r.words(m[i])
		case "verdict":
			r.verdict(m[i])
		}
	}
}

// verdict is a word that sums up.
func (r *reading) verdict(word string) {
	switch strings.ToLower(word) {
	case "fail", "failed", "failures!", "errors!", "failure":
		r.Red = true
	case "notests":
		r.None = true
	default:
		r.Red, r.red = false, false
	}
}

var counted = regex.New(`(\d+) (?:tests? |todo|known )?([a-z][a-z -]*)|([A-Z][a-z]+)[:=] ?(\d+)|([a-z ]+)=(\d+)`)

// words reads "1 failed, 2 passed", "Failures: 1, Skipped: 2" and "failures=1".
func (r *reading) words(text string) {
	for _, m := range counted.FindAllStringSubmatch(text, -1) {
		number, word := m[1]+m[4]+m[6], strings.TrimSpace(strings.ToLower(m[2]+m[3]+m[5]))
		n, err := strconv.Atoi(number)
		if err != nil {
			continue
		}
		switch {
		case strings.HasPrefix(word, "expected"), strings.HasPrefix(word, "unexpected success"):
		case strings.HasPrefix(word, "fail"), strings.HasPrefix(word, "timed out"), strings.HasPrefix(word, "cancelled"):
			r.Failed += n
		case strings.HasPrefix(word, "error"), strings.HasPrefix(word, "uncaught"), strings.HasPrefix(word, "unhandled"):
			r.errs += n
		case strings.HasPrefix(word, "pass"), strings.HasPrefix(word, "xpass"), strings.HasPrefix(word, "ok"):
			r.Passed += n
		case strings.HasPrefix(word, "skip"), strings.HasPrefix(word, "pending"), strings.HasPrefix(word, "todo"), strings.HasPrefix(word, "xfail"), strings.HasPrefix(word, "ignored"):
			r.Skipped += n
		}
	}
}

// line compiles a pattern that is a whole line.
func line(pattern string) *regex.Regex { return regex.New(`^(?:` + pattern + `)$`) }
