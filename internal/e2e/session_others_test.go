//go:build unix

package e2e_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/agent/agenttest/messagesapi"
)

// Two sessions are in one repository. The one without the loop gets no prompts, and does not affect
// the other's loop.
func TestSessionWithoutLoopIsLeftAlone(t *testing.T) {
	s := newSessions(t, installSettings)
	looping := messagesapi.Steps(startLoopCall("'add bye' "+words, waitForFileCall("go"), s.answerAddingWord("bye"), more, done)...)
	s.api.Play(func(r messagesapi.Request) messagesapi.Response {
		if r.Says("just say hello") {
			return done
		}
		return looping(r)
	})
	first := make(chan printed)
	go func() { first <- s.print("loop") }()
	s.eventually("the loop", func() bool { return len(s.api.Requests()) == 2 })
	p := s.print("just say hello")
	if p.said != "It works.\n\n<promise>DONE</promise>" || len(p.shown) > 0 || p.failed {
		t.Errorf("the other session: %s", p)
	}
	s.write(map[string]string{"go": ""})
	s.checkState(state{"verified", 2}, <-first)
	hello := s.requestWith("just say hello")
	if strings.Contains(hello.News(), "Pawl") || s.continued() != 1 {
		t.Errorf("%s", s.conversation())
	}
}

// A second loop in the same tree is refused, whoever asks for it.
func TestSessionSecondLoopInTreeIsRefused(t *testing.T) {
	s := newSessions(t, installPlugin)
	looping := messagesapi.Steps(waitForFileCall("go"), s.answerAddingWord("bye"), done)
	s.api.Play(func(r messagesapi.Request) messagesapi.Response {
		if r.Says("another loop") {
			return messagesapi.Text("No.")
		}
		return looping(r)
	})
	first := make(chan printed)
	go func() { first <- s.print("/pawl:loop add bye " + words) }()
	s.eventually("the loop", func() bool { return len(s.api.Requests()) == 1 })
	if p := s.print("/pawl:loop another loop"); !strings.Contains(p.said, "runs here") {
		t.Errorf("%s\n%s", p, s.conversation())
	}
	s.write(map[string]string{"go": ""})
	s.checkState(state{"verified", 1}, <-first)
}

// Pawl is installed by the settings and as a plugin: one of them answers.
func TestSessionWithTwoInstallations(t *testing.T) {
	s := newSessions(t, installSettings, installPlugin)
	s.playAnswers(more, more, s.answerAddingWord("bye"), done)
	p := s.print("/pawl:loop add bye " + words)
	s.checkState(state{"verified", 3}, p)
	if got := s.status(); got.Turns != 3 || s.continued() != 2 {
		t.Errorf("status %+v\n%s", got, s.conversation())
	}
	if entries, err := os.ReadDir(s.env["PAWL_HOME"] + "/loops"); err != nil || len(entries) != 1 {
		t.Errorf("loops: %v, %v", entries, err)
	}
}

// In a session that `pawl run` drives, installed hooks do nothing.
func TestSessionsOfRunnerIgnoreInstalledHooks(t *testing.T) {
	s := newSessions(t, installSettings)
	s.playAnswers(s.answerAddingWord("bye"), more, done)
	s.run(0, s.goal("add bye")...)
	if got := s.status(); got.Outcome != "verified" || got.Iteration != 2 || got.Commits != 1 {
		t.Errorf("status %+v", got)
	}
	if n := s.continued(); n != 0 {
		t.Errorf("hooks sent the agent on %d times\n%s", n, s.conversation())
	}
	if entries, err := os.ReadDir(s.env["PAWL_HOME"] + "/sessions"); err == nil && len(entries) > 0 {
		t.Errorf("a session is bound: %v", entries)
	}
}

