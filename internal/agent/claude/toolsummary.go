package claude

import (
	"path/filepath"

	"github.com/pawl-dev/pawl/internal/core/plan"
)

// The maximum lengths of texts in one line, in runes.
const (
	maxDetail  = 120
	maxMessage = 400 // of a failure
)

// describeCall returns a line about a tool call: "edit internal/x.go", "$ go test ./...".
func describeCall(tool string, input map[string]any, dir string) string {
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
	return plan.OneLine(d, maxDetail)
}

// relative shortens a path inside the folder.
func relative(dir, path string) string {
	rel, err := filepath.Rel(dir, path)
	if dir == "" || err != nil || !filepath.IsLocal(rel) {
		return path
	}
	return rel
}
