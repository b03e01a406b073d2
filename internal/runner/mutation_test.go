package runner_test

import (
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/record"
)

var calc = map[string]string{
	"go.mod":       "module calc\n\ngo 1.20\n",
	"calc.go":      "package calc\n\nfunc One() int { return 1 }\n",
	"calc_test.go": "package calc\n\nimport \"testing\"\n\nfunc TestOne(t *testing.T) {\n\tif One() != 1 {\n\t\tt.Fatal()\n\t}\n}\n",
	"plan.md":      "- [ ] Add more operations\n- [ ] Add Neg\n",
}

// calcTasks has two tasks. Mutation tests of the first run during the second, those of the second at
// the end.
const calcTasks = `
-- 1/files/sub.go --
package calc

func Sub(a, b int) int { return a - b }

func Mul(a, b int) int { return a * b }
-- 1/files/sub_test.go --
package calc

import "testing"

func TestSub(t *testing.T) {
	if got := Sub(3, 2); got != 1 {
		t.Fatal(got)
	}
}
-- 1/reply --
<promise>DONE</promise>
-- 2/files/neg.go --
package calc

func Neg(a int) int { return -a }
-- 2/files/neg_test.go --
package calc

import "testing"

func TestNeg(t *testing.T) {
	if got := Neg(3); got != -3 {
		t.Fatal(got)
	}
}
-- 2/reply --
<promise>DONE</promise>
`

func mutationLinesOf(m memory.Memory) string { return strings.Join(m.MutationLines(), "\n") }

func TestMutationTestsRunDuringTurns(t *testing.T) {
	t.Parallel()
	b := newBench(t, calc)
	s := b.run(calcTasks, []string{"plan.md"}, map[string]any{"gates": []string{"go test ./..."}, "mutation_time": "5m"})
	if s.Outcome != loop.Verified || s.Tasks[0].Evidence != gate.Proven || s.Tasks[1].Evidence != gate.Proven {
		t.Fatalf("%s: %s: %+v", s.Outcome, s.Reason, s.Tasks)
	}
	m, _, err := record.Load(b.loop)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := mutationLinesOf(m), "task 1: 1 of 2 changed functions are tested: not Mul (sub.go:5)\ntask 2: the one changed function is tested"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if len(m.Mutations) > 0 && m.Mutations[0].Commit != s.Tasks[0].Commit {
		t.Errorf("%s is told of %s", m.Mutations[0].Commit, s.Tasks[0].Commit)
	}
}

func TestMutationTestsCanBeDisabled(t *testing.T) {
	t.Parallel()
	b := newBench(t, calc)
	s := b.run(calcTasks, []string{"plan.md"}, map[string]any{"gates": []string{"go test ./..."}, "mutation_time": "0s"})
	m, _, err := record.Load(b.loop)
	if err != nil || s.Outcome != loop.Verified || len(m.Mutations) > 0 {
		t.Errorf("%v, %s, %v", err, s.Outcome, m.Mutations)
	}
}
