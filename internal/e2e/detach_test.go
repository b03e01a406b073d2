//go:build unix

package e2e_test

import (
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/agent/agenttest"
)

// A closed terminal ends a loop, or detaches it if the settings say so. pawl attach shows it, and
// Ctrl-C there only detaches.
func TestClosedTerminalDetaches(t *testing.T) {
	t.Parallel()
	b := newBench(t, wordShop(map[string]string{"plan.md": threeWords, "pawl.toml": "on_hangup = \"detach\"\n"}))
	script := b.script("-- 1+/sleep --\n1h\n-- 1+/reply --\nhm\n")
	r := b.start("run", "plan.md", "--yes", "--gate", checkWords, "--agent", "scripted", "--agent-command", script)
	const soon = 30 * time.Second
	for end := time.Now().Add(soon); !b.inAgentTurn(); time.Sleep(50 * time.Millisecond) {
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

// The key d detaches the loop from the terminal, and the loop also survives a restart of the machine.
// Without it, a loop ends with the process that its user sees, however that process ends.
func TestDetachKey(t *testing.T) {
	t.Parallel()
	b := newBench(t, wordShop(map[string]string{"plan.md": threeWords}))
	script := b.script("-- 1+/sleep --\n1h\n-- 1+/reply --\nhm\n")
	const soon = 30 * time.Second
	begin := func() *agenttest.Terminal {
		line := `"$0" run plan.md --gate '` + checkWords + `' --agent scripted --agent-command ` + script + `; echo "left $?"; stty -a; cat`
		term := agenttest.Open(t, agenttest.Program{Argv: []string{"sh", "-c", line, b.binary}, Dir: b.root, Env: b.env})
		term.Shows("iteration 1 of", soon)
		return term
	}
	term := begin()
	term.Keys("x", "d")
	term.Shows("detached: ", soon)
	term.Shows("left 0", soon)
	if screen := term.Screen(); strings.Contains(screen, "-icanon") || strings.Contains(screen, "-echo ") {
		t.Errorf("the terminal is left so:\n%s", screen)
	}
	if s := b.status(); s.State != "running" || s.Outcome != "" {
		t.Errorf("after the key: %+v", s)
	}
	b.killAll(b.driver())
	if r := b.pawl("resume", "--after-restart"); r.code != 0 || b.status().State != "running" {
		t.Errorf("after a restart: %s %+v", r, b.status())
	}
	b.pawl("stop", ".")

	term = begin()
	first, err := exec.Command("ps", "-o", "ppid=", "-p", strconv.Itoa(b.driver())).Output()
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(first)))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	term.Shows("the terminal went away", soon)
	if s := b.status(); s.Outcome != "cancelled" {
		t.Errorf("after the first process was killed: %+v", s)
	}
}
