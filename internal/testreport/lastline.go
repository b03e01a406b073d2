package testreport

import (
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/regex"
)

// LastLine returns the last informative line of an output, cut to 200 bytes. It skips the stack
// trace that JavaScript prints after an error, and where npm keeps its log.
func LastLine(tail string) string {
	lines := strings.Split(strings.TrimSpace(tail), "\n")
	line := strings.TrimSpace(lines[len(lines)-1])
	for _, line0 := range slices.Backward(lines) {
		if l := strings.TrimSpace(line0); l != "" && !afterError.MatchString(l) {
			line = l
			break
		}
	}
	if len(line) > 200 {
		line = strings.ToValidUTF8(line[:200], "") + "…"
	}
	return line
}

// afterError matches lines that programs print after the error itself.
var afterError = regex.New(`^at .*:\d+\)?$|^at (?:async )?[\w.<>]+ \(.*\)$|^Node\.js v[\d.]+$` +
	`|^npm (?:error|ERR!)(?: A complete log of this run can be found in.*| +\S*-debug-\d*\.log)?$`)
