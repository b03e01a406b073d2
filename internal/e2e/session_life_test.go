//go:build unix

package e2e_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/agent/agenttest/messagesapi"
)

// holdAtInput starts a loop whose agent waits in a tool call for the file go, and stops the session
// there by Esc: the loop runs and the input is free.
func (c *terminal) holdAtInput(steps ...messagesapi.Response) {
	c.s.t.Helper()
	c.s.playAnswers(append([]messagesapi.Response{waitForFileCall("never")}, steps...)...)
	c.loops("add bye " + words)
	c.Shows("until [", turnMost)
	c.Keys("Escape")
	c.Shows("Interrupted", turnMost)
}

// A cleared context is another session to the client. The loop continues in it, and the agent gets
// the goal.
func TestTerminalClear(t *testing.T) {
	s := newSessions(t, installPlugin, liftStopCap)
	c := s.open()
	c.holdAtInput(messagesapi.Text("Here I am."), s.answerAddingWord("bye"), done)
	old := s.api.Requests()[0].Session
	c.Type("/clear")
	c.Shows("continues in this session", turnMost)
	c.typeLine("are you there")
	c.ends(state{"verified", 1})
	hello := s.requestWith("are you there")
	if hello.Session == old || !strings.Contains(hello.News(), "# Goal\n\nadd bye") {
		t.Errorf("the new session was told: %s", hello.News())
	}
}

// requestWith returns the first request whose new messages have the text.
func (s *sessions) requestWith(text string) messagesapi.Request {
	s.t.Helper()
	for _, r := range s.api.Requests() {
		if strings.Contains(r.News(), text) {
			return r
		}
	}
	s.t.Fatalf("nobody said %q\n%s", text, s.conversation())
	return messagesapi.Request{}
}

// A compacted context has lost the goal, so the agent gets it again.
func TestTerminalCompact(t *testing.T) {
	s := newSessions(t, installPlugin, liftStopCap)
	c := s.open()
	c.holdAtInput(messagesapi.Text("A summary."))
	c.Type("/compact")
	c.Shows("continues in this session", turnMost)
	s.playAnswers(messagesapi.Text("Here I am."), s.answerAddingWord("bye"), done)
	c.typeLine("are you there")
	c.ends(state{"verified", 1})
	if hello := s.requestWith("are you there"); !strings.Contains(hello.News(), "# Goal\n\nadd bye") {
		t.Errorf("after the compaction the model was told: %s", hello.News())
	}
}

// A session is closed with its loop and resumed.
func TestTerminalResume(t *testing.T) {
	s := newSessions(t, installPlugin, liftStopCap)
	c := s.open()
	c.holdAtInput(messagesapi.Text("Here I am."), s.answerAddingWord("bye"), done)
	id := s.api.Requests()[0].Session
	c.Type("/exit")
	c.Gone(turnMost)
	if got := s.status(); got.Outcome != "" {
		t.Errorf("status %+v", got)
	}
	c = s.open("--resume", id)
	c.Shows("continues in this session", turnMost)
	c.typeLine("are you there")
	c.ends(state{"verified", 1})
}

// A fork is another session: the loop stays in the first one.
func TestTerminalFork(t *testing.T) {
	s := newSessions(t, installPlugin, liftStopCap)
	c := s.open()
	c.holdAtInput(messagesapi.Text("I am the fork.\n\n<promise>DONE</promise>"))
	id := s.api.Requests()[0].Session
	c.Type("/exit")
	c.Gone(turnMost)
	c = s.open("--resume", id, "--fork-session")
	c.typeLine("are you there")
	c.Shows("I am the fork.", turnMost)
	time.Sleep(2 * time.Second)
	if n := s.continued(); n != 0 || strings.Contains(c.Screen(), "Stop says") {
		t.Errorf("the fork was sent on %d times\n%s", n, c)
	}
	if got := s.status(); got.Outcome != "" || got.Iteration != 1 {
		t.Errorf("status %+v", got)
	}
	c.Type("/exit")
	c.Gone(turnMost)
	s.playAnswers(messagesapi.Text("Here I am."), s.answerAddingWord("bye"), done)
	c = s.open("--resume", id)
	c.typeLine("are you still there")
	c.ends(state{"verified", 1})
}

