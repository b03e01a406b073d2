package e2e_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/agent/agenttest"
)

// logIn runs what a unit says, with its environment, and with what the client needs to
// reach the model and git to name the user, as environment.d gives it to all units.
func (b *bench) logIn(unit string) string {
	b.t.Helper()
	line := func(key string) string {
		_, rest, _ := strings.Cut(unit, "\n"+key+"=")
		text, _, _ := strings.Cut(rest, "\n")
		return text
	}
	cmd := exec.Command("sh", "-c", "exec env "+line("Environment")+" "+line("ExecStart"))
	cmd.Dir = "/"
	for name, value := range b.env {
		if name == "HOME" || strings.HasPrefix(name, "ANTHROPIC_") || strings.HasPrefix(name, "GIT_") {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		b.t.Errorf("%v: %s", err, out)
	}
	return string(out)
}

// A power cut ends Pawl, the client and its tool at once and leaves their files. The service at the
// next login resumes the loop, and it ends verified.
// Another process that has got the old process id is not mistaken for the owner.
func TestClientLoopResumesAfterReboot(t *testing.T) {
	agenttest.Needs(t, "ps")
	c := newClientBench(t, wordShop(map[string]string{"plan.md": threeWords}))
	unit := c.pawl("install", "service", "--dry-run").out
	c.playAnswers(c.answerAddingWord("bye"), done, endless, c.answerAddingWord("thanks"), done, c.answerAddingWord("please"), done)
	c.write(map[string]string{".git/info/exclude": "pids\n"})
	c.run(0, append([]string{"--detach"}, c.goal("plan.md")...)...)
	for end := time.Now().Add(timeout); c.read("pids") == ""; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("no tool call\n%s", c.pawl("log", ".").out)
		}
	}
	pawl := c.driver()
	pids := []int{pawl}
	for pid := range strings.FieldsSeq(c.read("pids")) {
		n, err := strconv.Atoi(pid)
		if err != nil {
			t.Fatal(err)
		}
		pids = append(pids, n)
	}
	c.killAll(pids...)
	c.checkProcessesGone("pids")
	lock := filepath.Join(c.env["PAWL_HOME"], "loops", c.status().ID, "owner.lock.json")
	left, err := os.ReadFile(lock)
	if err != nil {
		t.Fatal(err)
	}
	claimed := strings.ReplaceAll(string(left), strconv.Itoa(pawl), strconv.Itoa(os.Getpid()))
	if err := os.WriteFile(lock, []byte(claimed), 0o600); err != nil {
		t.Fatal(err)
	}
	if s := c.status(); s.State != "orphaned" {
		t.Errorf("after the cut: %+v", s)
	}
	if said := c.logIn(unit); !strings.Contains(said, c.status().ID) {
		t.Errorf("the service says %q", said)
	}
	c.waitForVerified(3)
}
