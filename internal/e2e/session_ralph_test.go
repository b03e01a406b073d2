//go:build unix

package e2e_test

import (
	"os"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/agent/agenttest/messagesapi"
)

const ralphFile = ".claude/ralph-loop.local.md"

// ralphLoop is the plugin's state file in its short form, as people write it by
// hand.
const ralphLoop = "---\niteration: 1\nmax_iterations: 5\ncompletion_promise: \"ALL DONE\"\n---\n\nadd bye\n"

// Deleting the file cancels the loop.
func TestSessionRalphFileDeleted(t *testing.T) {
	s := newSessions(t, installSettings)
	s.api.Play(func(r messagesapi.Request) messagesapi.Response {
		if r.Number == 1 {
			s.write(map[string]string{ralphFile: ralphLoop})
		} else if err := os.Remove(s.path(ralphFile)); err != nil {
			t.Error(err)
		}
		return more
	})
	p := s.print("wait for the file")
	s.checkState(state{"cancelled", 2}, p)
	if n := s.continued(); n != 1 {
		t.Errorf("continued %d times\n%s", n, s.conversation())
	}
}

// The commands of the ralph-loop plugin.
func TestTerminalRalphCommands(t *testing.T) {
	s := newSessions(t, installPlugin, liftStopCap)
	s.playAnswers(waitForFileCall("never"))
	c := s.open()
	c.Type(`/ralph-loop "add bye" --max-iterations 5 --completion-promise "ALL DONE"`)
	c.Shows("until [", turnMost)
	if got := s.read(ralphFile); !strings.Contains(got, "iteration: 1\n") || !strings.Contains(got, `completion_promise: "ALL DONE"`) || !strings.HasSuffix(got, "\nadd bye\n") {
		t.Errorf("the file: %s", got)
	}
	if got := s.prompt(); got != "add bye" {
		t.Errorf("the prompt: %q", got)
	}
	c.Keys("Escape")
	c.Shows("Interrupted", turnMost)
	asked := len(s.api.Requests())
	c.Type("/cancel-ralph")
	c.ends(state{"cancelled", 1})
	c.Shows("ended CANCELLED", turnMost)
	s.eventually("end of the file", func() bool { return !exists(s.path(ralphFile)) })
	if n := len(s.api.Requests()); n != asked {
		t.Errorf("%d requests after the end\n%s", n-asked, s.conversation())
	}
}

var allDone = messagesapi.Text("It works.\n\n<promise>ALL DONE</promise>")

// A file of the ralph-loop plugin, written by hand, is followed by the next
// session that stops: the agent is told its prompt, the turns are counted in it,
// and it is removed when the promise ends the loop.
func TestSessionRalphFile(t *testing.T) {
	s := newSessions(t, installSettings)
	iterations := func() string {
		for line := range strings.Lines(s.read(ralphFile)) {
			if n, ok := strings.CutPrefix(line, "iteration: "); ok {
				return strings.TrimSpace(n)
			}
		}
		return ""
	}
	var counted []string
	s.api.Play(func(r messagesapi.Request) messagesapi.Response {
		counted = append(counted, iterations())
		switch r.Number {
		case 1:
			s.write(map[string]string{ralphFile: ralphLoop})
		case 3:
			return s.answerAddingWord("bye")
		case 4:
			return allDone
		}
		return more
	})
	p := s.print("wait for the file")
	s.checkState(state{"unverified", 3}, p)
	if got := strings.Join(counted, " "); got != " 2 3 3" {
		t.Errorf("the file counted %q", got)
	}
	if exists(s.path(ralphFile)) {
		t.Errorf("the file is left over: %s", s.read(ralphFile))
	}
	if !p.hasHookMessages("<promise>ALL DONE</promise>") {
		t.Errorf("%s", p)
	}
	if told := s.api.Requests()[1].News(); !strings.Contains(told, "add bye") {
		t.Errorf("the agent was told %s", told)
	}
}
