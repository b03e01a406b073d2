package runner_test

import (
	"path/filepath"
	"testing"

	"github.com/pawl-dev/pawl/internal/core/loop"
)

// A file in which another tool counts is not work of the agent's: it makes no
// claim one of a change, and is never committed.
func TestAnotherToolsFileIsNoWork(t *testing.T) {
	t.Parallel()
	const file = ".claude/state.md"
	b := newBench(t, words)
	q := gated(nil)
	q.File, q.Commit = filepath.Join(b.root, file), true
	b.write("mine.txt", "mine\n")
	st := b.sit(q)
	st.write(file, "iteration: 1\n")
	if st.claims(); st.s.Phase != loop.Turning || st.s.Refusals != 1 {
		t.Fatalf("a claim without a change: %s after %d refusals", st.s.Phase, st.s.Refusals)
	}
	st.write(file, "iteration: 2\n")
	st.edits("have.txt", "one\ntwo\n")
	if st.claims(); st.s.Outcome != loop.Verified {
		t.Fatalf("%s %s: %s", st.s.Phase, st.s.Outcome, st.s.Reason)
	}
	if got := st.git("show", "--format=", "--name-only", "HEAD"); got != "have.txt" {
		t.Errorf("committed: %s", got)
	}
	if got := st.git("status", "--porcelain", "--untracked-files=all"); got != "?? "+file+"\n?? mine.txt" {
		t.Errorf("the tree: %s", got)
	}
}