// The client is killed during a turn. The loop continues when the session is resumed.
func TestTerminalKilled(t *testing.T) {
	s := newSessions(t, installPlugin, liftStopCap)
	s.playAnswers(waitForFileCall("never"))
	c := s.open()
	c.loops("add bye " + words)
	c.Shows("until [", turnMost)
	id := s.api.Requests()[0].Session
	c.waitUntil("transcript to take up again", func() bool { return s.transcribed(id, "tool_use") }) // it is written behind
	c.Kill()
	s.eventually("it to be known", func() bool { return s.pawl("status").contains("its session is closed", "claude --resume "+id) })
	s.playAnswers(messagesapi.Text("Here I am."), s.answerAddingWord("bye"), done)
	c = s.open("--resume", id)
	c.typeLine("are you there")
	c.ends(state{"verified", 1})
}

// The terminal is closed while the gates run: they still give their verdict.
func TestTerminalClosedWhileGatesRun(t *testing.T) {
	s := newSessions(t, installPlugin, liftStopCap)
	s.playAnswers(s.answerAddingWord("bye"), done)
	c := s.open()
	const gate = "if [ -e bye.txt ]; then sleep 5; fi; sh words.sh"
	c.loops("add bye --gate '" + gate + "'")
	c.gatesRun("bye.txt")
	c.Kill()
	s.eventually("end of the loop's last work", func() bool { return strings.Contains(s.pawl("log", ".").out, "cleanup after the end is finished") })
	s.checkState(state{"verified", 1}, c)
}

// The context is cleared while the loop waits: the new session is woken.
func TestTerminalClearWhileWaiting(t *testing.T) {
	s := newSessions(t, installPlugin, liftStopCap)
	s.env["CLAUDE_CODE_MAX_RETRIES"] = "0"
	s.playAnswers(messagesapi.Bash("true"), messagesapi.Fail(500, "boom"), messagesapi.Fail(500, "boom"), s.answerAddingWord("bye"), done)
	c := s.open()
	c.loops("add bye " + words)
	c.waitUntil("wait", func() bool { return len(s.api.Requests()) == 3 && s.now().State == "waiting" })
	c.Type("/clear")
	c.Shows("continues in this session", turnMost)
	c.ends(state{"verified", 1})
	if woken := s.api.Requests()[3]; woken.Session == s.api.Requests()[0].Session || !strings.Contains(woken.News(), "# Goal\n\nadd bye") {
		t.Errorf("the new session was told: %s", woken.News())
	}
}

// The context is cleared while a question is open: the user and the agent get it again.
func TestTerminalClearWhileAsking(t *testing.T) {
	s := newSessions(t, installPlugin, liftStopCap)
	s.playAnswers(messagesapi.Text("<question>bye or goodbye?</question>"))
	c := s.open()
	c.loops("add bye " + words)
	c.waitUntil("wait", func() bool { return s.now().State == "waiting" })
	c.Type("/clear")
	c.Shows("continues in this session", turnMost)
	s.playAnswers(messagesapi.Text("It is bye."), s.answerAddingWord("bye"), done)
	c.typeLine("the short one")
	c.ends(state{"verified", 2})
	for _, r := range s.api.Requests()[1:] {
		if r.Says("the short one") {
			if !strings.Contains(r.News(), "You asked: bye or goodbye?") {
				t.Errorf("the new session was told: %s", r.News())
			}
			return
		}
	}
	t.Error("no request has the answer")
}

// transcribed reports whether a text stands in the transcript of a session.
func (s *sessions) transcribed(id, text string) bool {
	paths, _ := filepath.Glob(filepath.Join(s.home, ".claude", "projects", "*", id+".jsonl")) // the pattern is good
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err == nil && strings.Contains(string(data), text) {
			return true
		}
	}
	return false
}
