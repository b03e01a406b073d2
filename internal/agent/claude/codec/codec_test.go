package codec_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/agent/claude/codec"
	"github.com/pawl-dev/pawl/internal/core/toolcall"
)

func TestToolCallsAreDecoded(t *testing.T) {
	t.Parallel()
	pair := func(was, now any) map[string]any { return map[string]any{"old_string": was, "new_string": now} }
	for _, tt := range []struct {
		tool  string
		input map[string]any
		want  toolcall.Call
	}{
		{"Bash", map[string]any{"command": "go test", "run_in_background": true}, toolcall.Call{Kind: toolcall.Run, Command: "go test", Background: true}},
		{"Monitor", map[string]any{"command": "tail -f log"}, toolcall.Call{Command: "tail -f log"}},
		{"Write", map[string]any{"file_path": "a", "content": "x"}, toolcall.Call{Kind: toolcall.Write, Path: "a"}},
		{"NotebookEdit", map[string]any{"notebook_path": "n"}, toolcall.Call{Kind: toolcall.Edit, Path: "n", Edits: []toolcall.Replacement{{}}}},
		{"Edit", map[string]any{"file_path": "a", "old_string": "x", "new_string": "y"}, toolcall.Call{
			Kind: toolcall.Edit, Path: "a", Edits: []toolcall.Replacement{{Old: "x", New: "y"}},
		}},
		{"MultiEdit", map[string]any{"file_path": "a", "edits": []any{pair("x", "y"), pair("x", 1), "?"}}, toolcall.Call{
			Kind: toolcall.Edit, Path: "a", Edits: []toolcall.Replacement{{Old: "x", New: "y"}, {}, {}},
		}},
		{"Grep", map[string]any{"path": "src", "glob": "*.go", "output_mode": "content"}, toolcall.Call{
			Kind: toolcall.Search, Path: "src", Glob: "*.go", Lines: true,
		}},
		// What the client ignores is not judged in place of what it reads.
		{"Grep", map[string]any{"file_path": "harmless", "path": "src"}, toolcall.Call{Kind: toolcall.Search, Path: "src"}},
		{"NotebookEdit", map[string]any{"file_path": "harmless", "notebook_path": "n"}, toolcall.Call{Kind: toolcall.Edit, Path: "n", Edits: []toolcall.Replacement{{}}}},
		{"Edit", map[string]any{"file_path": "a", "edits": []any{pair("x", "x")}, "old_string": "x", "new_string": "y"}, toolcall.Call{
			Kind: toolcall.Edit, Path: "a", Edits: []toolcall.Replacement{{Old: "x", New: "y"}, {Old: "x", New: "x"}},
		}},
		{"WebFetch", map[string]any{"url": "https://example.org"}, toolcall.Call{Kind: toolcall.Fetch, Texts: []string{"https://example.org"}}},
		{"Task", map[string]any{"prompt": "look", "run_in_background": true}, toolcall.Call{Texts: []string{"look"}}},
		{"mcp__files__read", map[string]any{"paths": []any{"a", 1}, "path": "b"}, toolcall.Call{
			Server: "files", Method: "read", Path: "b", Texts: []string{"b", "a"},
		}},
	} {
		tt.want.Tool, tt.want.Dir = tt.tool, "/w"
		if diff := cmp.Diff(tt.want, codec.ToolCall(tt.tool, tt.input, "/w")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.tool, diff)
		}
	}
}
