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

// A gate takes longer than a user wants to wait at each stop: the session is
// free meanwhile, and is woken with the verdict.
func TestTerminalSlowGate(t *testing.T) {
	s := newSessions(t, plugin, uncapped)
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
	c.types("what takes so long")
	c.ends(state{"verified", 2})
	if n := strings.Count(s.story(), "Not done yet"); n != 1 {
		t.Errorf("woken %d times\n%s", n, s.story())
	}
	if n := s.events("turn_ended"); n > 3 {
		t.Errorf("%d turns ended: %s", n, s.pawl("log", ".").out)
	}
}

// A turn ends while a command of its own still runs in the background: the
// session may rest until that has ended.
func TestTerminalBackgroundWork(t *testing.T) {
	s := newSessions(t, plugin, uncapped)
	s.api.Play(func(r messagesapi.Request) messagesapi.Response {
		switch news := r.News(); {
		case strings.Contains(news, "<task-notification>"):
			return s.adds("bye")
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

// A server that continues and on in the background keeps no loop from its end: a
// claim is judged all the same.
func TestTerminalServerInTheBackground(t *testing.T) {
	s := newSessions(t, plugin, uncapped)
	s.plays(inBackground("sleep 300").And(s.adds("bye")), done)
	c := s.open()
	c.loops("add bye " + words)
	c.ends(state{"verified", 1})
}

// With nobody there, what runs in the background is not waited for.
func TestSessionBackgroundWork(t *testing.T) {
	s := newSessions(t, settings)
	s.plays(begins("'add bye' "+words, inBackground("sleep 5"), more, s.adds("bye"), done)...)
	p := s.print("loop")
	s.is(state{"verified", 2}, p)
}

// The API fails in the middle of a turn: the loop waits, and wakes the session.
func TestTerminalErrorOfTheAPI(t *testing.T) {
	s := newSessions(t, plugin, uncapped)
	s.env["CLAUDE_CODE_MAX_RETRIES"] = "0"
	s.plays(messagesapi.Bash("true"), messagesapi.Fail(500, "boom"), s.adds("bye"), done)
	c := s.open()
	c.loops("add bye " + words)
	c.ends(state{"verified", 1})
}

// A usage limit: the loop waits, says so on the terminal, and continues when the
// person does.
func TestTerminalUsageLimit(t *testing.T) {
	s := newSessions(t, plugin, uncapped)
	s.env["CLAUDE_CODE_MAX_RETRIES"] = "0"
	s.plays(messagesapi.Bash("true"), messagesapi.Fail(429, "limit reached", "retry-after", "3600"))
	c := s.open()
	c.loops("add bye " + words)
	c.until("wait", func() bool { return s.now().State == "waiting" })
	c.until("notification", func() bool { return strings.Contains(c.Written(), "\x1b]9;"+s.now().ID+": waiting until") })
	s.plays(messagesapi.Text("I can speak again."), s.adds("bye"), done)
	c.types("are you there")
	c.ends(state{"verified", 1})
}

// A login that ran out holds the loop until the session works again.
func TestTerminalLogin(t *testing.T) {
	s := newSessions(t, plugin, uncapped)
	s.env["CLAUDE_CODE_MAX_RETRIES"] = "0"
	s.plays(messagesapi.Bash("true"), messagesapi.Fail(401, "invalid x-api-key"))
	c := s.open()
	c.loops("add bye " + words)
	c.until("hold", func() bool { return s.now().State == "paused" })
	s.plays(messagesapi.Text("I am in again."), s.adds("bye"), done)
	c.types("are you there")
	c.ends(state{"verified", 1})
}

// Pawl is installed twice, and the session is woken once.
func TestTerminalWokenOnce(t *testing.T) {
	s := newSessions(t, settings, plugin, uncapped)
	s.env["CLAUDE_CODE_MAX_RETRIES"] = "0"
	s.plays(messagesapi.Bash("true"), messagesapi.Fail(500, "boom"), s.adds("bye"), done)
	c := s.open()
	c.loops("add bye " + words)
	c.ends(state{"verified", 1})
	time.Sleep(3 * time.Second)
	if n := len(s.api.Requests()); n != 4 {
		t.Errorf("%d requests\n%s", n, s.story())
	}
}

// Without a claim the stop is let pass once for the same server; the next turn
// is answered as ever.
func TestTerminalServerIsWaitedForOnce(t *testing.T) {
	s := newSessions(t, plugin, uncapped)
	s.plays(inBackground("sleep 300"), messagesapi.Text("It serves."), messagesapi.Text("Yes."), s.adds("bye"), done)
	c := s.open()
	c.loops("add bye " + words)
	c.Shows("It serves.", turnMost)
	c.Shows("Stop says: ", turnMost)
	c.types("are you there")
	c.ends(state{"verified", 2})
	if n := s.continued(); n != 1 {
		t.Errorf("continued %d times\n%s", n, s.story())
	}
}

// Nobody reads what a hook of claude -p says before the client ends: a question ends it, with how to answer, and
// the session continues once it is answered.
func TestSessionPrintedAsks(t *testing.T) {
	s := newSessions(t, plugin)
	s.plays(begins("'add bye' "+words, messagesapi.Text("<question>bye or goodbye?</question>"))...)
	p := s.print("loop")
	if got := s.status(); got.State != "waiting" {
		t.Fatalf("status %+v\n%s\n%s", got, p, s.story())
	}
	if !strings.Contains(p.err, "the agent asks: bye or goodbye?") || !strings.Contains(p.err, "pawl answer ") {
		t.Errorf("the client says last: %s", p.err)
	}
	if r := s.pawl("answer", ".", "bye"); r.code != 0 {
		t.Fatalf("answer: %s", r)
	}
	s.plays(messagesapi.Text("I continue."), s.adds("bye"), done)
	s.is(state{"verified", 3}, s.print("continue", "--resume", s.api.Requests()[0].Session))
}

// An answer that comes by itself soon is waited for.
func TestSessionPrintedAnswersItself(t *testing.T) {
	s := newSessions(t, plugin)
	s.plays(begins("'add bye' --answer-within 1s "+words, messagesapi.Text(`<question proposed="bye">bye or goodbye?</question>`), s.adds("bye"), done)...)
	s.is(state{"verified", 2}, s.print("loop"))
}
