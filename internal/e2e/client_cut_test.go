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

// inTool starts a loop whose agent is in the middle of the endless tool call.
func (c *clientBench) inTool(args ...string) *running {
	c.t.Helper()
	c.write(map[string]string{".git/info/exclude": "pids\n"})
	r := c.start(append([]string{"run"}, c.goal(args...)...)...)
	r.until("the tool call", func() bool { return c.read("pids") != "" })
	return r
}

// A signal in the middle of a tool call ends the turn cleanly and keeps the
// work; nothing of the agent lives on.
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
			c.plays(endless, done)
			r := c.inTool("add bye")
			begin := time.Now()
			for _, s := range tc.signals {
				r.signal(s)
				time.Sleep(50 * time.Millisecond) // the same signal twice at once is one
			}
			c.ended(r.wait(), tc.code)
			if d := time.Since(begin); d > 20*time.Second {
				t.Errorf("it took %v to end", d)
			}
			c.gone("pids")
			if !exists(c.path("half.txt")) {
				t.Error("the work is lost")
			}
			if s := c.status(); s.State != "ended" || s.Outcome != "cancelled" {
				t.Errorf("status %+v", s)
			}
			c.intact()
		})
	}
}

// A kill -9 of pawl in the middle of a tool call takes the agent with it, and
// the loop continues where it was: nothing is counted or committed twice.
func TestClientKilledAndResumed(t *testing.T) {
	t.Parallel()
	for name, wait := range map[string]time.Duration{"at once": 0, "later": 4 * time.Second} {
		t.Run(name, func(t *testing.T) {
			c := newClientBench(t, wordShop(map[string]string{"plan.md": threeWords}))
			c.plays(c.adds("bye"), done, endless, c.adds("thanks"), done, c.adds("please"), done)
			r := c.inTool("plan.md")
			r.signal(syscall.SIGKILL)
			r.wait()
			time.Sleep(wait)
			c.ended(c.pawl("resume"), 0)
			c.gone("pids")
			if got := c.subjects(); len(got) != 3 {
				t.Errorf("commits %q", got)
			}
			if s := c.status(); s.Outcome != "verified" || s.Iteration != 3 || s.Tasks.Done != 3 {
				t.Errorf("status %+v", s)
			}
			c.intact()
		})
	}
}

// What a tool leaves running is gone when the loop is over, also where it went
// into a session of its own.
func TestClientLeavesNoProcess(t *testing.T) {
	c := newClientBench(t, wordShop(nil))
	c.write(map[string]string{".git/info/exclude": "pids\n"})
	// The client refuses a command that begins with sleep.
	c.plays(messagesapi.Bash(`touch pids
		sh -c 'echo $$ >> pids; exec sleep 1000' &
		setsid sh -c 'echo $$ >> pids; exec sleep 1000' >/dev/null 2>&1 &
		until [ $(wc -l < pids) = 2 ]; do sleep 0.1; done`), c.adds("bye"), done)
	c.run(0, c.goal("add bye")...)
	if n := len(sortedLines(c.read("pids"))); n != 2 {
		t.Errorf("%d processes were left behind, want 2", n)
	}
	c.gone("pids")
}
