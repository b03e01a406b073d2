//go:build unix

package e2e_test

import (
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/agent/agenttest/messagesapi"
)

// answered is what came of a question.
var answered = messagesapi.Text("The word hello is in hello.txt, and tests/hello.sh looks at it.\n\n<promise>DONE</promise>")

// An exploration ends at its limit, whatever the agent claims. Its last message is the result.
func TestSessionExplore(t *testing.T) {
	s := newSessions(t, installSettings)
	s.playAnswers(startLoopCall("'look around' --kind explore --max-iterations 4", messagesapi.Bash("ls"), answered, messagesapi.Bash("ls tests"), done, more, more)...)
	p := s.print("loop")
	s.checkState(state{"finished", 4}, p)
	if n := s.continued(); n != 3 {
		t.Errorf("continued %d times\n%s", n, s.conversation())
	}
}

// A question is answered in text. Nothing proves the answer, and the report contains it.
func TestSessionAnswer(t *testing.T) {
	s := newSessions(t, installSettings)
	s.playAnswers(startLoopCall("'where is hello?' --kind answer", messagesapi.Bash("ls"), more, answered)...)
	p := s.print("loop")
	s.checkState(state{"unverified", 2}, p)
	s.checkReport("The word hello is in hello.txt")
}

// checkReport checks that the report of the newest loop has a text.
func (s *sessions) checkReport(text string) {
	s.t.Helper()
	if r := s.pawl("report", "."); r.code != 0 || !strings.Contains(r.out, text) {
		s.t.Errorf("%q is not in the report: %s", text, r)
	}
}

// A periodic loop waits between its turns; an unattended session waits with it. Its limit ends it.
func TestSessionPeriodic(t *testing.T) {
	s := newSessions(t, installSettings)
	s.playAnswers(startLoopCall("'look at the clock' --every 2s --max-iterations 3", messagesapi.Bash("date >> clock.txt"), more, messagesapi.Bash("date >> clock.txt"), done, messagesapi.Bash("date >> clock.txt"), more)...)
	p := s.print("loop")
	s.checkState(state{"finished", 3}, p)
	if n := strings.Count(s.read("clock.txt"), "\n"); n != 3 {
		t.Errorf("looked %d times\n%s", n, s.conversation())
	}
	s.checkTurnSpacing(2)
}

// On a terminal the user has the session between the turns, and it is woken for the next one.
func TestTerminalPeriodic(t *testing.T) {
	s := newSessions(t, installPlugin, liftStopCap)
	s.playAnswers(messagesapi.Bash("date >> clock.txt"), more, messagesapi.Bash("date >> clock.txt"), more, messagesapi.Bash("date >> clock.txt"), more, messagesapi.Text("It is over."))
	c := s.open()
	c.loops("look at the clock --every 2s --max-iterations 3")
	c.Shows("waiting until", turnMost)
	c.ends(state{"finished", 3})
	s.checkTurnSpacing(2)
}

// checkTurnSpacing checks that each turn but the first began two seconds after the one before had
// ended.
func (s *sessions) checkTurnSpacing(waits int) {
	s.t.Helper()
	if n := s.events("timer_fired"); n < waits {
		s.t.Errorf("waited %d times\n%s", n, s.pawl("log", ".").out)
	}
}

// The same kinds of goals in sessions that Pawl starts.
func TestClientKinds(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		args  []string
		code  int
		want  state
		steps []messagesapi.Response
	}{
		"explore":  {[]string{"look around", "--kind", "explore", "--max-iterations", "3"}, 0, state{"finished", 3}, []messagesapi.Response{messagesapi.Bash("ls"), answered}},
		"periodic": {[]string{"look at the clock", "--every", "2s", "--max-iterations", "2"}, 0, state{"finished", 2}, []messagesapi.Response{messagesapi.Bash("ls"), done}},
		"answer":   {[]string{"where is hello?", "--kind", "answer"}, 3, state{"unverified", 2}, []messagesapi.Response{messagesapi.Bash("ls"), more, answered}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := newClientBench(t, wordShop(nil))
			c.playAnswers(tc.steps...)
			r := c.run(tc.code, append(tc.args, "--agent-command", c.client)...)
			if got := c.status(); (state{got.Outcome, got.Iteration}) != tc.want {
				t.Errorf("%+v: %s\n%s", got, r, c.pawl("log", ".").out)
			}
			if got := c.pawl("report", "."); tc.want.outcome == "unverified" && !got.contains("The word hello is in hello.txt") {
				t.Errorf("the answer is not in the report: %s", got)
			}
		})
	}
}
