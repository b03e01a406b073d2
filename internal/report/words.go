package report

import (
	"strings"
	"unicode"

	"github.com/pawl-dev/pawl/internal/core/plan"
)

func shortCommit(commit string) string { return commit[:min(len(commit), 7)] }

// cleanLine keeps the indentation of a line of the agent's text and removes terminal control characters.
func cleanLine(line string) string {
	text := strings.TrimLeftFunc(line, unicode.IsSpace)
	indent := strings.ReplaceAll(strings.TrimRight(line[:len(line)-len(text)], "\r\n"), "\t", "    ")
	return indent + plan.OneLine(text, 0)
}
