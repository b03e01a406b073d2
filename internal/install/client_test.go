//go:build unix

package install

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pawl-dev/pawl/internal/agent/agenttest"
	"github.com/pawl-dev/pawl/internal/agent/agenttest/messagesapi"
)

// calls is a hook that logs its calls.
const calls = `#!/bin/sh
event=$(sed -n 's/.*"hook_event_name":"\([A-Za-z]*\)".*/\1/p')
echo "$event $*" >> "$(dirname "$0")/calls"
`

// The real client runs the installed hooks: without a shell, and both hooks at Stop though they
// start the same program. It runs nothing from a file that it does not read, and UnreadReason says
// so.
func TestClientRunsWhatIsInstalled(t *testing.T) {
	t.Parallel()
	client := agenttest.Client(t)
	for _, c := range []struct {
		name, file string
		unread     bool
	}{
		{name: "new file"},
		{name: "mark, line ends, names twice", file: "\ufeff{\r\n  \"env\": {},\r\n  \"hooks\": 1,\r\n  \"hooks\": {}\r\n}\r\n"},
		{name: "comment", file: "{\n  \"model\": \"opus\" /* the big one */\n}\n", unread: true},
		{name: "trailing comma", file: "{\n  \"model\": \"opus\",\n}\n", unread: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := request(t)
			bin := filepath.Join(t.TempDir(), "a b", "pawl-hook")
			put(t, bin, calls, 0o755)
			r.Entries = ClaudeHooks(bin, []string{"claude"})
			if c.file != "" {
				put(t, r.Path, c.file, 0o600)
			}
			result, err := Install(r)
			if err != nil {
				t.Fatal(err)
			}
			if got := result.UnreadReason(); (got != "") != c.unread {
				t.Errorf("unread: %q", got)
			}
			var want []string
			if !c.unread {
				want = []string{
					"PostToolUse claude", "PostToolUseFailure claude", "PreToolUse claude", "PreToolUse claude", "SessionEnd claude",
					"SessionStart claude", "Stop claude", "Stop claude --wake", "UserPromptSubmit claude",
				}
			}
			runClient(t, client, filepath.Dir(filepath.Dir(r.Path)))
			got, _ := os.ReadFile(filepath.Join(filepath.Dir(bin), "calls"))
			called := strings.FieldsFunc(string(got), func(r rune) bool { return r == '\n' })
			slices.Sort(called)
			if diff := cmp.Diff(want, called, cmpopts.EquateEmpty()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A missing hook allows everything, unless it is configured to block.
func TestClientRunsNothingThatTheGuardCannotSee(t *testing.T) {
	t.Parallel()
	client := agenttest.Client(t)
	for name, blocks := range map[string]bool{"as usual": false, "the guard blocks": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := request(t)
			r.Entries = ClaudeHooks(filepath.Join(t.TempDir(), "gone", "pawl-hook"), []string{"claude"})
			if blocks {
				r.Entries = r.Entries.WithBlockingGuard()
			}
			if _, err := Install(r); err != nil {
				t.Fatal(err)
			}
			dir := filepath.Dir(filepath.Dir(r.Path))
			api := agenttest.API(t, messagesapi.Steps(messagesapi.Bash("touch ran.txt"), messagesapi.Text("All done.")))
			play(t, client, dir, agenttest.Env(t, api))
			if _, err := os.Stat(filepath.Join(dir, "ran.txt")); (err != nil) != blocks {
				t.Errorf("the tool ran: %v", err == nil)
			}
			results := api.Requests()[1].ToolResults()
			if len(results) != 1 || results[0].Error != blocks {
				t.Errorf("the model was told %+v", results)
			}
		})
	}
}

// runClient makes the client call a tool twice: one call succeeds, one fails.
func runClient(t *testing.T, client, dir string) {
	t.Helper()
	api := agenttest.API(t, messagesapi.Steps(messagesapi.Bash("true"), messagesapi.Bash("exit 3"), messagesapi.Text("All done.")))
	play(t, client, dir, agenttest.Env(t, api))
}

func play(t *testing.T, client, dir string, env map[string]string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), client, "-p", "do it", "--allowedTools", "Bash")
	cmd.Dir, cmd.Env = dir, os.Environ()
	for k, v := range env {
		cmd.Env = append(cmd.Env, k+"="+v)
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}
