package claude

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestToolCallsAreDescribed(t *testing.T) {
	t.Parallel()
	cases := []struct {
		tool  string
		input map[string]any
		want  string
	}{
		{"Bash", map[string]any{"command": "go test ./..."}, "$ go test ./..."},
		{"Bash", map[string]any{"command": "cat <<X\nhello\n\tX"}, "$ cat <<X hello X"},
		{"Edit", map[string]any{"file_path": "/w/internal/x.go"}, "edit internal/x.go"},
		{"Write", map[string]any{"file_path": "/etc/passwd"}, "write /etc/passwd"},
		{"Read", map[string]any{"file_path": "/w/../secret"}, "read /w/../secret"},
		{"NotebookEdit", map[string]any{"notebook_path": "/w/a.ipynb"}, "edit a.ipynb"},
		{"Grep", map[string]any{"pattern": "TODO"}, "search TODO"},
		{"WebFetch", map[string]any{"url": "https://go.dev"}, "fetch https://go.dev"},
		{"WebSearch", map[string]any{"query": "pawls"}, "search pawls"},
		{"Agent", map[string]any{"description": "find it"}, "subagent: find it"},
		{"Skill", map[string]any{"skill": "verify"}, "skill verify"},
		{"mcp__srv__echo", map[string]any{"x": 1}, "mcp__srv__echo"},
		{"Bash", map[string]any{"command": 7}, "$"},
		{"Bash", map[string]any{"command": "printf '\x1b[2J\u202edanger'"}, "$ printf 'danger'"},
	}
	for _, c := range cases {
		if got := describeCall(c.tool, c.input, "/w"); got != c.want {
			t.Errorf("%s %v = %q, want %q", c.tool, c.input, got, c.want)
		}
	}
	long := describeCall("Bash", map[string]any{"command": strings.Repeat("ä", 500)}, "")
	if n := utf8.RuneCountInString(long); n != maxDetail || !strings.HasSuffix(long, "…") {
		t.Errorf("a long detail has %d runes", n)
	}
}
