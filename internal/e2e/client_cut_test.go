//go:build unix

package e2e_test

import (
	"syscall"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/agent/agenttest/messagesapi"
)

// endless is a tool call that leaves half a work, writes the ids of its shell
// and of the client to a file that git ignores, and never ends.
var endless = messagesapi.Bash("touch half.txt; echo $$ $PPID > pids; while :; do sleep 1; done")

// startInTool starts a loop whose agent is in the endless tool call.
func (c *clientBench) startInTool(args ...string) *running {
	c.t.Helper()
	c.write(map[string]string{".git/info/exclude": "pids\n"})
	r := c.start(append([]string{"run"}, c.goal(args...)...)...)
	r.waitUntil("the tool call", func() bool { return c.read("pids") != "" })
	return r
}

// A signal during a tool call ends the turn cleanly and keeps the work. No process of the agent
// survives.
func TestClientSignals(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		signals []syscall.Signal
		code    int
	}{
		"Ctrl-C":       {[]syscall.Signal{syscall.SIGINT}, 130},
		"Ctrl-C twice": {[]syscall.Signal{syscall.SIGINT, syscall.SIGINT}, 130},
		"TERM":         {[]syscall.Signal{syscall.SIGTERM}, 143},
		"HUP":          {[]syscall.Signal{syscall.SIGHUP}, 129},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := newClientBench(t, wordShop(nil))
			c.playAnswers(endless, done)
			r := c.startInTool("add bye")
			begin := time.Now()
			for _, s := range tc.signals {
				r.signal(s)
				time.Sleep(50 * time.Millisecond) // the same signal twice at once is one
			}
			c.checkExitCode(r.wait(), tc.code)
			if d := time.Since(begin); d > 20*time.Second {
				t.Errorf("it took %v to end", d)
			}
			c.checkProcessesGone("pids")
			if !exists(c.path("half.txt")) {
				t.Error("the work is lost")
			}
			if s := c.status(); s.State != "ended" || s.Outcome != "cancelled" {
				t.Errorf("status %+v", s)
			}
			c.checkJournalChain()
		})
	}
}

// A kill -9 of pawl during a tool call ends the agent, too. The loop continues from there, and
// nothing is counted or committed twice.
func TestClientKilledAndResumed(t *testing.T) {
	t.Parallel()
	for name, wait := range map[string]time.Duration{"at once": 0, "later": 4 * time.Second} {
		t.Run(name, func(t *testing.T) {
			c := newClientBench(t, wordShop(map[string]string{"plan.md": threeWords}))
			c.playAnswers(c.answerAddingWord("bye"), done, endless, c.answerAddingWord("thanks"), done, c.answerAddingWord("please"), done)
			r := c.startInTool("plan.md")
			r.signal(syscall.SIGKILL)
			r.wait()
			time.Sleep(wait)
			c.checkExitCode(c.pawl("resume"), 0)
			c.checkProcessesGone("pids")
			if got := c.subjects(); len(got) != 3 {
				t.Errorf("commits %q", got)
			}
			if s := c.status(); s.Outcome != "verified" || s.Iteration != 3 || s.Tasks.Done != 3 {
				t.Errorf("status %+v", s)
			}
			c.checkJournalChain()
		})
	}
}

// Processes that a tool leaves running are ended with the loop, even in their own process session.
func TestClientLeavesNoProcess(t *testing.T) {
	c := newClientBench(t, wordShop(nil))
	c.write(map[string]string{".git/info/exclude": "pids\n"})
	// The client refuses a command that begins with sleep.
	c.playAnswers(messagesapi.Bash(`touch pids
		sh -c 'echo $$ >> pids; exec sleep 1000' &
		setsid sh -c 'echo $$ >> pids; exec sleep 1000' >/dev/null 2>&1 &
		until [ $(wc -l < pids) = 2 ]; do sleep 0.1; done`), c.answerAddingWord("bye"), done)
	c.run(0, c.goal("add bye")...)
	if n := len(sortedLines(c.read("pids"))); n != 2 {
		t.Errorf("%d processes were left behind, want 2", n)
	}
	c.checkProcessesGone("pids")
}
