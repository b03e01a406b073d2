package testreport

import (
	"strings"

	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/regex"
)

// ansi matches terminal control sequences: CSI, OSC, and two-byte escapes.
var ansi = regex.New("\x1b\\[[0-?]*[ -/]*[@-~]|\x1b\\][^\x07\x1b]*(?:\x07|\x1b\\\\)|\x1b[ -/]*[0-~]")

// Plain returns s as a user would copy it from a terminal: without control sequences, in valid
// UTF-8. Of a line with carriage returns, only the last text remains.
func Plain(s string) string {
	if isPlain(s) {
		return s
	}
	s = strings.ToValidUTF8(ansi.ReplaceAllString(s, ""), "�")
	if strings.ContainsRune(s, '\r') {
		lines := strings.Split(s, "\n")
		for i, l := range lines {
			l = strings.TrimRight(l, "\r")
			lines[i] = l[strings.LastIndexByte(l, '\r')+1:]
		}
		s = strings.Join(lines, "\n")
	}
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r == 0x7f {
			return -1
		}
		return r
	}, s)
}

// isPlain reports whether s needs no change. It is the fast path for most output.
func isPlain(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' && s[i] != '\n' && s[i] != '\t' || s[i] >= 0x7f {
			return false
		}
	}
	return true
}

// Lines that only Go prints.
var (
	goAt    = regex.New(`^\s*\S+\.go:\d+(?::\d+)?: \S`)
	goPanic = regex.New(`^(?:panic|fatal error): \S`)
)

func isGoError(line string) bool { return goAt.MatchString(line) || goPanic.MatchString(line) }

// maxError limits a line of an error, in characters.
const maxError = 400

// oneLine returns s as one line of plain text, cut to maxError.
func oneLine(s string) string { return plan.OneLine(Plain(s), maxError) }
