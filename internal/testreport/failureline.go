package testreport

import (
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/regex"
)

// maxFailureLine limits a line that is displayed, in bytes.
const maxFailureLine = 200

// Lines that name a failure, by kind.
var (
	assertFailed = regex.New("Assertion (?:[`'\"].*|.*['\"]) failed\\b|^Assertion failed: ")
	buildFailed  = regex.New(`^\S.*: (?:fatal )?error: |^(?:fatal )?error(?:\[\w+\])?: |\): error [A-Z]+\d+: |: undefined reference to |: multiple definition of `)
	crashed      = regex.New(`^(?:panic|fatal error): |: runtime error: |\bERROR: \w+Sanitizer: |^(?:Exception in thread .*: )?(?:[\w$]+\.)*[A-Z]\w*(?:Error|Exception)(?:: |$)|^\S+: line \d+: .*(?:command not found|No such file or directory)$`)
	testRed      = regex.New(`^\s*(?:not ok\b|FAIL(?:ED|URE)?\b|\[ *FAILED *\]|--- FAIL: |[✗✖✘×] )`)
)

// FailureLine returns the line of an output that names the failure, for display: nothing is decided
// by it. It is the first line of the kind that comes last: a compiler's first error, but no error that
// a passing test logged before. Without such a line it is LastLine.
func FailureLine(output string) string {
	lines := strings.Split(output, "\n")
	if kind := lastKind(lines); kind != nil {
		return shorten(lines[slices.IndexFunc(lines, kind.MatchString)])
	}
	return LastLine(output)
}

// LastLine returns the last line of an output that is not about an earlier line, else the last one.
func LastLine(output string) string {
	lines := strings.Split(strings.TrimSpace(output), "\n")
	for _, l := range slices.Backward(lines) {
		if l = strings.TrimSpace(l); l != "" && !afterFailure.MatchString(l) {
			return shorten(l)
		}
	}
	return shorten(lines[len(lines)-1])
}

func shorten(line string) string {
	if line = strings.TrimSpace(line); len(line) > maxFailureLine {
		line = strings.ToValidUTF8(line[:maxFailureLine], "") + "…"
	}
	return line
}

// lastKind returns the kind of the last line that names a failure, or nil.
func lastKind(lines []string) *regex.Regex {
	kinds := []*regex.Regex{assertFailed, buildFailed, crashed, testRed}
	for _, l := range slices.Backward(lines) {
		if i := slices.IndexFunc(kinds, func(k *regex.Regex) bool { return k.MatchString(l) }); i >= 0 {
			return kinds[i]
		}
	}
	return nil
}

// afterFailure matches lines that programs print after the failure itself: the stack trace of
// JavaScript, where npm keeps its log, which recipes make gave up.
var afterFailure = regex.New(`^at .*:\d+\)?$|^at (?:async )?[\w.<>]+ \(.*\)$|^Node\.js v[\d.]+$` +
	`|^npm (?:error|ERR!)(?: A complete log of this run can be found in.*| +\S*-debug-\d*\.log)?$` +
	`|^g?make(?:\[\d+\])?: (?:\*\*\* \[.+\] (?:Error \d+|[A-Z][a-z ]+: \d+).*|Leaving directory .*|Target .* not remade because of errors\.)$`)
