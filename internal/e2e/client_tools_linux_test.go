package e2e_test

import (
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/confine"
)

// Behind a wall the tools are the same: they live on this side of it.
func TestClientToolsConfined(t *testing.T) {
	canConfine(t, confine.Tree)
	c := newClientBench(t, wordShop(nil))
	c.plays(c.adds("bye"), tool("verify", nil), tool("complete_task", map[string]any{"summary": "bye stands", "status": "success"}), bye)
	r := c.run(0, c.goal("--confine", "tree", "add bye")...)
	if told := c.told(); !strings.Contains(told, "PASS: every gate passes") || !strings.Contains(told, "Recorded: goal is done") {
		t.Errorf("told: %s\n%s", told, r)
	}
}
