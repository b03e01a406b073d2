package runner_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/pawl-dev/pawl/internal/core/loop"
)

func TestRunnerContinuesWithoutGit(t *testing.T) {
	t.Parallel()
	b := newBench(t, words)
	if err := os.RemoveAll(filepath.Join(b.root, ".git")); err != nil {
		t.Fatal(err)
	}
	st := b.beginInSession(requestWithHandover(nil))
	st.fillContext()
	st.runAfterHandover(st.scriptedAgent(claimsAll), logObserver{t})
	if st.s.Outcome != loop.Verified || !st.spec().Shadow {
		t.Fatalf("%s: %s", st.s.Outcome, st.s.Reason)
	}
	if _, err := os.Lstat(filepath.Join(b.root, ".git")); err == nil {
		t.Error("a repository was made in the user's folder")
	}
}

// If the user asked for commits, they go to the current branch, and other commits on it stay.
func TestRunnerCommitsToUserBranch(t *testing.T) {
	t.Parallel()
	q := requestWithHandover(nil)
	q.Commit = true
	st := beginInSession(t, words, q)
	st.fillContext()
	st.runAfterHandover(st.scriptedAgent(`
-- 1/run --
echo x > x.txt && git add x.txt && git commit -qm 'my own way' && git switch -q -c elsewhere
-- 1/files/have.txt --
one
two
-- 1/reply --
<promise>DONE</promise>
`), logObserver{t})
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

// Edits that the user makes during a runner's turn are user edits, as in any runner's loop.
func TestUserEditsDuringRunnerTurnAreUserEdits(t *testing.T) {
	t.Parallel()
	st := beginInSession(t, words, requestWithHandover(nil))
	st.fillContext()
	o := &onPhase{logObserver: logObserver{t}, at: loop.Inspecting, then: func() { st.write("check.sh", "# looser\n"+gateScript) }}
	st.runAfterHandover(st.scriptedAgent("-- 1/tools --\n1\n-- 1/reply --\nthinking\n-- 2/files/have.txt --\none\ntwo\n-- 2/reply --\n<promise>DONE</promise>\n"), o)
	if st.s.Outcome != loop.Verified || st.s.Violations != 0 {
		t.Fatalf("%s with %d violations: %s", st.s.Outcome, st.s.Violations, st.s.Reason)
	}
	if got := st.git("diff", "--name-only"); got != "check.sh\nhave.txt" {
		t.Errorf("changed: %s", got)
	}
}
