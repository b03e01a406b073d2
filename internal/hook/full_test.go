package hook

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Where a loop should begin and nothing can be kept of it (a full disk, a home that
// cannot be made), the user is told in the session, and whoever reads the hook's
// log by stderr.
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
			d := &dialogue{world: newWorld(t)}
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

// By hand, as one tries a hook, the environment of the client is missing: then no
// loop begins, and this is why.
func TestHookOutsideSessionSaysWhichVariableIsMissing(t *testing.T) {
	t.Parallel()
	d := &dialogue{world: newWorld(t)}
	d.env.Session.Inside, d.env.Session.Client = false, 0
	out, problem, _ := d.hook(d.payload(`Stop`))
	if len(out) > 0 || !strings.Contains(string(problem), "neither CLAUDECODE nor CLAUDE_PID is set") {
		t.Errorf("said %q, on stderr %q", out, problem)
	}
}
