package runner_test

import (
	"path/filepath"
	"testing"

	"github.com/pawl-dev/pawl/internal/core/loop"
)

// A file in which another tool counts iterations is not the agent's work: it does not support a
// claim, and is never committed.
func TestStateFileOfAnotherToolIsNoWork(t *testing.T) {
	t.Parallel()
	const file = ".claude/state.md"
	b := newBench(t, words)
	q := requestWithGate(nil)
	q.File, q.Commit = filepath.Join(b.root, file), true
	b.write("mine.txt", "mine\n")
	st := b.beginInSession(q)
	st.write(file, "iteration: 1\n")
	if st.endTurnWithClaim(); st.s.Phase != loop.Turning || st.s.Refusals != 1 {
		t.Fatalf("a claim without a change: %s after %d refusals", st.s.Phase, st.s.Refusals)
	}
	st.write(file, "iteration: 2\n")
	st.editAsAgent("have.txt", "one\ntwo\n")
	if st.endTurnWithClaim(); st.s.Outcome != loop.Verified {
		t.Fatalf("%s %s: %s", st.s.Phase, st.s.Outcome, st.s.Reason)
	}
	if got := st.git("show", "--format=", "--name-only", "HEAD"); got != "have.txt" {
		t.Errorf("committed: %s", got)
	}
	if got := st.git("status", "--porcelain", "--untracked-files=all"); got != "?? "+file+"\n?? mine.txt" {
		t.Errorf("the tree: %s", got)
	}
}
