//go:build unix

package e2e_test

import (
	"encoding/json"
	"strconv"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/agent/agenttest"
	"github.com/pawl-dev/pawl/internal/agent/agenttest/messagesapi"
)

// driver is the process that drives the newest loop, as its journal tells.
func (b *bench) driver() int {
	b.t.Helper()
	pid := 0
	for _, r := range b.journal() {
		var owner struct{ PID int }
		if r.Type == "owner_taken" && json.Unmarshal(r.Data, &owner) == nil {
			pid = owner.PID
		}
	}
	if pid == 0 {
		b.t.Fatal("nobody drives a loop")
	}
	return pid
}

// waitForVerified waits for the end of the newest loop, which must be verified.
func (c *clientBench) waitForVerified(commits int) {
	c.t.Helper()
	c.pawl("attach")                // shows it to its end
	pid := strconv.Itoa(c.driver()) // it tries its work broken before it goes
	for end := time.Now().Add(timeout); c.isAlive(pid) && time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
	}
	if s := c.status(); s.State != "ended" || s.Outcome != "verified" {
		c.t.Errorf("status %+v\n%s", s, c.pawl("log", ".").out)
	}
	if got := c.subjects(); len(got) != commits {
		c.t.Errorf("commits %q", got)
	}
	c.checkJournalChain()
}

// A loop whose terminal is closed, and whose processes get the signals of a logout, continues and
// ends verified.
func TestClientLoopSurvivesClosedTerminal(t *testing.T) {
	c := newClientBench(t, wordShop(map[string]string{"plan.md": threeWords, "pawl.toml": "on_hangup = \"detach\"\n"}))
	c.playAnswers(c.answerAddingWord("bye"), done, messagesapi.Bash("touch pids; until [ -e answered ]; do sleep 0.1; done; rm answered"), c.answerAddingWord("thanks"), done, c.answerAddingWord("please"), done)
	c.write(map[string]string{".git/info/exclude": "pids\nanswered\n"})
	term := agenttest.Open(t, agenttest.Program{Argv: append([]string{c.binary, "run", "--yes"}, c.goal("plan.md")...), Dir: c.root, Env: c.env})
	term.Until("the tool call", timeout, func() bool { return exists(c.path("pids")) })
	term.HangUp()
	c.write(map[string]string{"answered": "yes\n"})
	c.waitForVerified(3)
}
