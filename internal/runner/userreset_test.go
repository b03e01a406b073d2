package runner_test

import (
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/core/loop"
)

// inSecondTask calls a function when the second task's turn begins.
func inSecondTask(b *bench, then func()) *noteRecorder {
	baselines := 0
	w := &noteRecorder{onStep: onStep{logObserver: logObserver{b.t}, at: loop.KindCheckpointed}}
	w.then = func() {
		if baselines++; baselines == 2 {
			w.at, w.then = loop.KindGatesFinished, func() {
				w.then = nil
				time.Sleep(3 * fileDoubt)
				then()
			}
		}
	}
	return w
}

// The user takes the first task's commit off the loop's branch while the agent works on the second
// task. The second is checked against the branch as it is now, and the first is open again.
func TestUserResetDuringTurnReopensTask(t *testing.T) {
	t.Parallel()
	const (
		sub  = "-- 1/files/sub_test.sh --\ntest_sub() { [ $(sub 3 2) = 1 ]; }\n-- 1/files/lib --\nadd() { echo $(($1 + $2)); }\nsub() { echo $(($1 - $2)); }\n-- 1/reply --\n<promise>DONE</promise>\n"
		mul  = "-- 2/sleep --\n500ms\n-- 2/files/mul_test.sh --\ntest_mul() { [ $(mul 3 2) = 6 ]; }\n-- 2/files/mul --\nmul() { echo $(($1 * $2)); }\n-- 2/reply --\n<promise>DONE</promise>\n"
		run  = "-- 2/run --\ntrue\n"
		sub2 = "-- 3/files/sub_test.sh --\ntest_sub() { [ $(sub 3 2) = 1 ]; }\n-- 3/files/lib --\nadd() { echo $(($1 + $2)); }\nsub() { echo $(($1 - $2)); }\n-- 3/reply --\n<promise>DONE</promise>\n"
	)
	for name, script := range map[string]string{"files": sub + mul + sub2, "commands": sub + mul + run + sub2} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := sumPackage()
			files["plan.md"] = "- [ ] add sub, which subtracts\n- [ ] add mul, which multiplies\n"
			files["run.sh"] = "if test -f mul; then . ./mul; fi\n" + files["run.sh"]
			b := newBench(t, files)
			w := inSecondTask(b, func() { b.git("reset", "-q", "--hard", "HEAD~1") })
			s := b.runObserved(script, []string{"plan.md"}, withTestGate(map[string]any{"max_iterations": "3"}), w)
			if s.Outcome != loop.Verified || s.Iteration != 3 {
				t.Errorf("%s after %d: %s\n%q", s.Outcome, s.Iteration, s.Reason, w.notes)
			}
			if got := b.git("log", "--format=%s", "main..HEAD"); got != "feat(1): add sub, which subtracts\nfeat(2): add mul, which multiplies" {
				t.Errorf("commits:\n%s", got)
			}
		})
	}
}
