package claude_test

import (
	"os"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/agent/agenttest/messagesapi"
	"github.com/pawl-dev/pawl/internal/core/toolcall"
)

// The client itself refuses to change a file that was not read in this context,
// unless it trusts the model with it, as it does its own default. So the runner
// has the guard see to it (guard.Rules.Seen).
func TestClientLetsSomeModelsChangeWhatTheyDidNotRead(t *testing.T) {
	for model, refuses := range map[string]bool{"claude-sonnet-4-5": true, "": false} {
		t.Run("model "+model, func(t *testing.T) {
			r := newRig(t)
			for _, name := range []string{"edited", "overwritten", "read"} {
				if err := os.WriteFile(r.path(name), []byte("old\n"), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			edit := func(name string) messagesapi.Response {
				return messagesapi.Tool("Edit", map[string]any{"file_path": r.path(name), "old_string": "old", "new_string": "new"})
			}
			r.api.Play(messagesapi.Steps(
				edit("edited"),
				messagesapi.Write(r.path("overwritten"), "new\n"),
				messagesapi.Tool("Read", map[string]any{"file_path": r.path("read")}),
				edit("read"),
				messagesapi.Text("done"),
			))
			r.o.Model = model
			r.o.CheckTool = func(toolcall.Call) agent.Verdict { return agent.Verdict{Allow: true} }
			if err := os.WriteFile(r.path("notes.md"), []byte("a note of the user's\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			mustEnd(t, r.turn(r.start(), "do it (as @notes.md says)."))
			if !r.api.Requests()[0].Says("a note of the user's") {
				t.Error("the model was not told what the mentioned file holds")
			}

			unread := "new\n"
			if refuses {
				unread = "old\n"
			}
			for name, want := range map[string]string{"edited": unread, "overwritten": unread, "read": "new\n"} {
				if got, err := os.ReadFile(r.path(name)); err != nil || string(got) != want {
					t.Errorf("%s holds %q (%v), want %q", name, got, err, want)
				}
			}
			for i, q := range r.api.Requests()[1:3] {
				told := q.ToolResults()
				if len(told) != 1 || told[0].Error != refuses || refuses != strings.Contains(told[0].Text, "not been read") {
					t.Errorf("call %d: the model was told %+v", i+1, told)
				}
			}
		})
	}
}
