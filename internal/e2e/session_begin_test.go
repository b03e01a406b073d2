//go:build unix

package e2e_test

import (
	"os"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/agent/agenttest/messagesapi"
)

// The agent is asked to start a loop, and does so by a shell command. A turn without a claim is
// continued, and the claim is gated.
func TestSessionStartedByAgentInShell(t *testing.T) {
	s := newSessions(t, installSettings)
	s.playAnswers(startLoopCall("'add bye' "+words, s.answerAddingWord("bye"), messagesapi.Text("I did it."), done)...)
	p := s.print("loop on adding bye")
	s.checkState(state{"verified", 2}, p)
	if n := s.continued(); n != 1 || !p.hasHookMessages("2/25 · continuing", "ended VERIFIED after 2 iterations") {
		t.Errorf("continued %d times; %s", n, p)
	}
	if got := s.git("log", "--oneline", "start.."); got != "" {
		t.Errorf("committed: %s", got)
	}
}

// The text after a plugin command becomes the loop's prompt unchanged: no shell and no model
// processes it.
func TestSessionStartedByPluginCommand(t *testing.T) {
	t.Parallel()
	texts := map[string]string{
		"quotes":    `say "hello" and 'bye', it's all`,
		"a shell's": "cost $HOME ${CLAUDE_SESSION_ID} $(id) `id` \\ ! # (a) {b} * ~ ; & | < > %",
		"lines":     "first\n\n  second\twith a tab\r\nthird \\\n$ARGUMENTS $1",
		"emoji":     "🦊 naïve 日本語 \u200b\u202e end",
		"dashes":    "a -- b - c --- d -x",
		"100 kB":    strings.Repeat("all work and no play\n", 5000)[:100_000] + ".",
	}
	for name, text := range texts {
		t.Run(name, func(t *testing.T) {
			s := newSessions(t, installPlugin)
			s.playAnswers(s.answerAddingWord("bye"), done)
			p := s.print("/pawl:loop " + text)
			s.checkState(state{"unverified", 1}, p)
			if got := s.prompt(); got != text {
				t.Errorf("the prompt: %.2000q\nwant: %.2000q", got, text)
			}
			if told := s.api.Requests()[0].News(); len(text) > 9_000 {
				s.checkFileHolds(told, text)
			} else if !strings.Contains(told, "# Goal\n\n"+visible(text)+"\n") {
				t.Errorf("the agent was told %.3000q", told)
			}
		})
	}
}

// visible is a text as Pawl's prompts tell it: no carriage returns, and nothing
// that only a terminal sees.
func visible(text string) string {
	return strings.NewReplacer("\r\n", "\n", "\u200b", "", "\u202e", "").Replace(text)
}

// checkFileHolds checks that the file named in the agent's prompt has the whole text.
func (s *sessions) checkFileHolds(told, text string) {
	s.t.Helper()
	_, rest, _ := strings.Cut(told, "read it in ")
	path, _, ok := strings.Cut(rest, ".\n")
	whole, err := os.ReadFile(path)
	if !ok || err != nil || !strings.Contains(string(whole), text) {
		s.t.Errorf("the whole prompt is not in %q: %v", path, err)
	}
}

// What is pasted behind the command's name is the prompt too.
func TestTerminalPastedGoalIsPrompt(t *testing.T) {
	const text = "first: say \"hello\"\n\n  - it's $5\n  - `id` and $(id)\n\nlast"
	s := newSessions(t, installPlugin, liftStopCap)
	s.playAnswers(s.answerAddingWord("bye"), done)
	c := s.open()
	c.Draft("/pawl:loop ")
	c.Paste(text)
	c.Keys("Enter")
	c.ends(state{"unverified", 1})
	if got := s.prompt(); got != text {
		t.Errorf("the prompt: %q", got)
	}
}

// Clients that do not tell a command which session it is in, or which process
// they are: the loop is taken up by the first stop of the one that ran it.
func TestSessionWithoutAnID(t *testing.T) {
	t.Parallel()
	for name, unset := range map[string]string{
		"session": "-u CLAUDE_CODE_SESSION_ID", "session and process": "-u CLAUDE_CODE_SESSION_ID -u CLAUDE_PID",
	} {
		t.Run(name, func(t *testing.T) {
			s := newSessions(t, installSettings)
			s.playAnswers(messagesapi.Bash("env "+unset+" pawl start 'add bye' "+words), s.answerAddingWord("bye"), more, done)
			p := s.print("loop")
			s.checkState(state{"verified", 2}, p)
		})
	}
}

// An invalid command starts nothing, and no agent gets it.
func TestSessionRefusedCommands(t *testing.T) {
	s := newSessions(t, installPlugin, liftStopCap)
	for args, why := range map[string]string{
		"add bye --max-iteration 3": "did you mean --max-iterations?", "add bye --max-iterations x": "must be a positive integer", "": "no prompt",
	} {
		if p := s.print("/pawl:loop " + args); !strings.Contains(p.said, why) {
			t.Errorf("%s", p)
		}
	}
	if n := len(s.api.Requests()); n != 0 {
		t.Errorf("%d requests\n%s", n, s.conversation())
	}
	s.playAnswers(messagesapi.Text("Shown."))
	if p := s.print("/pawl:loop --help"); !p.hasHookMessages("usage: /pawl:loop") || !strings.Contains(s.requestWith("usage: /pawl:loop").News(), "do nothing else") {
		t.Errorf("%s\n%s", p, s.conversation())
	}
}
