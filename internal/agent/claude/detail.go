package claude

import (
	"path/filepath"
	"strings"
	"unicode"

	"github.com/pawl-dev/pawl/internal/agent"
)

// maxDetail is the length of a detail, in runes.
const maxDetail = 120

// detail says in one line what a tool call does: "edit internal/x.go",
// "$ go test ./...".
func detail(c agent.ToolCall) string {
	text := func(key string) string { s, _ := c.Input[key].(string); return s }
	path := func(key string) string { return relative(c.Dir, text(key)) }
	var d string
	switch c.Tool {
	case "Bash":
		d = "$ " + text("command")
	case "Edit", "MultiEdit":
		d = "edit " + path("file_path")
	case "NotebookEdit":
		d = "edit " + path("notebook_path")
	case "Write":
		d = "write " + path("file_path")
	case "Read":
		d = "read " + path("file_path")
	case "Grep", "Glob":
		d = "search " + text("pattern")
	case "WebFetch":
		d = "fetch " + text("url")
	case "WebSearch", "ToolSearch":
		d = "search " + text("query")
	case "Agent", "Task":
		d = "subagent: " + text("description")
	case "Skill":
		d = "skill " + text("skill")
	default:
		d = c.Tool + " " + text("description")
	}
	return oneLine(d)
}

// relative shortens a path inside the folder.
func relative(dir, path string) string {
	rel, err := filepath.Rel(dir, path)
	if dir == "" || err != nil || !filepath.IsLocal(rel) {
		return path
	}
	return rel
}

// oneLine folds white space and drops what could move a terminal's cursor.
func oneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return ' '
		}
		if !unicode.IsGraphic(r) {
			return -1
		}
		return r
	}, s)
	s = strings.Join(strings.Fields(s), " ")
	if runes := []rune(s); len(runes) > maxDetail {
		s = string(runes[:maxDetail-1]) + "…"
	}
	return s
}
