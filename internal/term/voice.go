package term

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/pawl-dev/pawl/internal/failure"
)

// Error prints what went wrong and what to do about it, in the tool's one
// voice, and nothing for nil:
//
//	pawl: error: the work tree has changes that are not committed (a.go)
//	pawl: hint: commit or stash them; or --worktree to leave them alone
func Error(w io.Writer, err error) {
	if err == nil {
		return
	}
	say(w, "error", err.Error())
	if hint := failure.Hint(err); hint != "" {
		say(w, "hint", hint)
	}
}

// Warnf prints a warning in the same voice.
func Warnf(w io.Writer, format string, args ...any) {
	say(w, "warning", fmt.Sprintf(format, args...))
}

// Hintf prints what to do about a warning.
func Hintf(w io.Writer, format string, args ...any) {
	say(w, "hint", fmt.Sprintf(format, args...))
}

// say keeps the lines of a message that has several, each clean.
func say(w io.Writer, kind, text string) {
	columns := 0
	if f, ok := w.(*os.File); ok {
		columns, _ = SizeOf(f)()
	}
	var b strings.Builder
	for i, l := range strings.Split(strings.TrimSpace(text), "\n") {
		if i == 0 {
			fmt.Fprintf(&b, "pawl: %s: %s\n", kind, Clean(l))
		} else {
			fmt.Fprintf(&b, "  %s\n", Clean(l))
		}
	}
	_, _ = io.WriteString(w, Wrap(b.String(), columns))
}
