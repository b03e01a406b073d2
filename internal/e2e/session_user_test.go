//go:build unix

package e2e_test

import (
	"strings"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/agent/agenttest/messagesapi"
)

// waitForFileCall returns a tool call that ends when the project has the file, or after a minute.
func waitForFileCall(file string) messagesapi.Response {
	return messagesapi.Bash("until [ -e " + file + " ] || [ $((n += 1)) -gt 600 ]; do sleep 0.1; done; rm -f " + file)
}

// A user starts a loop by a command in the client's bash mode. The stop that continues the agent is
// shown once, with the agent's prompt.
func TestTerminalLoopStartedInBashMode(t *testing.T) {
	s := newSessions(t, installSettings)
	s.playAnswers(s.answerAddingWord("bye"), messagesapi.Text("I did it."), done)
	c := s.open()
	c.shell("pawl start 'add bye' " + words)
	c.ends(state{"verified", 2})
	c.Shows("ended VERIFIED after 2 iterations", turnMost)
	if n := strings.Count(c.Screen(), "2/25") + strings.Count(c.Screen(), "2 of 25"); n != 1 {
		t.Errorf("the stop shows %d times: %s", n, c)
	}
}

// Text typed during a tool call reaches the agent in its turn, which stays the loop's. The client's
// status line shows the loop after the user's own text.
func TestTerminalTypingDuringTool(t *testing.T) {
	s := newSessions(t, installPlugin, liftStopCap)
	s.addClientSettings(map[string]any{"statusLine": map[string]any{"type": "command", "command": "pawl statusline --after 'echo my line'"}})
	s.playAnswers(waitForFileCall("go"), s.answerAddingWord("bye"), more, done)
	c := s.open()
	c.loops("add bye " + words)
	c.Shows("my line · ⟲ "+s.now().ID+" running", turnMost)
	c.Type("make it polite")
	c.Shows("make it polite", turnMost)
	time.Sleep(time.Second)
	s.write(map[string]string{"go": ""})
	c.ends(state{"verified", 2})
	c.waitForModelInput("make it polite")
}

// The user stops the turn and asks something. Their own turn is neither counted nor gated, and the
// loop continues after it.
func TestTerminalEscapeThenTyping(t *testing.T) {
	s := newSessions(t, installPlugin, liftStopCap)
	s.api.Play(func(r messagesapi.Request) messagesapi.Response {
		switch news := r.News(); {
		case strings.Contains(news, "what is it"):
			return messagesapi.Text("A word.\n\n<promise>DONE</promise>")
		case strings.Contains(news, "Stop hook"):
			return s.answerAddingWord("bye")
		case r.Says("Stop hook"):
			return done
		}
		return waitForFileCall("never")
	})
	c := s.open()
	c.loops("add bye " + words)
	c.waitUntil("tool call", func() bool { return len(s.api.Requests()) == 1 && strings.Contains(c.Screen(), "until [") })
	c.Keys("Escape")
	c.Shows("Interrupted", turnMost)
	c.typeLine("what is it")
	c.ends(state{"verified", 1})
	c.Shows("that turn was not counted; the loop continues", turnMost)
}

// The user presses Esc while the model thinks, then types a message to continue.
func TestTerminalEscapeWhileThinking(t *testing.T) {
	s := newSessions(t, installPlugin, liftStopCap)
	s.playAnswers(more, messagesapi.Text("Thinking.").After(time.Minute), messagesapi.Text("Going on."), s.answerAddingWord("bye"), done)
	c := s.open()
	c.loops("add bye " + words)
	c.waitForModelInput("2/25 · ")
	c.Keys("Escape")
	c.Shows("Interrupted", turnMost)
	c.typeLine("continue")
	c.ends(state{"verified", 2})
}

// The cap is met in an attended session: the user is told, and their next message continues the loop.
func TestTerminalStopCapIsMet(t *testing.T) {
	s := newSessions(t, installPlugin)
	s.playAnswers(more)
	c := s.open()
	c.loops("think about words")
	c.Shows("is NOT done", turnMost)
	s.playAnswers(messagesapi.Text("Gladly."), s.answerAddingWord("bye"), done)
	c.typeLine("please continue")
	c.ends(state{"unverified", 10})
}

// Text typed while the model thinks gets its own turn after the current one; the loop continues after
// it.
func TestTerminalTypingWhileThinking(t *testing.T) {
	s := newSessions(t, installPlugin, liftStopCap)
	s.api.Play(func(r messagesapi.Request) messagesapi.Response {
		if strings.Contains(r.News(), "a word in between") {
			return messagesapi.Text("I hear you.")
		}
		return more.After(2 * time.Second)
	})
	c := s.open()
	c.loops("think --max-iterations 5")
	c.waitForModelInput("2/5 · ")
	c.Type("a word in between")
	c.waitForModelInput("a word in between")
	if n := s.continued(); n > 2 {
		t.Errorf("%d turns came before the person's", n-1)
	}
	c.ends(state{"iterations", 5})
	if n := s.continued(); n != 4 { // to iterations 2 to 5
		t.Errorf("continued %d times\n%s", n, s.conversation())
	}
	if !strings.Contains(s.pawl("log", ".").out, "the user's own turn") {
		t.Errorf("%s", s.pawl("log", ".").out)
	}
}

// Esc while the gates run frees the session for the user. The verdict reaches the agent after their
// turn.
func TestTerminalEscapeWhileGatesRun(t *testing.T) {
	s := newSessions(t, installPlugin, liftStopCap)
	s.playAnswers(messagesapi.Write(s.path("tests/bye.sh"), wordTest("bye")), done, messagesapi.Text("Hello."), messagesapi.Write(s.path("bye.txt"), "bye\n"), done)
	c := s.open()
	gate := "if [ -e tests/bye.sh ] && [ ! -e " + s.home + "/slow ]; then touch " + s.home + "/slow; sleep 8; fi; sh words.sh"
	c.loops("add bye --gate '" + gate + "'")
	c.waitUntil("gate at work", func() bool { return exists(s.home + "/slow") })
	time.Sleep(time.Second)
	c.Keys("Escape")
	c.Shows("Interrupted", turnMost)
	c.typeLine("are you there")
	c.ends(state{"verified", 2})
	if n := strings.Count(s.conversation(), "Not done yet"); n != 1 {
		t.Errorf("told %d times\n%s", n, s.conversation())
	}
}
