//go:build unix

package e2e_test

import (
	"strings"
	"syscall"
	"testing"
)

// A user edits the plan during a tool call, and again after a kill -9 while no owner runs. The next
// turn knows all edits.
func TestClientPlanEditedDuringLoop(t *testing.T) {
	c := newClientBench(t, wordShop(map[string]string{"plan.md": threeWords}))
	c.playAnswers(endless, c.answerAddingWord("bye"), done, c.answerAddingWord("sorry"), done, c.answerAddingWord("please"), done)
	r := c.startInTool("plan.md")
	for _, edit := range [][]string{{"skip", ".", "2"}, {"add", ".", "add", "sorry"}, {"move", "plan.md", "4"}} {
		if res := c.pawl(append([]string{"plan"}, edit...)...); res.code != 0 {
			t.Fatal(res)
		}
	}
	r.signal(syscall.SIGKILL)
	r.wait()
	if res := c.pawl("plan", "edit", ".", "3", "add please, too"); res.code != 0 || !res.contains("it gets this when you resume it") {
		t.Fatal(res)
	}
	c.checkExitCode(c.pawl("resume"), 0)
	if got := strings.Join(c.subjects(), "; "); got != "feat(1):_add_bye; feat(4):_add_sorry; feat(3):_add_please,_too" {
		t.Errorf("commits %q", got)
	}
	if got := c.read("plan.md"); got != "# Words\n\n- [x] add bye\n- [ ] add thanks\n- [x] add please, too\n- [x] add sorry\n" {
		t.Errorf("the plan: %q", got)
	}
	c.checkProcessesGone("pids")
	c.checkJournalChain()
}
