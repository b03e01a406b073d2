//go:build unix

package e2e_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/agent/agenttest/messagesapi"
)

// Two small changes to Pawl itself, as a model would make them.
const (
	ownPlan = "# Small things\n\n- [ ] gate: tell the worst of several results\n- [ ] plan: tell how many percent of the tasks are done\n"

	worst = `package gate

// Worst is the status of all results together: fail before unknown before pass.
func Worst(results []Result) Status {
	worst := Pass
	for _, r := range results {
		if r.Status == Fail || worst == Pass {
			worst = r.Status
		}
		if worst == Fail {
			break
		}
	}
	return worst
}
`
	worstTest = `package gate_test

import (
	"testing"

	"github.com/pawl-dev/pawl/internal/core/gate"
)

func TestWorst(t *testing.T) {
	results := []gate.Result{{Status: gate.Pass}, {Status: gate.Unknown}, {Status: gate.Fail}}
	for n, want := range []gate.Status{gate.Pass, gate.Pass, gate.Unknown, gate.Fail} {
		if got := gate.Worst(results[:n]); got != want {
			t.Errorf("worst of %d: %s, want %s", n, got, want)
		}
	}
}
`
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

func TestPercent(t *testing.T) {
	p := plan.Plan{Tasks: []plan.Task{{ID: "1", Done: true}, {ID: "2"}, {ID: "3"}}}
	if got := p.Percent(); got != 33 {
		t.Errorf("%d %%", got)
	}
}
`
)

// The loop works on a clone of Pawl's own repository.
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
	c.plays(
		add("gate/worst.go", worst).And(add("gate/worst_test.go", worstTest)), done,
		add("plan/percent.go", percent).And(add("plan/percent_test.go", percentTest)), messagesapi.Bash("gofmt -l internal/core"), done)

	c.run(0, "plan.md", "--gate", "go test ./internal/core/gate ./internal/core/plan", "--agent-command", c.client)

	want := []string{"feat(1):_gate:_tell_the_worst_of_several_results", "feat(2):_plan:_tell_how_many_percent_of_the_tasks_are_done"}
	got := sortedLines(strings.ReplaceAll(c.git("log", "-2", "--format=%s"), " ", "_"))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if s := c.status(); s.Evidence != "proven" || s.Iteration != 2 {
		t.Errorf("status %+v", s)
	}
	if got := c.git("diff", "--stat", "start..HEAD"); !strings.Contains(got, "4 files changed") {
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
