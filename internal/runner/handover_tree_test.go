package runner_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/pawl-dev/pawl/internal/core/loop"
)

func TestARunnerGoesOnWithoutGit(t *testing.T) {
	t.Parallel()
	b := newBench(t, words)
	if err := os.RemoveAll(filepath.Join(b.root, ".git")); err != nil {
		t.Fatal(err)
	}
	st := b.sit(handover(nil))
	st.full()
	st.runs(st.scripted(claimsAll), teller{t})
	if st.s.Outcome != loop.Verified || !st.spec().Shadow {
		t.Fatalf("%s: %s", st.s.Outcome, st.s.Reason)
	}
	if _, err := os.Lstat(filepath.Join(b.root, ".git")); err == nil {
		t.Error("a repository was made in the user's folder")
	}
}

// Where the user asked for commits they go to the branch that they are on, and
// what else was committed there stays.
func TestARunnerCommitsToTheUsersBranch(t *testing.T) {
	t.Parallel()
	q := handover(nil)
	q.Commit = true
	st := sit(t, words, q)
	st.full()
	st.runs(st.scripted(`
-- 1/run --
echo x > x.txt && git add x.txt && git commit -qm 'my own way' && git switch -q -c elsewhere
-- 1/files/have.txt --
one
two
-- 1/reply --
<promise>DONE</promise>
`), teller{t})
	if st.s.Outcome != loop.Verified || st.s.Tasks[0].Commit == "" {
		t.Fatalf("%s: %s (%+v)", st.s.Outcome, st.s.Reason, st.s.Tasks)
	}
	if got := st.git("log", "--format=%s", "elsewhere"); got != "feat: have every word\nmy own way\nstart" {
		t.Errorf("commits:\n%s", got)
	}
	if got := st.git("status", "--porcelain"); got != "" {
		t.Errorf("the tree:\n%s", got)
	}
}

// Beside a runner the user's edits are theirs, as in any loop of a runner's.
func TestTheUserEditsBesideARunner(t *testing.T) {
	t.Parallel()
	st := sit(t, words, handover(nil))
	st.full()
	o := &onPhase{teller: teller{t}, at: loop.Inspecting, then: func() { st.write("check.sh", "# looser\n"+gateScript) }}
	st.runs(st.scripted("-- 1/tools --\n1\n-- 1/reply --\nthinking\n-- 2/files/have.txt --\none\ntwo\n-- 2/reply --\n<promise>DONE</promise>\n"), o)
	if st.s.Outcome != loop.Verified || st.s.Violations != 0 {
		t.Fatalf("%s with %d violations: %s", st.s.Outcome, st.s.Violations, st.s.Reason)
	}
	if got := st.git("diff", "--name-only"); got != "check.sh\nhave.txt" {
		t.Errorf("changed: %s", got)
	}
}
