package sign

import (
	"regexp"
	"strings"

	"github.com/pawl-dev/pawl/internal/regex"
	"github.com/pawl-dev/pawl/internal/source"
)

// Weak are the signs in a file of tests that they show little: none of a new file asserts
// anything, or what they expect is worked out by the very function that they are for;
// functions are the names of those that the work added or changed.
func (c *Change) Weak(functions []string) []Sign {
	if !Knows(c.File) {
		return nil
	}
	v, file := c.tests(), c.File
	if len(c.Before) == 0 && named.MatchString(file) && !isAny(shell+" "+rust, file) && !asserts.MatchString(v.whole) {
		return []Sign{{Path: file, Line: 1, Kind: HollowTest, Does: "asserts nothing", Text: short(strings.TrimSpace(v.text[0]))}}
	}
	called := callOf(functions)
	if called == nil {
		return nil
	}
	var found []Sign
	for n, line := range v.code {
		does := ""
		if m := called.FindStringSubmatchIndex(line); m != nil && v.added[n] {
			does = ofItself(line, m)
		}
		if does != "" && len(found) < maxWeak {
			found = append(found, Sign{Path: file, Line: n + 1, Kind: HollowTest, Does: does, Text: short(strings.TrimSpace(v.text[n]))})
		}
	}
	return found
}

const maxWeak = 3

// callOf matches the first call of some functions in a line, with what stands before it;
// nil where there are none.
func callOf(functions []string) *regex.Regex {
	var words []string
	for _, f := range functions {
		words = append(words, regexp.QuoteMeta(f[strings.LastIndexByte(f, '.')+1:]))
	}
	if len(words) == 0 {
		return nil
	}
	return regex.New(`^(.*?)((?:[\w$]+(?:\.|::))*(?:` + strings.Join(words, "|") + `))\(`)
}

// ofItself tells of a line that calls a function what makes it worth nothing: "" for
// nothing.
func ofItself(line string, call []int) string {
	before, name := line[call[2]:call[3]], line[call[4]:call[5]]
	if expecting.MatchString(before) {
		return "expects what the function gives that it tests"
	}
	end := source.Source{Text: line, Code: line}.Parens(call[1] - 1)
	if m := andThen.FindString(line[min(end, len(line)):]); m != "" && opening.MatchString(before) && strings.HasPrefix(line[end+len(m):], name+"(") {
		return "compares a function with itself"
	}
	return ""
}

var (
	// named matches the name of a file that holds tests of its own, and no help for others.
	named   = regex.New(`(?:^|/)(?:test_[^/]*|[^/]*(?:_test|\.test|_spec|\.spec)\.\w+|[^/]*Tests?\.(?:java|kt|cs|php|swift))$`)
	asserts = regex.New(`(?i)\b(?:assert|throw|raise|exit|return)\b|\w*(?:assert|expect|should|fail|check|verif|ensure|require|panic|abort|exit|match|snapshot|equal|fatal|error|must|diff|compare)\w*!?\s*[({]|\b(?:is|ok)\(`)
	// expecting matches what stands before a value that is expected.
	expecting = regex.New(`\b(?:want|wanted|expected|expect|golden)\w*\s*(?::\s*\w+\s*)?:?=\s*(?:await\s+)?$`)
	// opening matches what stands before the first of two values that are compared, andThen
	// what stands between them.
	opening = regex.New(`(?i)(?:\w*(?:assert|expect|equal|is)\w*!?\(|\bassert\s+|\bif\s+\(?)\s*(?:t,\s*|await\s+)?$`)
	andThen = regex.New(`^\s*(?:===?|!==?|,|\)\.(?:not\.)?to\w+\()\s*(?:await\s+)?`)
)

// Unseen is the first added line of a text that holds characters which nobody sees, as
// between words that only look alike.
func Unseen(file string, before, after []byte) []Sign {
	known := string(before)
	for n, line := range strings.Split(string(after), "\n") {
		if n == 0 {
			line = strings.TrimPrefix(line, "\ufeff")
		}
		if at := strings.IndexAny(line, "\u200b\u200e\u200f\u2060\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff\u00ad"); at >= 0 && !strings.Contains(known, line) {
			return []Sign{{Path: file, Line: n + 1, Kind: Hidden, Does: "holds characters that nobody sees", Text: short(strings.TrimSpace(line))}}
		}
	}
	return nil
}
