//go:build unix

package e2e_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/agent/agenttest/messagesapi"
)

// inBackground starts a command that the client does not wait for.
func inBackground(command string) messagesapi.Response {
	return messagesapi.Tool("Bash", map[string]any{"command": command, "description": "run it", "run_in_background": true})
}

// A gate takes longer than a user wants to wait at each stop. The session is free meanwhile, and is
// woken with the verdict.
func TestTerminalSlowGate(t *testing.T) {
	s := newSessions(t, installPlugin, liftStopCap)
	s.write(map[string]string{"../slow.sh": fmt.Sprintf("if [ -e bye.txt ] && [ ! -e %[1]s ]; then touch %[1]s; sleep 118; fi\n%[2]s\n", s.home+"/waited", checkWords)})
	s.api.Play(func(r messagesapi.Request) messagesapi.Response {
		switch news := r.News(); {
		case strings.Contains(news, "what takes so long"):
			return messagesapi.Text("The gates.")
		case strings.Contains(news, "Not done yet"):
			return messagesapi.Bash("echo bye > bye.txt")
		case len(r.ToolResults()) > 0:
			return done
		}
		return messagesapi.Write(s.path("bye.txt"), "bey\n").And(messagesapi.Write(s.path("tests/bye.sh"), wordTest("bye")))
	})
	c := s.open()
	begin := time.Now()
	c.loops("add bye --gate 'sh " + s.home + "/slow.sh'")
	c.Until("leave to type", 2*time.Minute+turnMost, func() bool { return strings.Contains(c.Screen(), "the gates still run") })
	if d := time.Since(begin); d < 100*time.Second {
		t.Errorf("the session was free after %v\n%s", d, c)
	}
	c.typeLine("what takes so long")
	c.ends(state{"verified", 2})
	if n := strings.Count(s.conversation(), "Not done yet"); n != 1 {
		t.Errorf("woken %d times\n%s", n, s.conversation())
	}
	if n := s.events("turn_ended"); n > 3 {
		t.Errorf("%d turns ended: %s", n, s.pawl("log", ".").out)
	}
}

// A turn ends while one of its commands runs in the background. The loop waits until that has ended.
func TestTerminalBackgroundWork(t *testing.T) {
	s := newSessions(t, installPlugin, liftStopCap)
	s.api.Play(func(r messagesapi.Request) messagesapi.Response {
		switch news := r.News(); {
		case strings.Contains(news, "<task-notification>"):
			return s.answerAddingWord("bye")
		case len(r.ToolResults()) > 0 && r.Says("<task-notification>"):
			return done
		case len(r.ToolResults()) > 0:
			return messagesapi.Text("I wait for it.")
		}
		return inBackground("until [ -e go ]; do sleep 0.1; done; rm go")
	})
	c := s.open()
	c.loops("add bye " + words)
	c.Shows("I wait for it.", turnMost)
	c.Shows("Stop says: ", turnMost)
	if n := s.continued(); n != 0 {
		t.Errorf("continued %d times\n%s", n, c)
	}
	s.write(map[string]string{"go": ""})
	c.ends(state{"verified", 2})
}

// A server that keeps running in the background does not keep the loop from its end: a claim is still
// gated.
func TestTerminalServerInTheBackground(t *testing.T) {
	s := newSessions(t, installPlugin, liftStopCap)
	s.playAnswers(inBackground("sleep 300").And(s.answerAddingWord("bye")), done)
	c := s.open()
	c.loops("add bye " + words)
	c.ends(state{"verified", 1})
}

// In an unattended session the loop does not wait for background commands.
func TestSessionBackgroundWork(t *testing.T) {
	s := newSessions(t, installSettings)
	s.playAnswers(startLoopCall("'add bye' "+words, inBackground("sleep 5"), more, s.answerAddingWord("bye"), done)...)
	p := s.print("loop")
	s.checkState(state{"verified", 2}, p)
}

// The API fails during a turn: the loop waits, and wakes the session.
func TestTerminalAPIError(t *testing.T) {
	s := newSessions(t, installPlugin, liftStopCap)
	s.env["CLAUDE_CODE_MAX_RETRIES"] = "0"
	s.playAnswers(messagesapi.Bash("true"), messagesapi.Fail(500, "boom"), s.answerAddingWord("bye"), done)
	c := s.open()
	c.loops("add bye " + words)
	c.ends(state{"verified", 1})
}

