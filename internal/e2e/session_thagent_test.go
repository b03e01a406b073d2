//go:build unix

package e2e_test

import (
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/agent/agenttest/messagesapi"
)

const thMio = ".claude/th-loop-mio.local.md"

// An agent of a name has a file of its own, follows no other, and rests between
// its turns on a terminal. What another process writes into the day's channel
// reaches it, and the line stop ends the loop while it rests.
func TestTerminalThLoopAgent(t *testing.T) {
	s := newSessions(t, installPlugin, liftStopCap)
	s.env["TH_LOOP_AGENT"] = "mio"
	s.api.Play(func(r messagesapi.Request) messagesapi.Response {
		if r.Number == 1 {
			s.write(map[string]string{
				thFile: thLoop, thChannel: "## 10:00 nao\nlook at greet.sh\n",
				thMio: "---\nstatus: active\nmax: 0\niteration: 1\nevery: 2\nprompt: \"look around\"\n---\n",
			})
		}
		return more
	})
	c := s.open()
	c.typeLine("wait for the file")
	c.waitForModelInput("look at greet.sh")
	s.appends("## 10:05 nao\nand at the tests\n")
	c.waitForModelInput("and at the tests")
	c.waitUntil("rest", func() bool { return s.now().State == "waiting" })
	s.appends("stop\n")
	c.waitUntil("end of the loop", func() bool { return s.now().Outcome != "" })
	if got := s.status(); got.Outcome != "cancelled" || got.Iteration < 3 {
		t.Errorf("%+v\n%s", got, s.pawl("log", ".").out)
	}
	c.waitUntil("end in the file", func() bool { return strings.Contains(s.read(thMio), "status: stopped\n") })
	if got := s.read(thFile); got != thLoop {
		t.Errorf("another's file: %s", got)
	}
	s.checkJournalChain()
}
