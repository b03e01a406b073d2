//go:build unix

package e2e_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/agent/agenttest/messagesapi"
)

// A small change to Pawl itself, as a model would make it.
const (
	ownPlan = "# Small things\n\n- [ ] plan: tell how many percent of the tasks are done\n"

	percent = `package plan

// Percent of the tasks that are done; 100 for a plan without any.
func (p Plan) Percent() int {
	if len(p.Tasks) == 0 {
		return 100
	}
	return 100 * (len(p.Tasks) - p.Open()) / len(p.Tasks)
}
`
	percentTest = `package plan_test

import (
	"testing"

	"github.com/pawl-dev/pawl/internal/core/plan"
)

func TestPercentOfDoneTasks(t *testing.T) {
	p := plan.Plan{Tasks: []plan.Task{{ID: "1", Done: true}, {ID: "2"}, {ID: "3"}}}
	if got := p.Percent(); got != 33 {
		t.Errorf("%d %%", got)
	}
	if got := (plan.Plan{}).Percent(); got != 100 {
		t.Errorf("%d %% of none", got)
	}
}
`
)

// The loop works on a clone of Pawl's repository.
func TestClientOnPawlItself(t *testing.T) {
	top, err := exec.Command("git", "rev-parse", "--show-toplevel").Output()
	if err != nil {
		t.Skip("these sources are in no git repository: ", err)
	}
	c := newClientBench(t, nil)
	if err := os.RemoveAll(c.root); err != nil {
		t.Fatal(err)
	}
	c.clone(strings.TrimSpace(string(top)))
	c.write(map[string]string{"plan.md": ownPlan})
	add := func(path, text string) messagesapi.Response {
		return messagesapi.Write(c.path("internal/core/"+path), text)
	}
	c.playAnswers(
		add("plan/percent.go", percent).And(add("plan/percent_test.go", percentTest)), messagesapi.Bash("gofmt -l internal/core"), done)

	c.run(0, "plan.md", "--gate", "go test ./internal/core/plan", "--agent-command", c.client)

	if got, want := c.git("log", "-1", "--format=%s"), "feat(1): plan: tell how many percent of the tasks are done"; got != want {
		t.Errorf("committed %q, want %q", got, want)
	}
	if s := c.status(); s.Evidence != "proven" || s.Iteration != 1 {
		t.Errorf("status %+v", s)
	}
	if got := c.git("diff", "--stat", "start..HEAD"); !strings.Contains(got, "2 files changed") {
		t.Errorf("changed: %s", got)
	}
}

// clone makes the bench's repository a clone of another one.
func (b *bench) clone(from string) {
	b.t.Helper()
	cmd := exec.Command("git", "clone", "-q", from, b.root)
	cmd.Env = b.environ()
	if out, err := cmd.CombinedOutput(); err != nil {
		b.t.Fatalf("clone %s: %v\n%s", filepath.Base(from), err, out)
	}
	b.git("checkout", "-q", "-B", "main")
	b.git("tag", "start")
}
