//go:build unix

package e2e_test

import (
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/agent/agenttest/messagesapi"
)

// more is the end of a turn that claims nothing.
var more = messagesapi.Text("More to come.")

// playTurns starts a loop without a gate and then plays the model turn by turn.
func playTurns(flags string, turn messagesapi.Script) messagesapi.Script {
	return func(r messagesapi.Request) messagesapi.Response {
		if r.Number == 1 {
			return messagesapi.Bash("pawl start 'think about words' " + flags)
		}
		return turn(r)
	}
}

// Thirty stops in a row are answered with more work. With a tool call in each turn the client's stop
// cap is never met; otherwise it must be lifted.
func TestSessionThirtyTurns(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		how  installation
		turn messagesapi.Script
	}{
		"with tools, capped": {installWithStopCap, func(r messagesapi.Request) messagesapi.Response {
			if len(r.ToolResults()) > 0 {
				return more
			}
			return messagesapi.Bash("true")
		}},
		"without tools, the cap lifted": {installSettings, messagesapi.Steps(more)},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			s := newSessions(t, c.how)
			s.api.Play(playTurns("--max-iterations 31", c.turn))
			p := s.print("loop")
			s.checkState(state{"iterations", 31}, p)
			if n := s.continued(); n != 30 {
				t.Errorf("continued %d times\n%s", n, s.conversation())
			}
			if p.failed || p.said != "More to come." {
				t.Errorf("%s", p)
			}
		})
	}
}

const toolAsked = "Call a tool before you end this turn"

// If the cap is not lifted, Pawl asks for a tool call before it is met.
func TestSessionStopCapIsAvoided(t *testing.T) {
	s := newSessions(t, installWithStopCap)
	s.api.Play(playTurns("--max-iterations 15", func(r messagesapi.Request) messagesapi.Response {
		if sentOn(r) && strings.Contains(r.News(), toolAsked) {
			return messagesapi.Bash("true")
		}
		return more
	}))
	p := s.print("loop")
	s.checkState(state{"iterations", 15}, p)
	asked := 0
	for _, r := range s.api.Requests() {
		if sentOn(r) && strings.Contains(r.News(), toolAsked) {
			asked++
		}
	}
	if asked != 2 {
		t.Errorf("a tool call was asked for %d times\n%s", asked, s.conversation())
	}
}

// An agent without tool calls meets the cap: the turn ends, but the loop does not, and continues when
// the session does.
func TestSessionStopCapIsMet(t *testing.T) {
	s := newSessions(t, installWithStopCap)
	s.api.Play(playTurns("", messagesapi.Steps(more)))
	p := s.print("loop")
	if !p.hasHookMessages("is NOT done: the client ends a turn after 8 stops without a tool call") || p.failed || p.said != "More to come." {
		t.Errorf("%s", p)
	}
	if n := s.continued(); n != 8 {
		t.Errorf("continued %d times", n)
	}
	if got := s.status(); got.Outcome != "" || got.State != "waiting" {
		t.Errorf("status %+v", got)
	}
	s.playAnswers(more, s.answerAddingWord("bye"), done)
	p = s.print("continue", "--resume", p.session)
	s.checkState(state{"unverified", 11}, p)
	if n := s.continued(); n != 9 {
		t.Errorf("continued %d times\n%s", n, s.conversation())
	}
}
