package testreport

import (
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/regex"
)

// LastLine returns the last informative line of an output, cut to 200 bytes. It skips the stack
// trace that JavaScript prints after an error.
func LastLine(tail string) string {
	lines := strings.Split(strings.TrimSpace(tail), "\n")
	line := strings.TrimSpace(lines[len(lines)-1])
	for _, line0 := range slices.Backward(lines) {
		if l := strings.TrimSpace(line0); l != "" && !stackFrame.MatchString(l) {
			line = l
			break
		}
	}
	if len(line) > 200 {
		line = strings.ToValidUTF8(line[:200], "") + "…"
	}
	return line
}

var stackFrame = regex.New(`^at .*:\d+\)?$|^at (?:async )?[\w.<>]+ \(.*\)$|^Node\.js v[\d.]+$`)
