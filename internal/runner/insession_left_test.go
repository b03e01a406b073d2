package runner_test

import (
	"testing"

	"github.com/pawl-dev/pawl/internal/core/loop"
)

// A session's loop that commits continues with what a stopped run left of its task, also
// in files that git tracks, and leaves alone what is another's.
func TestASessionGoesOnWithWhatARunLeft(t *testing.T) {
	t.Parallel()
	for name, same := range map[string]bool{"the same plan": true, "another goal": false} {
		b := newBench(t, planned("- [ ] two\n- [ ] three\n"))
		script := "-- 1/files/half.txt --\nhalf\n-- 1/reply --\nthinking\n"
		if same {
			script += "-- 1/files/have.txt --\none\ntwo\n"
		}
		if s := b.run(script, []string{"plan.md"}, withGate(map[string]any{"max_iterations": "1"})); s.Outcome != loop.Iterations {
			t.Fatalf("%s: %s", name, s.Reason)
		}
		q := gated(map[string]any{"evidence": []string{"unproven"}})
		q.Commit = true
		if same {
			q.Words = []string{"plan.md"}
		}
		st := b.sit(q)
		st.edits("more.txt", "more\n")
		st.claims()
		want := map[bool]string{true: "half.txt\nhave.txt\nmore.txt\nplan.md", false: "more.txt"}[same]
		if got := st.git("diff", "--name-only", "HEAD^", "HEAD"); got != want {
			t.Errorf("%s: in the commit: %q, want %q", name, got, want)
		}
		if got := st.read("half.txt"); got != "half\n" {
			t.Errorf("%s: half.txt: %q", name, got)
		}
	}
}
