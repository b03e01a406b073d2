//go:build unix

package e2e_test

import (
	"encoding/json"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/agent/agenttest/messagesapi"
)

// awaitedApproval waits until the newest loop waits for the user's yes, and returns for what.
func (b *bench) awaitedApproval() string {
	b.t.Helper()
	var now asking
	for deadline := time.Now().Add(timeout); ; time.Sleep(100 * time.Millisecond) {
		r := b.pawl("status", ".", "--json")
		if json.Unmarshal([]byte(r.out), &now) == nil && now.State == "waiting" && strings.HasPrefix(now.Doing, "waits for your approval: ") {
			return strings.TrimPrefix(now.Doing, "waits for your approval: ")
		}
		if time.Now().After(deadline) {
			b.t.Fatalf("it does not wait: %s\n%s", r, b.pawl("log", ".").out)
		}
	}
}

// The loop shows accepted work and stops before it commits. Neither commands of the agent nor kill -9
// approve it; the reason of a rejection is in the next prompt.
func TestClientWorkWaitsForApproval(t *testing.T) {
	c := newClientBench(t, wordShop(nil))
	c.playAnswers(c.answerAddingWord("bye"), messagesapi.Bash(c.binary+" approve ."), done, messagesapi.Bash("echo bye > farewell.txt"), done)
	run := c.start(append([]string{"run", "--approve", "task"}, c.goal("add bye")...)...)
	if got := c.awaitedApproval(); !strings.HasPrefix(got, "accept the work") {
		t.Errorf("waits for %q", got)
	}
	if r := c.pawl("answer", "."); !r.contains("evidence: proven", "git diff ", "A bye.txt", "A tests/bye.sh") {
		t.Errorf("%s", r)
	}
	if got := c.subjects(); len(got) > 1 {
		t.Errorf("committed: %q", got)
	}
	if err := syscall.Kill(run.cmd.Process.Pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	run.wait()
	run = c.start("resume", ".")
	c.awaitedApproval()
	if r := c.pawl("reject", ".", "--why", "it needs farewell.txt as well"); r.code != 0 {
		t.Errorf("%s", r)
	}
	run.waitUntil("the work to be done again", func() bool { return exists(c.path("farewell.txt")) })
	c.awaitedApproval()
	if r := c.pawl("approve", "."); !r.contains("approved: accept the work") {
		t.Errorf("%s", r)
	}
	if r := run.wait(); r.code != 0 {
		t.Fatalf("%s\n%s", r, c.pawl("log", ".").out)
	}
	if prompts := strings.Join(c.prompts(), "\n"); !strings.Contains(prompts, "The user does not accept your work on this task: it needs farewell.txt as well") {
		t.Errorf("the agent was told:\n%s", prompts)
	}
	c.checkJournalChain()
}

// In a user's session the loop leaves the session alone until the work is approved from another
// terminal; then it continues.
func TestTerminalWorkWaitsForApproval(t *testing.T) {
	s := newSessions(t, installPlugin, liftStopCap)
	s.playAnswers(s.answerAddingWord("bye"), done)
	c := s.open()
	c.loops("add bye --approve task " + words)
	c.Shows("waits for your approval: accept the work", turnMost)
	if r := s.pawl("approve", "."); r.code != 0 {
		t.Fatalf("%s", r)
	}
	c.ends(state{"verified", 1})
}
