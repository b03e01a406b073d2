package sign

import (
	"strings"

	"github.com/pawl-dev/pawl/internal/regex"
)

// A program that contains an expression of its tests may compute their answers in advance.
// Then passing tests do not show how it works, or how fast.

// The minimum for a copied expression: tokens in a row, and numbers or strings among them.
const (
	minCopiedTokens = 14
	minCopiedValues = 3
)

// tokenPattern matches a token of a program: a string, a number, a name or a symbol.
var tokenPattern = regex.New(text + `|\w+(?:\.\d+)?|[^\s\w]`)

// CopiedExpressions returns the first added line that contains an expression of the tests which
// neither the old file nor the task or a document contains.
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

// addTokenRuns adds the sequences of tokens in the lines of a text that are specific enough to
// be recognized.
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
				runs[strings.ToLower(strings.Join(run, " "))] = true // as in Tests.knownText
			}
		}
	}
}
