//go:build unix

package e2e_test

import (
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/agent/agenttest/messagesapi"
)

// tenMinutes is a tool call that would take so long. The client refuses a command that
// begins with sleep.
var tenMinutes = messagesapi.Bash("touch half.txt; echo $$ $PPID > pids; sleep 600")

// A loop ends within two seconds although its agent waits for a tool, and the tool ends with it. On a
// slow machine the limit grows with the time of an empty command.
func TestClientStopsDuringLongToolCall(t *testing.T) {
	for name, stop := range map[string]func(c *clientBench, r *running){
		"pawl stop": func(c *clientBench, _ *running) { c.checkExitCode(c.pawl("stop", "."), 0) },
		"Ctrl-C":    func(_ *clientBench, r *running) { r.signal(syscall.SIGINT) },
	} {
		t.Run(name, func(t *testing.T) {
			c := newClientBench(t, wordShop(nil))
			c.write(map[string]string{".git/info/exclude": "pids\n"})
			c.playAnswers(tenMinutes, done)
			r := c.start(append([]string{"run"}, c.goal("add bye")...)...)
			r.waitUntil("the tool call", func() bool { return c.read("pids") != "" })
			empty := c.emptyCommand()
			begin := time.Now()
			stop(c, r)
			r.wait()
			took := time.Since(begin)
			t.Logf("it took %v; an empty command %v\n%s", took, empty, c.pawl("log", ".").out)
			if most := 2*time.Second + 20*empty; took > most {
				t.Errorf("it took %v to end, want at most %v", took, most)
			}
			c.checkProcessesGone("pids")
			if s := c.status(); s.Outcome != "cancelled" || !exists(c.path("half.txt")) {
				t.Errorf("status %+v, the work is kept: %v", s, exists(c.path("half.txt")))
			}
			c.checkJournalChain()
		})
	}
}

// emptyCommand is how long pawl takes here and now to do nothing: the median of five.
func (b *bench) emptyCommand() time.Duration {
	b.t.Helper()
	var took []time.Duration
	for range 5 {
		begin := time.Now()
		b.checkExitCode(b.pawl("version"), 0)
		took = append(took, time.Since(begin))
	}
	slices.Sort(took)
	return took[len(took)/2]
}
