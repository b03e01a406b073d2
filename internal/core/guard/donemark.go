package guard

import (
	"strings"

	"github.com/pawl-dev/pawl/internal/core/toolcall"
	"github.com/pawl-dev/pawl/internal/regex"
)

// onlyMarks reports whether an edit changes no more than done marks: a box of
// Markdown, or true and false behind a key that is one.
func changesOnlyMarks(edits []toolcall.Replacement) bool {
	for _, e := range edits {
		if e.Old == "" || openMarks(e.Old) != openMarks(e.New) {
			return false
		}
	}
	return len(edits) > 0
}

// box matches one of Markdown, with any mark that a plan is read with.
var checkboxPattern = regex.New(`\[[ \t]*(?:[^\s\[\]]\p{M}*)?[ \t]*\]`)

// unmarked is a text with all its done marks open.
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
