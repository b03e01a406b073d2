package sign

import (
	"strings"

	"github.com/pawl-dev/pawl/internal/regex"
)

// A program that repeats an expression of its tests may have worked out their answers
// before it is asked, at its start: then they say nothing of how it works, or how fast.

// The least of what is repeated: so many tokens in a row, so many of them numbers or strings.
const (
	minCopiedTokens = 14
	minCopiedValues = 3
)

// tokenPattern matches one of a program: a string, a number, a name, a sign.
var tokenPattern = regex.New(text + `|\w+(?:\.\d+)?|[^\s\w]`)

// CopiedExpressions is the first added line of a file that repeats an expression of the tests, which
// neither the file of before nor the task or a document has.
func (t *Tests) CopiedExpressions(c *Change) []Sign {
	if !IsProgram(c.File) {
		return nil
	}
	v, file := c.view(), c.File
	known := map[string]bool{}
	addTokenRuns(known, string(c.Before)+"\n"+t.knownText)
	for n, line := range v.uncommented {
		if !v.added[n] || importLine.MatchString(line) {
			continue
		}
		here := map[string]bool{}
		addTokenRuns(here, line)
		for run := range here {
			if t.tokenRuns[run] && !known[run] {
				return []Sign{{Path: file, Line: n + 1, Kind: Answers, Does: "repeats an expression of the tests", Text: truncate(strings.TrimSpace(v.text[n]))}}
			}
		}
	}
	return nil
}

// addTokenRuns adds the runs of tokens in the lines of a text that say enough to be known again.
func addTokenRuns(runs map[string]bool, text string) {
	for line := range strings.Lines(text) {
		if len(line) > maxLine {
			continue
		}
		words := tokenPattern.FindAllString(line, -1)
		for i := 0; i+minCopiedTokens <= len(words); i++ {
			run, values := words[i:i+minCopiedTokens], 0
			for _, w := range run {
				if len(w) > 1 && (w[0] >= '0' && w[0] <= '9' || strings.ContainsRune("\"'`", rune(w[0]))) {
					values++
				}
			}
			if values >= minCopiedValues {
				runs[strings.ToLower(strings.Join(run, " "))] = true // as Tests.known has it
			}
		}
	}
}
