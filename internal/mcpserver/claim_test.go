//go:build unix

package mcpserver_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/pawl-dev/pawl/internal/core/authorship"
	"github.com/pawl-dev/pawl/internal/core/toolcall"
	"github.com/pawl-dev/pawl/internal/record"
)

func TestClaimIsRefusedByGates(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.begin(nil)
	s := w.connect()
	w.says(s, "complete_task", map[string]any{"summary": "done", "status": "success"}, "no file has changed since the task started")
	w.write("a.go", "package a\n")
	w.says(s, "complete_task", map[string]any{"summary": "done", "status": "success"}, "no test failed before and passes now")
	w.write("new.red.go", "x")
	before := len(w.left())
	w.says(s, "complete_task", map[string]any{"summary": "done", "status": "success"}, "NOT ACCEPTED, nothing is recorded", "sh ./check.sh", "Test_new")
	w.says(s, "verify", nil, "FAIL: something that passed when the task started fails now", "failing: Test_new", "--- FAIL: Test_new")
	if n := len(w.left()); n != before {
		t.Errorf("%d messages were left", n-before)
	}
}

// What a claim would be refused for at the end of the turn is said at once.
func TestClaimOutsideItsScopeIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("plan.md", "- [ ] add a <!-- pawl: scope=a.go -->\n")
	w.begin(map[string]any{"gates": []string{"sh ./check.sh"}, "plan": "plan.md", "agent": "command", "agent_command": "true"})
	s := w.connect()
	w.write("a.go", "package a\n")
	w.write("b.go", "package a\n")
	ran := authorship.Call{Tool: "Bash", Kind: toolcall.Run, Command: "sh generate.sh a.go b.go"}
	if err := record.AppendCall(record.ToolCallsPath(w.loop), ran); err != nil {
		t.Fatal(err)
	}
	done := map[string]any{"summary": "done", "status": "success"}
	w.says(s, "complete_task", done, "NOT ACCEPTED, nothing is recorded", "restore them", "\nb.go")
	if err := os.Remove(filepath.Join(w.root, "b.go")); err != nil {
		t.Fatal(err)
	}
	w.says(s, "complete_task", done, "Recorded: 1 is done, as you claim")
}
