package runner_test

import (
	"testing"

	"github.com/pawl-dev/pawl/internal/core/loop"
)

const twoTasks = "- [ ] two\n- [ ] three\n"

func TestCheckboxTickedByUserCompletesTask(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"plan.md": twoTasks, "check.sh": gateScript, "want.txt": "one\n", "have.txt": "one\n"})
	ticked := false
	o := &onStep{logObserver: logObserver{t}, at: loop.KindTurnEnded, then: func() {
		if !ticked {
			b.write("plan.md", "- [x] two\n- [ ] three\n")
			ticked = true
		}
	}}
	s := b.runObserved("-- 1/reply --\nthinking\n-- 2/files/have.txt --\none\nthree\n-- 2/reply --\n<promise>DONE</promise>\n",
		[]string{"plan.md"}, withGate(map[string]any{"evidence": []string{"unproven"}}), o)
	if s.Outcome != loop.Verified {
		t.Fatalf("%s: %s", s.Outcome, s.Reason)
	}
	if two := s.Tasks[0]; two.Status != loop.Done || !two.DoneEarlier || two.Commit != "" {
		t.Errorf("not the user's: %+v", two)
	}
	if got := b.git("log", "--format=%s", "main..HEAD"); got != "feat(2): three" {
		t.Errorf("commits: %s", got)
	}
	if got := b.git("show", "HEAD:plan.md"); got != "- [x] two\n- [x] three" {
		t.Errorf("plan:\n%s", got)
	}
}

func TestUserTickingLastTaskEndsLoop(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"plan.md": "- [ ] two\n", "check.sh": gateScript, "want.txt": "one\n", "have.txt": "one\n"})
	o := &onStep{logObserver: logObserver{t}, at: loop.KindTurnEnded, then: func() { b.write("plan.md", "- [x] two\n") }}
	s := b.runObserved("-- 1/reply --\nthinking\n", []string{"plan.md"}, withGate(nil), o)
	if s.Outcome != loop.Finished {
		t.Fatalf("%s: %s", s.Outcome, s.Reason)
	}
}
