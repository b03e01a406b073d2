package runner_test

import (
	"testing"

	"github.com/pawl-dev/pawl/internal/core/loop"
)

// A loop in a session that commits continues with the work that a stopped run left, including tracked
// files. It leaves the work of others alone.
func TestLoopInSessionContinuesWorkOfStoppedRun(t *testing.T) {
	t.Parallel()
	for name, same := range map[string]bool{"the same plan": true, "another goal": false} {
		b := newBench(t, filesWithPlan("- [ ] two\n- [ ] three\n"))
		script := "-- 1/files/half.txt --\nhalf\n-- 1/reply --\nthinking\n"
		if same {
			script += "-- 1/files/have.txt --\none\ntwo\n"
		}
		if s := b.run(script, []string{"plan.md"}, withGate(map[string]any{"max_iterations": "1"})); s.Outcome != loop.Iterations {
			t.Fatalf("%s: %s", name, s.Reason)
		}
		q := requestWithGate(map[string]any{"evidence": []string{"unproven"}})
		q.Commit = true
		if same {
			q.Words = []string{"plan.md"}
		}
		st := b.beginInSession(q)
		st.editAsAgent("more.txt", "more\n")
		st.endTurnWithClaim()
		want := map[bool]string{true: "half.txt\nhave.txt\nmore.txt\nplan.md", false: "more.txt"}[same]
		if got := st.git("diff", "--name-only", "HEAD^", "HEAD"); got != want {
			t.Errorf("%s: in the commit: %q, want %q", name, got, want)
		}
		if got := st.read("half.txt"); got != "half\n" {
			t.Errorf("%s: half.txt: %q", name, got)
		}
	}
}
