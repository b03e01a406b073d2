//go:build unix

package e2e_test

import (
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/agent/agenttest/messagesapi"
)

// A file that the user makes or edits while the model thinks is in no commit. Files made by the
// agent's commands are, including background commands and orphaned processes.
func TestClientNewUserFilesAreNotCommitted(t *testing.T) {
	c := newClientBench(t, wordShop(map[string]string{"gen.sh": "echo made > made.txt\n", "late.sh": "sleep 3; echo late > late.txt\n", "edited.txt": "once\n", "changed.txt": "once\n"}))
	thinks := func() { // longer than a file's time is doubted
		time.Sleep(2500 * time.Millisecond)
	}
	steps := []func() messagesapi.Response{
		func() messagesapi.Response {
			return messagesapi.Bash("sh gen.sh; for f in ch*ed.txt; do echo agents > $f; done")
		},
		func() messagesapi.Response {
			thinks()
			c.write(map[string]string{"notes.txt": "mine\n", "edited.txt": "mine\n"})
			thinks()
			return c.answerAddingWord("bye")
		},
		func() messagesapi.Response { return messagesapi.Text("More to come.") },
		func() messagesapi.Response {
			return messagesapi.Tool("Bash", map[string]any{"command": "sh late.sh", "run_in_background": true})
		},
		func() messagesapi.Response { thinks(); thinks(); return done },
	}
	c.api.Play(func(messagesapi.Request) messagesapi.Response {
		if len(steps) == 0 {
			return done
		}
		step := steps[0]
		steps = steps[1:]
		return step()
	})
	r := c.run(0, c.goal("add bye")...)
	if got := c.git("diff", "--name-only", "start", "HEAD"); got != "bye.txt\nchanged.txt\nlate.txt\nmade.txt\ntests/bye.sh" {
		t.Errorf("in the commit: %s\n%s", got, r)
	}
	if got := c.git("status", "--porcelain"); got != "M edited.txt\n?? notes.txt" {
		t.Errorf("left over: %s", got)
	}
	if !r.contains("left alone: notes.txt, not made by a tool call") {
		t.Errorf("not named: %s", r)
	}
	if !r.contains("left alone: your edit of edited.txt: not committed") {
		t.Errorf("the edit is not named: %s", r)
	}
}