// A usage limit: the loop waits, says so on the terminal, and continues when the
// person does.
func TestTerminalUsageLimit(t *testing.T) {
	s := newSessions(t, installPlugin, liftStopCap)
	s.env["CLAUDE_CODE_MAX_RETRIES"] = "0"
	s.playAnswers(messagesapi.Bash("true"), messagesapi.Fail(429, "limit reached", "retry-after", "3600"))
	c := s.open()
	c.loops("add bye " + words)
	c.waitUntil("wait", func() bool { return s.now().State == "waiting" })
	c.waitUntil("notification", func() bool { return strings.Contains(c.Written(), "\x1b]9;"+s.now().ID+": waiting until") })
	s.playAnswers(messagesapi.Text("I can speak again."), s.answerAddingWord("bye"), done)
	c.typeLine("are you there")
	c.ends(state{"verified", 1})
}

// An expired login pauses the loop until the session works again.
func TestTerminalExpiredLoginPausesLoop(t *testing.T) {
	s := newSessions(t, installPlugin, liftStopCap)
	s.env["CLAUDE_CODE_MAX_RETRIES"] = "0"
	s.playAnswers(messagesapi.Bash("true"), messagesapi.Fail(401, "invalid x-api-key"))
	c := s.open()
	c.loops("add bye " + words)
	c.waitUntil("hold", func() bool { return s.now().State == "paused" })
	s.playAnswers(messagesapi.Text("I am in again."), s.answerAddingWord("bye"), done)
	c.typeLine("are you there")
	c.ends(state{"verified", 1})
}

// Pawl is installed twice, and the session is woken once.
func TestTerminalIsWokenOnce(t *testing.T) {
	s := newSessions(t, installSettings, installPlugin, liftStopCap)
	s.env["CLAUDE_CODE_MAX_RETRIES"] = "0"
	s.playAnswers(messagesapi.Bash("true"), messagesapi.Fail(500, "boom"), s.answerAddingWord("bye"), done)
	c := s.open()
	c.loops("add bye " + words)
	c.ends(state{"verified", 1})
	time.Sleep(3 * time.Second)
	if n := len(s.api.Requests()); n != 4 {
		t.Errorf("%d requests\n%s", n, s.conversation())
	}
}

// Without a claim the loop waits only once for the same server. The next stop is answered as usual.
func TestTerminalWaitsOnceForServer(t *testing.T) {
	s := newSessions(t, installPlugin, liftStopCap)
	s.playAnswers(inBackground("sleep 300"), messagesapi.Text("It serves."), messagesapi.Text("Yes."), s.answerAddingWord("bye"), done)
	c := s.open()
	c.loops("add bye " + words)
	c.Shows("It serves.", turnMost)
	c.Shows("Stop says: ", turnMost)
	c.typeLine("are you there")
	c.ends(state{"verified", 2})
	if n := s.continued(); n != 1 {
		t.Errorf("continued %d times\n%s", n, s.conversation())
	}
}

// Nobody reads what a hook of claude -p says before the client ends: a question ends it, with how to answer, and
// the session continues once it is answered.
func TestSessionPrintModeEndsWithQuestion(t *testing.T) {
	s := newSessions(t, installPlugin)
	s.playAnswers(startLoopCall("'add bye' "+words, messagesapi.Text("<question>bye or goodbye?</question>"))...)
	p := s.print("loop")
	if got := s.status(); got.State != "waiting" {
		t.Fatalf("status %+v\n%s\n%s", got, p, s.conversation())
	}
	if !strings.Contains(p.err, "the agent asks: bye or goodbye?") || !strings.Contains(p.err, "pawl answer ") {
		t.Errorf("the client says last: %s", p.err)
	}
	if r := s.pawl("answer", ".", "bye"); r.code != 0 {
		t.Fatalf("answer: %s", r)
	}
	s.playAnswers(messagesapi.Text("I continue."), s.answerAddingWord("bye"), done)
	s.checkState(state{"verified", 3}, s.print("continue", "--resume", s.api.Requests()[0].Session))
}

// An answer that comes by itself soon is waited for.
func TestSessionPrintModeWaitsForOwnAnswer(t *testing.T) {
	s := newSessions(t, installPlugin)
	s.playAnswers(startLoopCall("'add bye' --answer-within 1s "+words, messagesapi.Text(`<question proposed="bye">bye or goodbye?</question>`), s.answerAddingWord("bye"), done)...)
	s.checkState(state{"verified", 2}, s.print("loop"))
}
