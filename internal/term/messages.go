package term

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/pawl-dev/pawl/internal/failure"
)

// Error prints an error and what to do about it in the tool's format. It prints nothing for nil:
//
//	pawl: error: the work tree has changes that are not committed (a.go)
//	pawl: hint: commit or stash them; or --worktree to run without them
func Error(w io.Writer, err error) {
	if err == nil {
		return
	}
	printMessage(w, "error", err.Error())
	if hint := failure.Hint(err); hint != "" {
		printMessage(w, "hint", hint)
	}
}

// Warnf prints a warning in the same format.
func Warnf(w io.Writer, format string, args ...any) {
	printMessage(w, "warning", fmt.Sprintf(format, args...))
}

// Hintf prints what to do about a warning.
func Hintf(w io.Writer, format string, args ...any) {
	printMessage(w, "hint", fmt.Sprintf(format, args...))
}

// printMessage prints a message, which may have several lines. Each line is cleaned.
func printMessage(w io.Writer, kind, text string) {
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
