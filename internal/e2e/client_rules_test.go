//go:build unix

package e2e_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/agent/agenttest/messagesapi"
)

// What the guard denies does not happen, and the model is told why.
func TestClientGuard(t *testing.T) {
	c := newClientBench(t, wordShop(nil))
	remote := c.home + "/remote.git"
	c.git("init", "-q", "--bare", remote)
	c.git("remote", "add", "origin", remote)
	outside := c.home + "/outside.txt"
	steps := []messagesapi.Response{
		messagesapi.Bash("git push origin HEAD:main"),
		messagesapi.Bash("bash -c 'cd . && git push -f origin main'"),
		messagesapi.Bash("git reset --hard HEAD~1"),
		messagesapi.Write(outside, "x\n"),
		messagesapi.Bash("echo x > " + outside),
		messagesapi.Write(c.env["PAWL_HOME"]+"/loops/x", "x\n"),
	}
	c.plays(append(steps, c.adds("bye"), done)...)
	c.run(0, c.goal("add bye")...)
	told := c.api.Requests()[1 : 1+len(steps)]
	for i, r := range told {
		if results := r.ToolResults(); len(results) != 1 || !results[0].Error || len(results[0].Text) < 20 {
			t.Errorf("call %d: the model was told %+v", i+1, results)
		}
	}
	if refs := c.git("ls-remote", "origin"); refs != "" {
		t.Errorf("pushed: %s", refs)
	}
	if exists(outside) {
		t.Error("a file outside was written")
	}
}

// The agent's own commits become part of the task's one commit, and a branch
// that it went to is left again.
func TestClientCommitsByItself(t *testing.T) {
	c := newClientBench(t, wordShop(nil))
	c.plays(c.adds("bye"), messagesapi.Bash("git checkout -q -b mine && git add -A && git commit -q -m wip && git commit -q --allow-empty -m more"), done)
	r := c.run(0, c.goal("add bye")...)
	if !r.says("switched to mine") {
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

// An agent that keeps changing what judges it, by a script that nobody reads, is stopped at the third strike; the
// judge is as it was.
func TestClientTampers(t *testing.T) {
	const check = "#!/bin/sh\n" + checkWords + "\n"
	c := newClientBench(t, wordShop(map[string]string{"check.sh": check}))
	c.api.Play(func(r messagesapi.Request) messagesapi.Response {
		if len(r.ToolResults()) > 0 {
			return done
		}
		return messagesapi.Write(c.path("loosen.sh"), "echo true > \"$1\"\n").And(messagesapi.Bash("sh loosen.sh check.sh; echo bye > bye.txt"))
	})
	r := c.run(15, "add bye", "--gate", "sh check.sh", "--agent-command", c.client)
	if !r.says("check.sh") {
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
