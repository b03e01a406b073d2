// Package dialect reads the text that test runners print for people: how many tests failed, which
// ones, and the first error.
//
// Each runner has a table of lines that it prints: its header, its summary, the names of failed
// tests. A rule matches a whole line, so that a line that only mentions a failure does not match.
// Tests may print such lines too, but before the summary of the runner. A later summary therefore
// replaces an earlier one.
//
// Lines must not contain terminal control sequences.
package dialect

import (
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/pawl-dev/pawl/internal/regex"
)

// Results holds what the text of a run says.
type Results struct {
	// LineKinds counts the rules of the runner that matched at least one line.
	LineKinds int
	// HasSummary reports that there is a summary. Without one, the absence of failures means
	// nothing.
	HasSummary bool
	// Failed, Passed and Skipped count tests, as given by the summary.
	Failed, Passed, Skipped int
	// PassedUncounted reports that the text does not count passed tests; Passed is then 0 or 1.
	PassedUncounted bool
	// MultipleSummaries reports that a summary with counts replaced an earlier one, for example
	// because a runner started twice. The numbers are those of the last summary.
	MultipleSummaries bool
	// SummaryFailed reports that the summary says "failed", or counts failed files.
	SummaryFailed bool
	// OtherFailure reports a failure that is not counted as a test.
	OtherFailure bool
	// NoTests: no tests were found or run. RunnerError: the runner could not run any test.
	// GateFailed: all tests passed, but a check such as coverage failed. Interrupted: a user
	// stopped the run.
	NoTests, RunnerError, GateFailed, Interrupted bool
	// Failing holds the names of failed tests, in the order of the text.
	Failing []string
	// FirstError is one line, "" if there is none.
	FirstError string
}

// maxNames limits the failed tests that are kept.
const maxNames = 1000

// kind is the meaning of a line.
type kind int

const (
	typicalLine        kind = iota
	summaryStart            // begins the summary; resets the counts of an earlier one
	counts                  // numbers: named groups, or a text such as "2 failed, 1 passed"
	otherFailure            // a failure that no number counts
	unconfirmedFailure      // the same, unless a summary follows
	failedTest              // the name of a failed test; a group "err" is its error
	failedFile              // a file or package that failed, named if no failed test is
	lastFileFailed          // the last failed file failed as a whole
	firstError              // an error, used if there is none before it
	noTests                 // no tests were found or run
	runnerError             // the runner itself failed
	gateFailed              // a check other than the tests failed, such as coverage
	interrupted             // a user stopped the run
	resetNames              // the names of failed tests start again
	sectionStart            // begins a section
)

// rule describes one kind of line of a runner.
type rule struct {
	kind        kind
	line        string // expression for the whole line
	section     string // the section in which the rule applies; "" = any
	nextSection string // the section that the line begins
	// errorFollows makes the next line that is not blank the first error, if there is none.
	errorFollows bool
}

// dialect describes the text output of one runner.
type dialect struct {
	name     string
	rules    []rule
	patterns []*regex.Regex // of the rules
	// errorsInTotal: the total of a summary includes the tests that ended with an error.
	errorsInTotal bool
	// correct may adjust the results after the last line.
	correct func(*reader)
	// readLine gets every line before the rules. If it returns true, the rules are skipped.
	readLine func(*reader, string) bool
}

// reader is the state of reading a text.
type reader struct {
	Results
	matched   map[int]bool
	known     map[string]bool
	section   string
	errorNext bool // the next line that is not blank is the first error
	nameParts []string
	// failedFiles holds failed files and packages, used if no failed test has a name.
	failedFiles []string
	ticked      int  // tests listed as passed
	errors      int  // failures other than of a test
	total       int  // number of tests, if a summary has it
	unconfirmed bool // a failure that no summary has counted yet
}

// dialects returns the dialects in the order in which they are tried if the runner is unknown.
var dialects = sync.OnceValue(func() []dialect {
	all := slices.Concat(javascript, native)
	for i, d := range all {
		for _, r := range d.rules {
			all[i].patterns = append(all[i].patterns, regex.New(`^(?:`+r.line+`)$`))
		}
	}
	return all
})

// Read reads lines as the text output of a runner. It returns false if the
// runner has no known text format.
func Read(runner string, lines []string) (Results, bool) {
	for _, d := range dialects() {
		if d.name == runner {
			return d.read(lines), true
		}
	}
	return Results{}, false
}

// Recognize tries every dialect on so many lines: headers are at the beginning of a text and
// summaries at its end.
const (
	sampleHead = 500
	sampleTail = 2000
)

// Recognize returns the runner that printed a text. At least two rules of its dialect must match.
func Recognize(lines []string) (string, Results) {
	sample := lines
	if len(lines) > sampleHead+sampleTail {
		sample = slices.Concat(lines[:sampleHead], lines[len(lines)-sampleTail:])
	}
	marks, runner := 1, ""
	for _, d := range dialects() {
		if s := d.read(sample); s.LineKinds > marks {
			marks, runner = s.LineKinds, d.name
		}
	}
	results, _ := Read(runner, lines)
	return runner, results
}

