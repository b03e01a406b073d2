package runner_test

import (
	"strings"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/runner"
	"github.com/pawl-dev/pawl/internal/verify"
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

// gateResetter calls a function when the first gate after the second turn starts, or when the gates have passed.
type gateResetter struct {
	noteRecorder
	turns      int
	afterGates bool
	then       func()
}

func (w *gateResetter) Stepped(s loop.State, e loop.Event, acts []loop.Action) {
	w.noteRecorder.Stepped(s, e, acts)
	if e.Kind() == loop.KindTurnEnded {
		w.turns++
	}
	if e.Kind() == loop.KindGatesFinished && w.turns == 2 && w.then != nil && w.afterGates {
		time.Sleep(3 * fileDoubt)
		w.then()
		w.then = nil
	}
}

func (w *gateResetter) Gate(p verify.Progress) {
	if w.turns == 2 && p.Result == nil && w.then != nil && !w.afterGates {
		time.Sleep(3 * fileDoubt)
		w.then()
		w.then = nil
	}
}

// The user takes the first task's commit off the loop's branch while the second task is worked on or
// checked, or just after that. Their reset stays. Where it left the first task's changes in place, they become part of the
// next commit; else the task is open again.
func TestUserResetIsNotUndone(t *testing.T) {
	t.Parallel()
	const (
		sub  = "-- 1/files/sub_test.sh --\ntest_sub() { [ $(sub 3 2) = 1 ]; }\n-- 1/files/lib --\nadd() { echo $(($1 + $2)); }\nsub() { echo $(($1 - $2)); }\n-- 1/reply --\n<promise>DONE</promise>\n"
		mul  = "-- 2/sleep --\n500ms\n-- 2/files/mul_test.sh --\ntest_mul() { [ $(mul 3 2) = 6 ]; }\n-- 2/files/mul --\nmul() { echo $(($1 * $2)); }\n-- 2/run --\ntrue\n-- 2/reply --\n<promise>DONE</promise>\n"
		sub2 = "-- 3/files/sub_test.sh --\ntest_sub() { [ $(sub 3 2) = 1 ]; }\n-- 3/files/lib --\nadd() { echo $(($1 + $2)); }\nsub() { echo $(($1 - $2)); }\n-- 3/reply --\n<promise>DONE</promise>\n"
		one  = "feat(2): add mul, which multiplies|lib mul mul_test.sh plan.md sub_test.sh"
		two  = "feat(1): add sub, which subtracts|lib sub_test.sh feat(2): add mul, which multiplies|mul mul_test.sh"
	)
	for _, tt := range []struct {
		mode    string
		when    string
		commits string
	}{{"--soft", "in the turn", one}, {"--mixed", "in the turn", one}, {"--soft", "in gates", one}, {"--hard", "in gates", two}, {"--soft", "after gates", one}, {"--hard", "after gates", two}} {
		t.Run(tt.mode+" "+tt.when, func(t *testing.T) {
			t.Parallel()
			files := sumPackage()
			files["plan.md"] = "- [ ] add sub, which subtracts\n- [ ] add mul, which multiplies\n"
			files["run.sh"] = "if test -f mul; then . ./mul; fi\n" + files["run.sh"]
			if tt.when == "in gates" {
				files["run.sh"] = "if test -f mul; then sleep 1; fi\n" + files["run.sh"] // time for the reset
			}
			b := newBench(t, files)
			reset := func() { b.git("reset", "-q", tt.mode, "HEAD~1") }
			var w runner.Observer = inSecondTask(b, reset)
			if tt.when != "in the turn" {
				w = &gateResetter{noteRecorder: noteRecorder{onStep: onStep{logObserver: logObserver{t}}}, then: reset, afterGates: tt.when == "after gates"}
			}
			s := b.runObserved(sub+mul+sub2, []string{"plan.md"}, withTestGate(map[string]any{"max_iterations": "4"}), w)
			if s.Outcome != loop.Verified || b.git("status", "--porcelain") != "" {
				t.Errorf("%s after %d: %s", s.Outcome, s.Iteration, s.Reason)
			}
			got := strings.ReplaceAll(b.git("log", "--name-only", "--format=%s|", "main..HEAD"), "|\n\n", "|")
			if tt.mode == "--hard" { // either commit may tick the first task again
				got = strings.ReplaceAll(got, "plan.md", "")
			}
			if got = strings.Join(strings.Fields(got), " "); got != tt.commits {
				t.Errorf("commits:\n%s", got)
			}
			if tt.commits == one && !strings.Contains(b.git("log", "-1", "--format=%b"), "Pawl-Task: 1") {
				t.Errorf("the commit does not name the first task:\n%s", b.git("log", "-1", "--format=%b"))
			}
		})
	}
}
