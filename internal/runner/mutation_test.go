package runner_test

import (
	"strings"
	"testing"
	"time"

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

// sumTask changes a function and adds one. Its test takes minutes for each mutant of the new function.
const sumTask = `
-- 1/files/sum.go --
package calc

func Sum(a, b int) int { return add(a, b) }

func add(a, b int) int { return a + b }
-- 1/files/sum_test.go --
package calc

import (
	"testing"
	"time"
)

func TestSumOfTwo(t *testing.T) {
	switch got := Sum(1, 2); got {
	case 3:
	case 1:
		t.Fatal(got)
	default:
		time.Sleep(5 * time.Minute)
		t.Fatal(got)
	}
}
-- 1/reply --
<promise>DONE</promise>
`

// onNote calls then once a note with a text appears.
type onNote struct {
	logObserver
	text string
	then func()
}

func (o *onNote) Note(n memory.Note) {
	o.logObserver.Note(n)
	if strings.Contains(n.Text, o.text) {
		o.then()
	}
}

func TestStopDuringFinalMutationTestsEndsThem(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{
		"go.mod":      calc["go.mod"],
		"sum.go":      "package calc\n\nfunc Sum(a, b int) int { return a }\n",
		"one_test.go": "package calc\n\nimport \"testing\"\n\nfunc TestSumWithZero(t *testing.T) {\n\tif Sum(1, 0) != 1 {\n\t\tt.Fatal()\n\t}\n}\n",
	})
	causes := make(chan string, 1)
	d := b.begin(sumTask, []string{"Sum adds both numbers"}, map[string]any{"gates": []string{"go test ./..."}, "mutation_time": "4m"})
	d.Cancellations = causes
	began := time.Time{}
	s, err := b.drive(t.Context(), d, &onNote{logObserver: logObserver{t}, text: "mutation testing for at most", then: func() {
		began = time.Now()
		causes <- loop.ByInterrupt
	}})
	if err != nil || s.Outcome != loop.Verified {
		t.Fatalf("%s: %s, %v", s.Outcome, s.Reason, err)
	}
	if took := time.Since(began); began.IsZero() || took > time.Minute {
		t.Errorf("mutation testing went on for %s", took)
	}
}
