//go:build unix

package e2e_test

import (
	"fmt"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/agent/agenttest"
)

// terminal is the real client on a terminal, with a user who types.
type terminal struct {
	*agenttest.Terminal
	s *sessions
}

const (
	startMost = 3 * time.Minute // for the client to come up on a busy machine
	turnMost  = 5 * time.Minute // for a turn of a scripted model, with its hooks
)

// open starts the client on a terminal of its own.
func (s *sessions) open(more ...string) *terminal {
	s.t.Helper()
	argv := append([]string{s.client}, s.args...)
	t := &terminal{Terminal: agenttest.Open(s.t, agenttest.Program{Argv: append(argv, more...), Dir: s.root, Env: s.env}), s: s}
	t.Shows("❯", startMost)
	time.Sleep(time.Second) // keys that come while it sets up are lost
	return t
}

// typeLine sends a line, and waits until the model gets it.
func (c *terminal) typeLine(line string) {
	c.s.t.Helper()
	c.Type(line)
	c.waitForModelInput(line)
}

// shell types a command of the user's own shell, in the client's bash mode.
func (c *terminal) shell(command string) {
	c.s.t.Helper()
	n := strings.Count(c.Screen(), "!")
	c.Keys("!")
	c.waitUntil("bash mode", func() bool { return strings.Count(c.Screen(), "!") > n })
	c.Type(command)
}

// loops starts a loop by the plugin's command.
func (c *terminal) loops(args string) {
	c.s.t.Helper()
	c.Type("/pawl:loop " + args)
	c.waitForModelInput("<command-args>" + args)
}

// waitForModelInput waits until the model gets new input with the text.
func (c *terminal) waitForModelInput(text string) {
	c.s.t.Helper()
	c.waitUntil(fmt.Sprintf("request that says %q", text), func() bool {
		for _, r := range c.s.api.Requests() {
			if strings.Contains(r.News(), text) {
				return true
			}
		}
		return false
	})
}

// waitUntil waits until a condition holds.
func (c *terminal) waitUntil(what string, so func() bool) {
	c.s.t.Helper()
	c.Until(what, turnMost, so)
}

// gatesRun waits until the gates run on work that has made a file. What a gate writes outside of its checkout is
// out of sight.
func (c *terminal) gatesRun(file string) {
	c.s.t.Helper()
	c.waitUntil("gate at work", func() bool { return exists(c.s.path(file)) && c.s.pawl("status").contains("· running the gates") })
}

// String is the screen, for who looks for a fault.
func (c *terminal) String() string { return "screen:\n" + c.Screen() }

// ends waits until the newest loop has ended, and checks how.
func (c *terminal) ends(want state) {
	c.s.t.Helper()
	c.waitUntil("end of the loop", func() bool { return c.s.now().Outcome != "" })
	c.s.checkState(want, c)
}
