//go:build unix

package e2e_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/agent/agenttest/messagesapi"
)

// The loop is cancelled from another terminal during a tool call. The session is told at the end of
// its turn, and is free.
func TestTerminalLoopStoppedFromAnotherTerminal(t *testing.T) {
	s := newSessions(t, installPlugin, liftStopCap)
	s.playAnswers(waitForFileCall("go"), done, messagesapi.Text("Hello."))
	c := s.open()
	c.loops("add bye " + words)
	c.Shows("until [", turnMost)
	if r := s.pawl("stop", "."); r.code != 0 {
		t.Fatalf("stop: %s", r)
	}
	s.write(map[string]string{"go": ""})
	c.ends(state{"cancelled", 1})
	c.Shows("It works.", turnMost)
	c.typeLine("are you there")
	c.Shows("Hello.", turnMost)
	if n := s.continued(); n != 0 {
		t.Errorf("continued %d times\n%s", n, s.conversation())
	}
}

// The plugin's commands for a running loop: status, message, stop.
func TestTerminalCommands(t *testing.T) {
	s := newSessions(t, installPlugin, liftStopCap)
	c := s.open()
	c.holdAtInput()
	s.api.Play(func(r messagesapi.Request) messagesapi.Response {
		if sentOn(r) {
			return waitForFileCall("never")
		}
		return messagesapi.Text("Said so.")
	})
	c.typeAndInterrupt("/pawl:status", "1/25 · ")
	c.waitForModelInput("iteration 1 of 25")
	c.typeAndInterrupt(`/pawl:tell say "please", it's $5`, `The user says: say "please", it's $5`)
	c.Type("/pawl:cancel")
	c.ends(state{"cancelled", 1})
	c.Shows("ended CANCELLED", turnMost)
	if strings.Contains(c.Screen(), "❯ /pawl:cancel") {
		t.Errorf("the command is shown beside its answer: %s", c)
	}
	asked := len(s.api.Requests())
	c.typeLine("are you there") // by then the model would have been asked about the command
	if n := len(s.api.Requests()); n != asked+1 {
		t.Errorf("%d requests after the end, want 1\n%s\n%s", n-asked, s.conversation(), c)
	}
}

// typeAndInterrupt types a line, waits until the model gets a prompt with a text and makes a tool call,
// and stops the session by Esc.
func (c *terminal) typeAndInterrupt(line, after string) {
	c.s.t.Helper()
	calls := strings.Count(c.Screen(), "until [")
	c.Type(line)
	c.waitUntil("sent on with "+after, func() bool {
		return slices.ContainsFunc(c.s.api.Requests(), func(r messagesapi.Request) bool { return sentOn(r) && strings.Contains(r.News(), after) })
	})
	c.waitUntil("tool call", func() bool { return strings.Count(c.Screen(), "until [") > calls })
	n := strings.Count(c.Screen(), "Interrupted")
	c.Keys("Escape")
	c.waitUntil("interruption", func() bool { return strings.Count(c.Screen(), "Interrupted") > n })
}

// A message from another terminal reaches the agent at its next stop.
func TestSessionGetsMessageAtNextStop(t *testing.T) {
	s := newSessions(t, installSettings)
	steps, asked := messagesapi.Steps(startLoopCall("'add bye' "+words, s.answerAddingWord("bye"), more, done)...), 0
	s.api.Play(func(r messagesapi.Request) messagesapi.Response {
		if asked++; asked == 2 { // the loop has started
			if res := s.pawl("tell", ".", "make it polite"); res.code != 0 {
				t.Errorf("tell: %s", res)
			}
		}
		return steps(r)
	})
	p := s.print("loop")
	s.checkState(state{"verified", 2}, p)
	if !strings.Contains(s.requestWith("The user says").News(), "make it polite") {
		t.Error(s.conversation())
	}
}

// A paused loop leaves the session alone until it is resumed.
func TestTerminalPausedLoopLeavesSessionAlone(t *testing.T) {
	s := newSessions(t, installPlugin, liftStopCap)
	s.playAnswers(waitForFileCall("go"), more, s.answerAddingWord("bye"), done)
	c := s.open()
	c.loops("add bye " + words)
	c.Shows("until [", turnMost)
	if r := s.pawl("pause", "."); r.code != 0 {
		t.Fatalf("pause: %s", r)
	}
	s.write(map[string]string{"go": ""})
	c.Shows("is paused", turnMost)
	if n := s.continued(); n != 0 {
		t.Errorf("continued %d times\n%s", n, s.conversation())
	}
	if r := s.pawl("resume", "."); r.code != 0 {
		t.Fatalf("resume: %s", r)
	}
	c.ends(state{"verified", 2})
}

// The loop is stopped while its gates run: the session does not wait for them.
func TestTerminalStoppedWhileGatesRun(t *testing.T) {
	s := newSessions(t, installPlugin, liftStopCap)
	s.playAnswers(s.answerAddingWord("bye"), done, messagesapi.Text("Hello."))
	c := s.open()
	const gate = "if [ -e bye.txt ]; then sleep 60; fi; sh words.sh"
	c.loops("add bye --gate '" + gate + "'")
	c.gatesRun("bye.txt")
	if r := s.pawl("stop", "."); r.code != 0 {
		t.Fatalf("stop: %s", r)
	}
	c.ends(state{"cancelled", 1})
	c.typeLine("are you there")
	c.Shows("Hello.", 30*time.Second)
}

// A limit that is lowered from another terminal holds at the agent's next stop.
func TestSessionLoweredLimitHoldsAtNextStop(t *testing.T) {
	s := newSessions(t, installSettings)
	steps, asked := messagesapi.Steps(startLoopCall("'add bye' "+words, more, more, more)...), 0
	s.api.Play(func(r messagesapi.Request) messagesapi.Response {
		if asked++; asked == 3 { // in the first continued turn
			if res := s.pawl("limit", ".", "--max-iterations", "2"); res.code != 0 || !res.contains("iterations 25 → 2") {
				t.Errorf("limit: %s", res)
			}
		}
		return steps(r)
	})
	p := s.print("loop")
	s.checkState(state{"iterations", 2}, p)
}
