//go:build unix

package e2e_test

import (
	"strings"
	"syscall"
	"testing"
)

// A user edits the plan while the client is in a tool call, and again while nobody
// drives the loop, after a kill -9: the next turn knows of all of it.
func TestClientPlanEditedWhileItRuns(t *testing.T) {
	c := newClientBench(t, wordShop(map[string]string{"plan.md": threeWords}))
	c.plays(endless, c.adds("bye"), done, c.adds("sorry"), done, c.adds("please"), done)
	r := c.inTool("plan.md")
	for _, edit := range [][]string{{"skip", ".", "2"}, {"add", ".", "add", "sorry"}, {"move", "plan.md", "4"}} {
		if res := c.pawl(append([]string{"plan"}, edit...)...); res.code != 0 {
			t.Fatal(res)
		}
	}
	r.signal(syscall.SIGKILL)
	r.wait()
	if res := c.pawl("plan", "edit", ".", "3", "add please, too"); res.code != 0 || !res.says("it gets this when you resume it") {
		t.Fatal(res)
	}
	c.ended(c.pawl("resume"), 0)
	if got := strings.Join(c.subjects(), "; "); got != "feat(1):_add_bye; feat(4):_add_sorry; feat(3):_add_please,_too" {
		t.Errorf("commits %q", got)
	}
	if got := c.read("plan.md"); got != "# Words\n\n- [x] add bye\n- [ ] add thanks\n- [x] add please, too\n- [x] add sorry\n" {
		t.Errorf("the plan: %q", got)
	}
	c.gone("pids")
	c.intact()
}
