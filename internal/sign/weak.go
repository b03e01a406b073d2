package sign

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/pawl-dev/pawl/internal/regex"
	"github.com/pawl-dev/pawl/internal/source"
)

// WeakTestSigns returns signs of weak tests in a test file: a new file without assertions, or an
// expected value computed by the tested function. functions are the names of the functions
// that the work added or changed.
func (c *Change) WeakTestSigns(functions []string) []Sign {
	if !IsProgram(c.File) {
		return nil
	}
	v, file := c.tests(), c.File
	if len(c.Before) == 0 && testFileName.MatchString(file) && !source.HasExtension(shell+" "+rust, file) && !assertionPattern.MatchString(v.allCode) && !(source.HasExtension(golang, file) && (exampleOutput.Match(c.After) || !goTest.MatchString(v.allCode))) {
		return []Sign{v.sign(0, HollowTest, "asserts nothing")}
	}
	called := callPattern(functions)
	if called == nil {
		return nil
	}
	var found []Sign
	for n, line := range v.code {
		does := ""
		if m := called.FindStringSubmatchIndex(line); m != nil && v.added[n] {
			does = selfComparison(line, m)
		}
		if does != "" && len(found) < maxWeakSigns {
			found = append(found, v.sign(n, HollowTest, does))
		}
	}
	return found
}

const maxWeakSigns = 3

// goTest matches what a file of benchmarks lacks: the head of a test, or statements alone.
var goTest = regex.New(`(?m)^(?:func (?:Test|Fuzz|Example)|if )`)

// callPattern matches the first call of one of these functions in a line, with the text before
// it. It returns nil without functions.
func callPattern(functions []string) *regex.Regex {
	var words []string
	for _, f := range functions {
		words = append(words, regexp.QuoteMeta(f[strings.LastIndexByte(f, '.')+1:]))
	}
	if len(words) == 0 {
		return nil
	}
	return regex.New(`^(.*?)((?:[\w$]+(?:\.|::))*(?:` + strings.Join(words, "|") + `))\(`)
}

// selfComparison returns why a line that calls a function tests nothing, or "".
func selfComparison(line string, call []int) string {
	before, name := line[call[2]:call[3]], line[call[4]:call[5]]
	if expectedAssignment.MatchString(before) {
		return "expects what the function gives that it tests"
	}
	end := source.Source{Text: line, Code: line}.Parens(call[1] - 1)
	if m := comparisonMiddle.FindString(line[min(end, len(line)):]); m != "" && comparisonStart.MatchString(before) && strings.HasPrefix(line[end+len(m):], name+"(") {
		return "compares a function with itself"
	}
	return ""
}

var (
	// testFileName matches the name of a file with tests, and not of test helpers.
	testFileName     = regex.New(`(?:^|/)(?:test_[^/]*|[^/]*(?:_test|\.test|_spec|\.spec)\.\w+|[^/]*Tests?\.(?:java|kt|cs|php|swift))$`)
	assertionPattern = regex.New(`(?i)\b(?:assert|throw|raise|exit|return)\b|\w*(?:assert|expect|should|fail|check|verif|ensure|require|panic|abort|exit|match|snapshot|equal|fatal|error|must|diff|compare)\w*!?\s*[({]|\b(?:is|ok)\(`)
	// exampleOutput matches what go test compares with what an Example prints.
	exampleOutput = regex.New(`(?mi)^\s*//\s*(?:unordered )?output:`)
	// expectedAssignment matches the text before an expected value.
	expectedAssignment = regex.New(`^[^,]*\b(?:want|wanted|expected|expect|golden)\w*\s*(?::\s*\w+\s*)?:?=\s*(?:await\s+)?$`)
	// comparisonStart matches the text before the first of two compared values, and
	// comparisonMiddle the text between them.
	comparisonStart  = regex.New(`(?i)(?:\w*(?:assert|expect|equal|is)\w*!?\(|\bassert\s+|\bif\s+\(?)\s*(?:t,\s*|await\s+)?$`)
	comparisonMiddle = regex.New(`^\s*(?:===?|!==?|,|\)\.(?:not\.)?to\w+\()\s*(?:await\s+)?`)
)

// Unreadable returns the first added line that nobody can read: with invisible characters, which can
// make different words look alike, or in a program so long that neither rules nor people read it. Generated
// programs have such lines.
func Unreadable(file string, before, after []byte) []Sign {
	known := string(before)
	isWritten := IsProgramText(file, after) && !generatedName.MatchString(file) && !generatedDir.MatchString(file)
	for n, line := range strings.Split(string(after), "\n") {
		if n == 0 {
			line = strings.TrimPrefix(line, "\ufeff")
		}
		if len(line) > maxLine && isWritten && !strings.Contains(known, line) {
			return []Sign{{Path: file, Line: n + 1, Kind: HiddenCode, Does: fmt.Sprintf("is a line of %d characters", len(line)), Text: truncate(strings.TrimSpace(line))}}
		}
		if at := strings.IndexAny(line, "\u200b\u200e\u200f\u2060\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff\u00ad"); at >= 0 && !strings.Contains(known, line) {
			return []Sign{{Path: file, Line: n + 1, Kind: HiddenName, Does: "holds characters that nobody sees", Text: truncate(strings.TrimSpace(line))}}
		}
	}
	return nil
}
