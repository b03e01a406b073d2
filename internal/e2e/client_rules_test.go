//go:build unix

package e2e_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/agent/agenttest/messagesapi"
)

// The client lets its default model edit files that it has not read; Pawl does not. A file that was
// read in any way may be edited, even in the same message.
func TestClientMustReadBeforeEdit(t *testing.T) {
	c := newClientBench(t, wordShop(map[string]string{"notes.md": "old\n", "more.md": "old\n"}))
	edit := func(name string) messagesapi.Response {
		return messagesapi.Tool("Edit", map[string]any{"file_path": c.path(name), "old_string": "old", "new_string": name})
	}
	read := messagesapi.Tool("Read", map[string]any{"file_path": c.path("notes.md")})
	c.playAnswers(
		edit("notes.md"), messagesapi.Write(c.path("more.md"), "new\n"),
		read.And(edit("notes.md")), messagesapi.Bash("sed -n 1p more.md"), edit("more.md"), c.answerAddingWord("bye"), done,
	)
	c.run(0, c.goal("add bye")...)
	for i, r := range c.api.Requests()[1:6] {
		for _, result := range r.ToolResults() {
			if refused := i < 2; result.Error != refused || refused != strings.Contains(result.Text, "Read it first") {
				t.Errorf("of call %d the model was told %+v", i+1, result)
			}
		}
	}
	if got := c.read("notes.md") + c.read("more.md"); got != "notes.md\nmore.md\n" {
		t.Errorf("after the edits: %s", got)
	}
	if log := c.pawl("log", "."); !log.contains("the guard denied Edit (unread)", "the guard denied Write (unread)") {
		t.Errorf("the log does not name them: %s", log)
	}
}

// The agent's commits become part of the task's single commit, and the loop leaves a branch that the
// agent checked out.
func TestClientCommitsAreSquashedIntoTaskCommit(t *testing.T) {
	c := newClientBench(t, wordShop(nil))
	c.playAnswers(c.answerAddingWord("bye"), messagesapi.Bash("git checkout -q -b mine && git add -A && git commit -q -m wip && git commit -q --allow-empty -m more"), done)
	r := c.run(0, c.goal("add bye")...)
	if !r.contains("mine was checked out: switched back") {
		t.Errorf("the switch is not named: %s", r)
	}
	if got, want := c.git("branch", "--show-current"), "pawl/"+c.status().ID; got != want {
		t.Errorf("on branch %s, want %s", got, want)
	}
	if diff := cmp.Diff([]string{"feat:_add_bye"}, c.subjects()); diff != "" {
		t.Error(diff)
	}
	if got := c.git("status", "--porcelain"); got != "" {
		t.Errorf("left over: %s", got)
	}
}

// An agent that keeps changing protected files, by a script that the guard cannot see, is stopped at
// the third violation. The protected files are restored.
func TestClientTamperingEndsLoop(t *testing.T) {
	const check = "#!/bin/sh\n" + checkWords + "\n"
	c := newClientBench(t, wordShop(map[string]string{"check.sh": check}))
	c.api.Play(func(r messagesapi.Request) messagesapi.Response {
		if len(r.ToolResults()) > 0 {
			return done
		}
		return messagesapi.Write(c.path("loosen.sh"), "echo true > \"$1\"\n").And(messagesapi.Bash("sh loosen.sh check.sh; echo bye > bye.txt"))
	})
	r := c.run(15, "add bye", "--gate", "sh check.sh", "--protect", "check.sh", "--agent-command", c.client)
	if !r.contains("check.sh") {
		t.Errorf("what was changed is not named: %s", r)
	}
	if got := c.read("check.sh"); got != check {
		t.Errorf("check.sh is now %q", got)
	}
	prompts := c.prompts()
	if len(prompts) != 3 || !strings.Contains(prompts[1], "check.sh") {
		t.Errorf("%d prompts; the agent was not told: %q", len(prompts), prompts)
	}
}