// Without git the loop belongs to the project's folder, and Pawl writes nothing into it.
func TestSessionWithoutGit(t *testing.T) {
	s := newSessions(t, installPlugin)
	if err := os.RemoveAll(s.path(".git")); err != nil {
		t.Fatal(err)
	}
	s.playAnswers(messagesapi.Write(s.path("tests/bye.sh"), wordTest("bye")), done, messagesapi.Write(s.path("bye.txt"), "bye\n"), done)
	p := s.print("/pawl:loop add bye " + words)
	s.checkState(state{"verified", 2}, p)
	var names []string
	entries, err := os.ReadDir(s.root)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if diff := cmp.Diff([]string{"bye.txt", "hello.txt", "tests", "words.sh"}, names); diff != "" {
		t.Error(diff)
	}
}

// A session in a subfolder belongs to the same project.
func TestSessionInSubfolder(t *testing.T) {
	s := newSessions(t, installPlugin)
	s.playAnswers(messagesapi.Bash("cd tests && pwd"), s.answerAddingWord("bye"), more, done)
	p := s.print("/pawl:loop add bye " + words)
	s.checkState(state{"verified", 2}, p)
}

// A subagent starts and ends within a turn. Neither its stop nor its promise counts for the loop.
func TestSessionSubagentStopIsIgnored(t *testing.T) {
	s := newSessions(t, installPlugin, liftStopCap)
	steps := messagesapi.Steps(
		messagesapi.Tool("Agent", map[string]any{"description": "help", "prompt": "be my helper", "subagent_type": "general-purpose"}),
		s.answerAddingWord("bye"), more, done)
	s.api.Play(func(r messagesapi.Request) messagesapi.Response {
		if strings.Contains(r.Messages[0].Text, "be my helper") {
			return done
		}
		return steps(r)
	})
	p := s.print("/pawl:loop add bye " + words)
	s.checkState(state{"verified", 2}, p)
	if helped := s.requestWith("be my helper"); strings.Contains(helped.News(), "[Pawl]") {
		t.Errorf("the subagent was told %s", helped.News())
	}
}

// A session that had a loop can have another.
func TestSessionTwoLoopsInARow(t *testing.T) {
	s := newSessions(t, installPlugin, liftStopCap)
	s.playAnswers(s.answerAddingWord("bye"), done)
	p := s.print("/pawl:loop add bye " + words)
	s.checkState(state{"verified", 1}, p)
	s.playAnswers(s.answerAddingWord("thanks"), more, done)
	p = s.print("/pawl:loop add thanks "+words, "--resume", p.session)
	s.checkState(state{"verified", 2}, p)
}

// While a session's loop runs, no other loop can use the tree.
func TestSessionLoopBlocksRunnerInTree(t *testing.T) {
	s := newSessions(t, installSettings)
	s.playAnswers(startLoopCall("'add bye' "+words, waitForFileCall("go"), s.answerAddingWord("bye"), done)...)
	first := make(chan printed)
	go func() { first <- s.print("loop") }()
	s.eventually("the loop", func() bool { return len(s.api.Requests()) == 2 })
	r := s.pawl(append([]string{"run"}, s.goal("add thanks")...)...)
	s.checkExitCode(r, 2)
	if !r.contains("runs here, in session") {
		t.Errorf("%s", r)
	}
	s.write(map[string]string{"go": ""})
	s.checkState(state{"verified", 1}, <-first)
}

// The client runs in a subfolder, or reaches the project through a link.
func TestSessionFromOtherFolders(t *testing.T) {
	t.Parallel()
	for name, dir := range map[string]string{"below": "work/tests", "a link": "link", "a link below": "link/tests"} {
		t.Run(name, func(t *testing.T) {
			s := newSessions(t, installPlugin, liftStopCap)
			root := s.root
			if err := os.Symlink(root, s.home+"/link"); err != nil {
				t.Fatal(err)
			}
			s.playAnswers(messagesapi.Write(s.path("tests/bye.sh"), wordTest("bye")), done, messagesapi.Write(s.path("bye.txt"), "bye\n"), done)
			s.root = filepath.Join(s.home, dir)
			p := s.print("/pawl:loop add bye --gate 'cd $(git rev-parse --show-toplevel); sh words.sh'")
			s.root = root
			s.checkState(state{"verified", 2}, p)
		})
	}
}