func (d dialect) read(lines []string) Results {
	r := &reader{matched: map[int]bool{}, known: map[string]bool{}}
	for _, line := range lines {
		r.readLine(d, strings.TrimRight(line, " \t"))
	}
	if r.total > 0 && r.Passed == 0 {
		r.Passed = max(0, r.total-r.Failed-r.Skipped)
		if d.errorsInTotal {
			r.Passed = max(0, r.Passed-r.errors)
		}
	}
	r.OtherFailure = r.OtherFailure || r.SummaryFailed || r.unconfirmed
	if d.correct != nil {
		d.correct(r)
	}
	if len(r.Failing) == 0 {
		r.Failing = r.failedFiles
	}
	r.Failed += r.errors
	r.LineKinds = len(r.matched)
	return r.Results
}

// correctEmpty is for a summary that counts no test and no failure.
func correctEmpty(r *reader) {
	r.NoTests = r.NoTests || r.HasSummary && !r.OtherFailure && r.Failed+r.errors+r.Passed+r.Skipped == 0
}

func (r *reader) readLine(d dialect, line string) {
	if line == "" {
		return
	}
	if r.errorNext {
		r.errorNext = false
		r.setFirstError(line)
	}
	if d.readLine != nil && d.readLine(r, line) {
		return
	}
	for i, rule := range d.rules {
		if rule.section != "" && rule.section != r.section {
			continue
		}
		if m := d.patterns[i].FindStringSubmatch(line); m != nil {
			r.matched[i] = true
			r.applyRule(rule, d.patterns[i], m)
			return
		}
	}
}

func (r *reader) applyRule(rule rule, re *regex.Regex, m []string) {
	if rule.nextSection != "" {
		r.section = rule.nextSection
	}
	r.errorNext = rule.errorFollows && r.FirstError == ""
	switch rule.kind {
	case summaryStart:
		r.reset()
		r.addCounts(re, m)
	case counts:
		r.addCounts(re, m)
	case otherFailure:
		r.OtherFailure = true
		r.setFirstError(group(re, m, "err"))
	case unconfirmedFailure:
		r.unconfirmed = true
		r.setFirstError(group(re, m, "err"))
	case failedTest:
		r.addName(group(re, m, "name"))
		r.setFirstError(group(re, m, "err"))
	case failedFile:
		if name := group(re, m, "name"); name != "" && len(r.failedFiles) < maxNames {
			r.failedFiles = append(r.failedFiles, name)
		}
	case lastFileFailed:
		if len(r.failedFiles) > 0 {
			r.addName(r.failedFiles[len(r.failedFiles)-1])
		}
	case firstError:
		r.setFirstError(group(re, m, "err"))
	case noTests:
		r.NoTests = true
	case runnerError:
		r.RunnerError = true
		r.setFirstError(m[0])
	case gateFailed:
		r.GateFailed = true
		r.setFirstError(m[0])
	case interrupted:
		r.Interrupted = true
	case resetNames:
		r.Failing, r.known = nil, map[string]bool{}
	}
}

// reset forgets the counts of an earlier summary.
func (r *reader) reset() {
	r.MultipleSummaries = r.MultipleSummaries || r.Failed+r.Passed+r.Skipped+r.errors+r.total > 0
	r.Failed, r.Passed, r.Skipped, r.errors, r.total = 0, 0, 0, 0, 0
	r.NoTests, r.HasSummary, r.SummaryFailed, r.unconfirmed = false, false, false, false
}

func group(re *regex.Regex, m []string, name string) string {
	if i := re.SubexpIndex(name); i >= 0 {
		return m[i]
	}
	return ""
}

func (r *reader) addName(s string) {
	s = strings.Join(strings.Fields(s), " ")
	if s == "" || r.known[s] || len(r.Failing) >= maxNames {
		return
	}
	r.known[s] = true
	r.Failing = append(r.Failing, s)
}

func (r *reader) setFirstError(s string) {
	if s = strings.TrimSpace(s); r.FirstError == "" {
		r.FirstError = s
	}
}

// addCounts adds the numbers of a summary line: from the groups fail, errors, pass, skip, suites
// and total, and from the words of the group counts.
func (r *reader) addCounts(re *regex.Regex, m []string) {
	r.HasSummary = true
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
			r.errors += n
		case "pass":
			r.Passed += n
		case "skip":
			r.Skipped += n
		case "suites": // files with failed tests, or that could not be run
			r.SummaryFailed = r.SummaryFailed || n > 0
		case "total":
			r.total += n
		case "counts":
			r.addWordCounts(m[i])
		case "verdict":
			r.applyVerdict(m[i])
		}
	}
}

// applyVerdict reads the word of a summary that says whether all tests passed.
func (r *reader) applyVerdict(word string) {
	switch strings.ToLower(word) {
	case "fail", "failed", "failures!", "errors!", "failure":
		r.SummaryFailed = true
	case "notests":
		r.NoTests = true
	default:
		r.SummaryFailed, r.unconfirmed = false, false
	}
}

var counted = regex.New(`(\d+) (?:tests? |todo|known )?([a-z][a-z -]*)|([A-Z][a-z]+)[:=] ?(\d+)|([a-z ]+)=(\d+)`)

// addWordCounts reads "1 failed, 2 passed", "Failures: 1, Skipped: 2" and "failures=1".
func (r *reader) addWordCounts(text string) {
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
			r.errors += n
		case strings.HasPrefix(word, "pass"), strings.HasPrefix(word, "xpass"), strings.HasPrefix(word, "ok"):
			r.Passed += n
		case strings.HasPrefix(word, "skip"), strings.HasPrefix(word, "pending"), strings.HasPrefix(word, "todo"), strings.HasPrefix(word, "xfail"), strings.HasPrefix(word, "ignored"):
			r.Skipped += n
		}
	}
}
