package sign

import (
	"strings"

	"github.com/pawl-dev/pawl/internal/regex"
)

// A test that works its expected values out as the program does passes whatever the program does.

// minMirroredTokens is how long a line is that two people would not write alike by chance.
const minMirroredTokens = 10

var (
	calculation = regex.New(`[\w)\]]\s*(?:[-+*/%^&|]|<<|>>)\s*[\w(]`)
	numberWord  = regex.New(`\b\d+\b`)
)

// MirroredLines returns the first added line of a test file that calculates something and also stands in
// the changed programs, given by their code.
func (c *Change) MirroredLines(programs string) []Sign {
	if !IsProgram(c.File) {
		return nil
	}
	lines := map[string]bool{}
	for line := range strings.Lines(programs) {
		if tokens := mirroredTokens(line); tokens != "" {
			lines[tokens] = true
		}
	}
	v := c.tests()
	for n, line := range v.code {
		if tokens := mirroredTokens(line); v.added[n] && tokens != "" && lines[tokens] {
			return []Sign{{Path: c.File, Line: n + 1, Kind: HollowTest, Does: "calculates what the program does in the same words", Text: truncate(strings.TrimSpace(v.text[n]))}}
		}
	}
	return nil
}

// mirroredTokens returns the tokens of a line that calculates twice with numbers, or "".
func mirroredTokens(line string) string {
	if len(line) > maxLine || len(calculation.FindAllString(line, 2)) < 2 || !numberWord.MatchString(line) {
		return ""
	}
	tokens := tokenPattern.FindAllString(line, -1)
	if len(tokens) < minMirroredTokens {
		return ""
	}
	return strings.Join(tokens, " ")
}
