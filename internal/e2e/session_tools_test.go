//go:build unix

package e2e_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/agent/agenttest/messagesapi"
)

// ownTool is a call of one of Pawl's tools, as the plugin mounts them.
func ownTool(name string, input map[string]any) messagesapi.Response {
	if input == nil {
		input = map[string]any{}
	}
	return messagesapi.Tool("mcp__plugin_pawl_pawl__"+name, input)
}

// The same agent in a user's session: the plugin provides each tool, the claim is made by a tool
// only, and no call asks for permission.
func TestSessionToolsByThePlugin(t *testing.T) {
	s := sessionsWith(t, wordShop(map[string]string{"words.sh": checkWords + "\n", "plan.md": "# Words\n\n- [ ] add bye\n- [ ] greet by name\n"}), installPlugin)
	s.playAnswers(
		messagesapi.Bash("pawl start plan.md "+words),
		ownTool("next_task", nil), ownTool("status", nil), ownTool("read_messages", nil), ownTool("verify", nil),
		ownTool("add_lesson", map[string]any{"text": "words stand in files of their own"}),
		ownTool("request_test_change", map[string]any{"files": []string{"tests/hello.sh"}, "why": "no more hello"}),
		ownTool("complete_task", map[string]any{"summary": "half of it", "status": "partial"}), bye,
		ownTool("ask_user", map[string]any{"question": "one word or two?"}),
		s.answerAddingWord("bye"), ownTool("request_merge", map[string]any{"summary": "one word"}),
		ownTool("complete_task", map[string]any{"summary": "bye stands", "status": "success"}), bye,
		ownTool("report_blocked", map[string]any{"reason": "nobody has a name here"}), bye,
	)
	p := s.print("loop on the plan")
	s.checkState(state{"blocked", 3}, p)
	s.checkAllToolsCalled("mcp__plugin_pawl_pawl__")
	told := s.toolResults()
	for _, want := range []string{
		"Task 1: add bye", "iteration 1 of 25", "Nobody has said anything", "PASS: every gate passes",
		"Kept: later tries get this lesson", "Asked for: tests/hello.sh", "Recorded: later tries", "Recorded: the user sees it", "Recorded: 1 is done", "Recorded with your reason",
	} {
		if !strings.Contains(told, want) {
			t.Errorf("the model was not told %q:\n%s\n%s", want, told, p)
		}
	}
	if r := s.pawl("report"); !r.contains("to be merged: one word", "nobody has a name here") {
		t.Errorf("the report: %s", r)
	}
}

// A session whose tools cannot be served continues without them, and so does its loop.
func TestSessionWithoutItsTools(t *testing.T) {
	s := newSessions(t, installPlugin)
	file := filepath.Join(s.home, "marketplace", "pawl", ".mcp.json")
	broken, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"pawl": map[string]any{"command": filepath.Join(s.home, "no-such-pawl"), "args": []string{"mcp"}}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, broken, 0o600); err != nil {
		t.Fatal(err)
	}
	s.playAnswers(startLoopCall("'add bye' "+words, ownTool("verify", nil), s.answerAddingWord("bye"), done)...)
	p := s.print("loop on adding bye")
	s.checkState(state{"verified", 1}, p)
	if !strings.Contains(s.toolResults(), "No such tool") {
		t.Errorf("told: %s", s.toolResults())
	}
}
