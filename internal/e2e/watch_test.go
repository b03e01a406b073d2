//go:build unix

package e2e_test

import (
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/agent/agenttest"
)

// A user of pawl watch opens a loop, sends a message, pauses it and stops it, and the loop obeys.
// Leaving the screen restores the terminal.
func TestWatchControlsLoop(t *testing.T) {
	t.Parallel()
	b := newBench(t, wordShop(map[string]string{"plan.md": threeWords}))
	script := b.script("-- 1/sleep --\n15s\n-- 1/reply --\nhm\n-- 2+/sleep --\n1h\n-- 2+/reply --\nhm\n")
	r := b.start("run", "plan.md", "--gate", checkWords, "--agent", "scripted", "--agent-command", script)
	term := agenttest.Open(t, agenttest.Program{
		Argv: []string{"sh", "-c", `"$0" watch; echo "left $?"; cat`, b.binary}, Dir: b.root, Env: b.env,
	})
	const soon = 20 * time.Second
	term.Shows("WORKING", soon)
	term.Keys("Enter")
	term.Shows("the agent works", soon)
	term.Shows("add thanks", soon) // a task of the plan
	term.Keys("t")
	term.Type("use the fake clock")
	term.Shows("gets the message with its next prompt", soon)
	term.Shows("message from a user: use the fake clock", soon)
	term.Keys("p")
	term.Shows("pause requested", soon)
	term.Shows(" paused ", time.Minute)
	term.Keys("p")
	term.Shows("iteration 2 starts", soon)
	term.Keys("s")
	term.Shows("? y yes", soon)
	term.Keys("y")
	term.Shows("ended cancelled", time.Minute)
	if got := r.wait(); got.code != 130 {
		t.Errorf("the run: %s", got)
	}
	term.Keys("Escape")
	term.Shows("ENDED", soon)
	term.Keys("q")
	term.Shows("left 0", soon)
}

// A user of pawl watch skips a task and retries it, and the loop obeys.
func TestWatchSkipsAndRetries(t *testing.T) {
	t.Parallel()
	b := newBench(t, wordShop(map[string]string{"plan.md": threeWords}))
	script := b.script("-- 1/sleep --\n15s\n-- 1/reply --\nhm\n-- 2/sleep --\n15s\n-- 2/reply --\nhm\n-- 3+/sleep --\n1h\n-- 3+/reply --\nhm\n")
	r := b.start("run", "plan.md", "--gate", checkWords, "--agent", "scripted", "--agent-command", script)
	term := agenttest.Open(t, agenttest.Program{
		Argv: []string{"sh", "-c", `"$0" watch; echo "left $?"; cat`, b.binary}, Dir: b.root, Env: b.env,
	})
	const soon = 20 * time.Second
	term.Shows("WORKING", soon)
	term.Keys("Enter")
	term.Shows("the agent works", soon)
	term.Shows("S skip task", soon)
	term.Keys("S")
	term.Shows("? y yes", soon)
	term.Keys("y")
	term.Shows("is left out", soon)
	term.Shows("iteration 2 starts", time.Minute)
	term.Keys("Up", "Up")
	term.Shows("R retry task", soon)
	term.Keys("R")
	term.Shows("is tried again", soon)
	term.Shows("the plan was edited: task 1 is tried again", time.Minute)
	term.Keys("s")
	term.Shows("? y yes", soon)
	term.Keys("y")
	term.Shows("ended cancelled", time.Minute)
	if got := r.wait(); got.code != 130 {
		t.Errorf("the run: %s", got)
	}
}
