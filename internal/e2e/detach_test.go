//go:build unix

package e2e_test

import (
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/agent/agenttest"
)

// A closed terminal ends a loop, or leaves it in the background where the settings say so;
// pawl attach shows it, and Ctrl-C there only detaches.
func TestAClosedTerminalDetaches(t *testing.T) {
	t.Parallel()
	b := newBench(t, wordShop(map[string]string{"plan.md": threeWords, "pawl.toml": "on_hangup = \"detach\"\n"}))
	script := b.script("-- 1+/sleep --\n1h\n-- 1+/reply --\nhm\n")
	r := b.start("run", "plan.md", "--yes", "--gate", checkWords, "--agent", "scripted", "--agent-command", script)
	const soon = 30 * time.Second
	for end := time.Now().Add(soon); !b.turning(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it does not begin")
		}
	}
	if err := r.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	term := agenttest.Open(t, agenttest.Program{
		Argv: []string{"sh", "-c", `trap : INT; "$0" attach; echo "left $?"; cat`, b.binary}, Dir: b.root, Env: b.env,
	})
	term.Shows("Ctrl-C only detaches", soon)
	term.Keys("C-c")
	term.Shows("left 130", soon)
	if s := b.status(); s.State != "running" || s.Outcome != "" {
		t.Errorf("after Ctrl-C in attach: %+v", s)
	}
	if r := b.pawl("stop", "."); r.code != 0 || !strings.Contains(r.out, "cancelled") {
		t.Errorf("stop: %s", r)
	}
}
