//go:build unix

package e2e_test

import (
	"strings"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/agent/agenttest/messagesapi"
)

// until is a tool call that ends when the user's project has the file, or after
// a minute.
func until(file string) messagesapi.Response {
	return messagesapi.Bash("until [ -e " + file + " ] || [ $((n += 1)) -gt 600 ]; do sleep 0.1; done; rm -f " + file)
}

// A person begins a loop by a command of their shell, in the client's bash mode. The
// stop that sends the agent on shows once, with what the agent is told.
func TestTerminalBegunInBashMode(t *testing.T) {
	s := newSessions(t, settings)
	s.plays(s.adds("bye"), messagesapi.Text("I did it."), done)
	c := s.open()
	c.shell("pawl start 'add bye' " + words)
	c.ends(state{"verified", 2})
	c.Shows("ended VERIFIED after 2 iterations", turnMost)
	if n := strings.Count(c.Screen(), "2/25") + strings.Count(c.Screen(), "2 of 25"); n != 1 {
		t.Errorf("the stop shows %d times: %s", n, c)
	}
}

// What is typed while a tool runs reaches the agent in its turn, which stays the
// loop's. The client's status line tells of the loop, after the user's own.
func TestTerminalTypedInMidTurn(t *testing.T) {
	s := newSessions(t, plugin, uncapped)
	s.sets(map[string]any{"statusLine": map[string]any{"type": "command", "command": "pawl statusline --after 'echo my line'"}})
	s.plays(until("go"), s.adds("bye"), more, done)
	c := s.open()
	c.loops("add bye " + words)
	c.Shows("my line · ⟲ "+s.now().ID+" running", turnMost)
	c.Type("make it polite")
	c.Shows("make it polite", turnMost)
	time.Sleep(time.Second)
	s.write(map[string]string{"go": ""})
	c.ends(state{"verified", 2})
	c.hears("make it polite")
}

// The user stops the turn and asks something. Their own turn is not counted
// and not judged, and the loop continues after it.
func TestTerminalEscapeThenTyping(t *testing.T) {
	s := newSessions(t, plugin, uncapped)
	s.api.Play(func(r messagesapi.Request) messagesapi.Response {
		switch news := r.News(); {
		case strings.Contains(news, "what is it"):
			return messagesapi.Text("A word.\n\n<promise>DONE</promise>")
		case strings.Contains(news, "Stop hook"):
			return s.adds("bye")
		case r.Says("Stop hook"):
			return done
		}
		return until("never")
	})
	c := s.open()
	c.loops("add bye " + words)
	c.until("tool call", func() bool { return len(s.api.Requests()) == 1 && strings.Contains(c.Screen(), "until [") })
	c.Keys("Escape")
	c.Shows("Interrupted", turnMost)
	c.types("what is it")
	c.ends(state{"verified", 1})
	c.Shows("that turn was not counted; the loop continues", turnMost)
}

// Esc while the model thinks, then a word to continue.
func TestTerminalEscapeWhileThinking(t *testing.T) {
	s := newSessions(t, plugin, uncapped)
	s.plays(more, messagesapi.Text("Thinking.").After(time.Minute), messagesapi.Text("Going on."), s.adds("bye"), done)
	c := s.open()
	c.loops("add bye " + words)
	c.hears("2/25 · ")
	c.Keys("Escape")
	c.Shows("Interrupted", turnMost)
	c.types("continue")
	c.ends(state{"verified", 2})
}

// The cap is met while a user sits there: they are told, and their next word
// continues the loop.
func TestTerminalCapMet(t *testing.T) {
	s := newSessions(t, plugin)
	s.plays(more)
	c := s.open()
	c.loops("think about words")
	c.Shows("is NOT done", turnMost)
	s.plays(messagesapi.Text("Gladly."), s.adds("bye"), done)
	c.types("please continue")
	c.ends(state{"unverified", 10})
}

// What is typed while the model thinks and calls no tool gets its turn as soon as
// this one ends; the loop continues after it.
func TestTerminalTypedWhileThinking(t *testing.T) {
	s := newSessions(t, plugin, uncapped)
	s.api.Play(func(r messagesapi.Request) messagesapi.Response {
		if strings.Contains(r.News(), "a word in between") {
			return messagesapi.Text("I hear you.")
		}
		return more.After(2 * time.Second)
	})
	c := s.open()
	c.loops("think --max-iterations 5")
	c.hears("2/5 · ")
	c.Type("a word in between")
	c.hears("a word in between")
	if n := s.continued(); n > 2 {
		t.Errorf("%d turns came before the person's", n-1)
	}
	c.ends(state{"iterations", 5})
	if n := s.continued(); n != 4 { // to iterations 2 to 5
		t.Errorf("continued %d times\n%s", n, s.story())
	}
	if !strings.Contains(s.pawl("log", ".").out, "the user's own turn") {
		t.Errorf("%s", s.pawl("log", ".").out)
	}
}

// Esc while the gates run sets the user free; the verdict reaches the agent
// after their turn.
func TestTerminalEscapeWhileGatesRun(t *testing.T) {
	s := newSessions(t, plugin, uncapped)
	s.plays(messagesapi.Write(s.path("tests/bye.sh"), wordTest("bye")), done, messagesapi.Text("Hello."), messagesapi.Write(s.path("bye.txt"), "bye\n"), done)
	c := s.open()
	gate := "if [ -e tests/bye.sh ] && [ ! -e " + s.home + "/slow ]; then touch " + s.home + "/slow; sleep 8; fi; sh words.sh"
	c.loops("add bye --gate '" + gate + "'")
	c.until("gate at work", func() bool { return exists(s.home + "/slow") })
	time.Sleep(time.Second)
	c.Keys("Escape")
	c.Shows("Interrupted", turnMost)
	c.types("are you there")
	c.ends(state{"verified", 2})
	if n := strings.Count(s.story(), "Not done yet"); n != 1 {
		t.Errorf("told %d times\n%s", n, s.story())
	}
}
