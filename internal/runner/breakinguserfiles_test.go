package runner_test

import (
	"testing"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
)

// While the agent works, the user adds a failing test and breaks a helper. The agent's work and its
// commit pass without these files, so neither is refused or undone.
func TestUnfinishedUserFilesDoNotRefuseAgentWork(t *testing.T) {
	t.Parallel()
	files := sumPackage()
	files["plan.md"] = "- [ ] add sub, which subtracts\n- [ ] add mul, which multiplies\n"
	b := newBench(t, files)
	w := inFirstTurn(b, func() {
		b.write("half_test.sh", "test_half() { false; }\n")
		b.write("more_test.sh", "test_more() { [ $(add 2 2) = \n")
	})
	s := b.runObserved(`
-- 1/sleep --
200ms
-- 1/files/sub_test.sh --
test_sub() { [ $(sub 3 2) = 1 ]; }
-- 1/files/lib --
add() { echo $(($1 + $2)); }
sub() { echo $(($1 - $2)); }
-- 1/reply --
<promise>DONE</promise>
-- 2/files/mul_test.sh --
test_mul() { [ $(mul 3 2) = 6 ]; }
-- 2/files/lib --
add() { echo $(($1 + $2)); }
sub() { echo $(($1 - $2)); }
mul() { echo $(($1 * $2)); }
-- 2/reply --
<promise>DONE</promise>
-- 3+/reply --
thinking
`, nil, withTestGate(map[string]any{"plan": "plan.md", "max_iterations": "4"}), w)
	t.Logf("%s: %s\n%q", s.Outcome, s.Reason, w.notes)
	if s.Outcome != loop.Verified {
		t.Errorf("%s: %s", s.Outcome, s.Reason)
	}
	for _, task := range s.Tasks {
		if task.Evidence != gate.Proven {
			t.Errorf("task %s is %s", task.ID, task.Evidence)
		}
	}
	if got := b.git("status", "--porcelain"); got != "M more_test.sh\n?? half_test.sh" {
		t.Errorf("status: %q", got)
	}
	if !w.hasNote("the gates fail with your half_test.sh, more_test.sh and pass without: decided without") {
		t.Error("the user is not told")
	}
}
