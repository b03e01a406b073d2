package guard

import (
	"strings"

	"github.com/pawl-dev/pawl/internal/core/toolcall"
	"github.com/pawl-dev/pawl/internal/regex"
)

// changesOnlyMarks reports whether an edit changes done marks only: Markdown checkboxes, or true
// and false after a JSON key for done.
func changesOnlyMarks(edits []toolcall.Replacement) bool {
	for _, e := range edits {
		if e.Old == "" || openMarks(e.Old) != openMarks(e.New) {
			return false
		}
	}
	return len(edits) > 0
}

// checkboxPattern matches a Markdown checkbox with any mark that plans may use.
var checkboxPattern = regex.New(`\[[ \t]*(?:[^\s\[\]]\p{M}*)?[ \t]*\]`)

// openMarks returns a text with all its done marks reset.
func openMarks(s string) string {
	s = checkboxPattern.ReplaceAllString(s, "[ ]")
	for _, key := range []string{`"passes"`, `"completed"`} {
		parts := strings.Split(s, key)
		for i, part := range parts[1:] {
			rest := strings.TrimLeft(part, " \t\r\n:")
			for _, value := range []string{"true", "false", "null"} {
				if after, ok := strings.CutPrefix(rest, value); ok {
					parts[i+1] = ":" + after
				}
			}
		}
		s = strings.Join(parts, key)
	}
	return s
}
