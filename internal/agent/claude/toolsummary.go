package claude

import (
	"path/filepath"
	"strings"
	"unicode"
)

// The lengths of what is told in one line, in runes.
const (
	maxDetail  = 120
	maxMessage = 400 // of a failure
)

// detail says in one line what a tool call does: "edit internal/x.go",
// "$ go test ./...".
func detail(tool string, input map[string]any, dir string) string {
	text := func(key string) string { s, _ := input[key].(string); return s }
	path := func(key string) string { return relative(dir, text(key)) }
	var d string
	switch tool {
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
		d = tool + " " + text("description")
	}
	return oneLine(d, maxDetail)
}

// relative shortens a path inside the folder.
func relative(dir, path string) string {
	rel, err := filepath.Rel(dir, path)
	if dir == "" || err != nil || !filepath.IsLocal(rel) {
		return path
	}
	return rel
}

// oneLine folds white space, drops what could move a terminal's cursor, and
// cuts to a number of runes.
func oneLine(s string, limit int) string {
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
	if runes := []rune(s); len(runes) > limit {
		s = string(runes[:limit-1]) + "…"
	}
	return s
}
