package e2e_test

import (
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/confine"
)

// Pawl's tools work in a sandbox: their server is outside of it.
func TestClientToolsInSandbox(t *testing.T) {
	canConfine(t, confine.Tree)
	c := newClientBench(t, wordShop(nil))
	c.playAnswers(c.answerAddingWord("bye"), tool("verify", nil), tool("complete_task", map[string]any{"summary": "bye stands", "status": "success"}), bye)
	r := c.run(0, c.goal("--confine", "tree", "add bye")...)
	if told := c.toolResults(); !strings.Contains(told, "PASS: every gate passes") || !strings.Contains(told, "Recorded: goal is done") {
		t.Errorf("told: %s\n%s", told, r)
	}
}
