//go:build unix

package e2e_test

import (
	"strings"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/agent/agenttest/messagesapi"
)

// Without a loop the guard is silent: the user's permissions apply.
func TestSessionGuardOutsideOfALoop(t *testing.T) {
	s := newSessions(t, installSettings)
	remote := s.home + "/remote.git"
	s.git("init", "-q", "--bare", remote)
	s.git("remote", "add", "origin", remote)
	s.playAnswers(messagesapi.Bash("git push -q origin HEAD:main"), messagesapi.Text("Pushed."))
	p := s.print("push it")
	if refs := s.git("ls-remote", "origin"); !strings.Contains(refs, "refs/heads/main") {
		t.Errorf("not pushed: %s", p)
	}
}

// promptForShellCommands makes the client prompt for every shell command but Pawl's.
func (s *sessions) promptForShellCommands() {
	s.write(map[string]string{"../.claude/settings.json": `{"permissions": {"defaultMode": "default", "allow": ["Bash(pawl start:*)", "Write"]}}`})
}

// In an unattended session the guard answers a permission prompt.
func TestSessionPromptForPermission(t *testing.T) {
	s := newSessions(t, installSettings)
	s.promptForShellCommands()
	s.playAnswers(startLoopCall("'add bye' "+words, messagesapi.Bash("touch asked.txt"), messagesapi.Bash("git push"), s.answerAddingWord("bye"), done)...)
	p := s.print("loop")
	s.checkState(state{"verified", 1}, p)
	if !exists(s.path("asked.txt")) {
		t.Errorf("the command was not run\n%s", s.conversation())
	}
	if results := s.api.Requests()[3].ToolResults(); len(results) != 1 || !results[0].Error {
		t.Errorf("the model was told %+v", results)
	}
}

// So it does in an interactive session whose user said that they are away.
func TestTerminalPromptForPermission(t *testing.T) {
	t.Parallel()
	for name, flag := range map[string]string{"nobody there": " --unattended", "somebody there": ""} {
		t.Run(name, func(t *testing.T) {
			s := newSessions(t, installSettings)
			s.promptForShellCommands()
			s.playAnswers(messagesapi.Bash("touch asked.txt"), s.answerAddingWord("bye"), done)
			c := s.open()
			c.shell("pawl start 'add bye' " + words + flag)
			if flag == "" {
				c.Shows("Do you want to proceed?", turnMost)
				if exists(s.path("asked.txt")) {
					t.Errorf("the command was run\n%s", c)
				}
				time.Sleep(time.Second) // what is typed ahead answers no prompt
				c.Keys("Enter")
			}
			c.ends(state{"verified", 1})
			if !exists(s.path("asked.txt")) {
				t.Errorf("the command was not run\n%s", c)
			}
		})
	}
}

// The agent cannot end its loop, and cannot write Pawl's files.
func TestSessionAgentCannotStop(t *testing.T) {
	s := newSessions(t, installSettings)
	var steps []messagesapi.Response
	for _, command := range []string{
		"pawl stop .", "env -u CLAUDECODE pawl stop .", "rm -rf ~/state/loops", "cd ~/state && rm -rf loops", "find ~/state -delete",
		"echo '{}' > " + s.home + "/state/sessions/x.json",
	} {
		steps = append(steps, messagesapi.Bash("true; "+command))
	}
	s.playAnswers(startLoopCall("'add bye' "+words, append(steps, s.answerAddingWord("bye"), done)...)...)
	p := s.print("loop")
	s.checkState(state{"verified", 1}, p)
	for i, r := range s.api.Requests()[2 : 2+len(steps)] {
		if results := r.ToolResults(); len(results) != 1 || !strings.Contains(results[0].Text, "Pawl keeps its own") {
			t.Errorf("call %d: the model was told %+v", i+1, results)
		}
	}
}
