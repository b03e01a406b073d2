package hook

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// If a loop should begin but cannot be stored (a full disk, a home that cannot be created), the
// session's user is told, and the hook writes to stderr.
func TestRefusedFileIsReported(t *testing.T) {
	t.Parallel()
	cases := []struct{ name, file, event string }{
		{"a file of another tool's", ".claude/data/ralph-loops/current/feature_list.json", `Stop`},
		{"a command", "", `UserPromptExpansion {"command_name":"pawl:loop","command_args":"do it","prompt_id":"c1"}`},
		{"words of the user's", "", `UserPromptSubmit {"prompt":":: verify:\"true\"","prompt_id":"c1"}`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := &dialogue{fixture: newFixture(t)}
			if c.file != "" {
				path := filepath.Join(d.root, filepath.FromSlash(c.file))
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(`[{"id": 1, "description": "One", "passes": false}]`), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.Remove(d.home); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(filepath.Join(d.root, "gone", "home"), d.home); err != nil { // there is nothing, and it cannot be made
				t.Skip("no links on this system:", err)
			}
			out, problem, _ := d.hook(d.payload(c.event))
			if !strings.Contains(string(out), "create sessions folder") {
				t.Errorf("the session is told %q", out)
			}
			// A refusal is shown with the words that it refuses.
			if c.file != "" && !strings.Contains(string(problem), "create sessions folder") {
				t.Errorf("on stderr is %q", problem)
			}
		})
	}
}

// If a hook is run by hand, the client's environment is missing. No loop begins, and the hook says
// why.
func TestHookOutsideSessionSaysWhichVariableIsMissing(t *testing.T) {
	t.Parallel()
	d := &dialogue{fixture: newFixture(t)}
	d.env.Session.Inside, d.env.Session.Client = false, 0
	out, problem, _ := d.hook(d.payload(`Stop`))
	if len(out) > 0 || !strings.Contains(string(problem), "neither CLAUDECODE nor CLAUDE_PID is set") {
		t.Errorf("said %q, on stderr %q", out, problem)
	}
}
