package runner_test

import (
	"os/exec"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/record"
)

// The agent's new test overwrites an old test when the gates run it in the work tree. That is not
// attributed to the user. In the next turn it replaces the file, so that nobody is known to have
// changed it, and it is committed: then an old test was changed without approval, and the work is
// wrong.
func TestGateRunOverwritingOldTestIsNotUserEdit(t *testing.T) {
	t.Parallel()
	b := newBench(t, sumPackage())
	w := &noteRecorder{onStep: onStep{logObserver: logObserver{t}}}
	s := b.runObserved(`
-- 1/files/a_test.sh --
g=add; sleep 0.2; echo 'test_add() { [ -n "$(add 1 2)" ]; }' > "$g"_test.sh; sleep 0.2
test_a() { false; }
-- 1/reply --
<promise>DONE</promise>
-- 2/files/a_test.sh --
g=add; sleep 0.2; cp "$g"_test.sh x.tmp; mv x.tmp "$g"_test.sh; sleep 0.2
test_a() { [ $(sub 3 2) = 1 ] && [ $(sub 9 2) = 7 ]; }
-- 2/files/lib --
add() { [ $1 = 2 ] && echo 4 || echo 0; }
sub() { echo $(($1 - $2)); }
-- 2/reply --
<promise>DONE</promise>
-- 3+/reply --
thinking
`, []string{"add sub, which subtracts"}, withTestGate(map[string]any{"max_iterations": "3"}), w)
	t.Logf("%s: %s\n%q", s.Outcome, s.Reason, w.notes)
	if w.hasNote("left alone: your edit of add_test.sh") {
		t.Error("what the gates ran is taken for the user")
	}
	if s.Outcome == loop.Verified {
		t.Errorf("verified: %+v\n%s", s.Tasks, b.git("show", "--format=", "HEAD"))
	}
}

// In a session, the edit of a process that a script left behind looks like a user edit. It gains
// nothing: it is in no commit, and the gates pass without it.
func TestEditByOrphanedProcessIsNotCommitted(t *testing.T) {
	t.Parallel()
	q := requestWithGate(nil)
	q.Commit = true
	files := map[string]string{"check.sh": gateScript, "want.txt": "one\ntwo\n", "have.txt": "one\n", "lib_test.sh": "lib\n", "gen.sh": "(sleep 0.5; for f in l*_test.sh; do echo bent > $f; done) > /dev/null 2>&1 < /dev/null &\n"}
	st := beginInSession(t, files, q)
	pause := func() { time.Sleep(10 * fileDoubt) }
	runAgentCommand(t, st, "start", "pawl start", func() {})
	pause()
	runAgentCommand(t, st, "a", "sh gen.sh", func() {
		cmd := exec.Command("sh", "gen.sh")
		cmd.Dir = st.root
		if err := cmd.Run(); err != nil {
			t.Fatal(err)
		}
	})
	time.Sleep(time.Second)
	runAgentCommand(t, st, "b", "true", func() { st.write("have.txt", "one\ntwo\n") })
	s := st.endTurnWithClaim()
	m, _, err := record.Load(st.loop)
	if err != nil || s.Outcome != loop.Verified {
		t.Fatalf("%s: %s, %v", s.Outcome, s.Reason, err)
	}
	if got := st.git("show", "--format=", "--name-only", "HEAD"); got != "have.txt" {
		t.Errorf("in the commit: %s", got)
	}
	for name, tree := range map[string]string{"the next task's start": m.State.Start.Tree, "the protected tests": m.TestsTree} {
		if got := st.git("show", tree+":lib_test.sh"); got != "lib" {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// Like TestGateRunOverwritingOldTestIsNotUserEdit, but the user's commit hook formats all files. What
// counted as a user edit before the commit is the agent's when it is committed.
func TestGateRunEditThenFormattedByCommitHookIsAgentEdit(t *testing.T) {
	t.Parallel()
	b := newBench(t, sumPackage())
	hook := "#!/bin/sh\nsleep 0.1; for f in *_test.sh; do t=$(sed 's/ *$//' $f); grep -q ' $' $f && echo \"$t\" > $f; done; sleep 0.1\n"
	b.write(".git/hooks/pre-commit", hook) // a formatter that writes in place
	b.sh("chmod +x .git/hooks/pre-commit")
	w := &noteRecorder{onStep: onStep{logObserver: logObserver{t}}}
	s := b.runObserved(`
-- 1/files/a_test.sh --
g=add; sleep 0.2; echo 'test_add() { [ -n "$(add 1 2)" ]; }  ' > "$g"_test.sh; sleep 0.2
test_a() { false; }
-- 1/reply --
<promise>DONE</promise>
-- 2/files/a_test.sh --
test_a() { [ $(sub 3 2) = 1 ] && [ $(sub 9 2) = 7 ]; }
-- 2/files/lib --
add() { [ $1 = 2 ] && echo 4 || echo 0; }
sub() { echo $(($1 - $2)); }
-- 2/reply --
<promise>DONE</promise>
-- 3+/reply --
thinking
`, []string{"add sub, which subtracts"}, withTestGate(map[string]any{"max_iterations": "3"}), w)
	t.Logf("%s: %s\n%q", s.Outcome, s.Reason, w.notes)
	if s.Outcome == loop.Verified || s.Tasks[0].Evidence == gate.Proven {
		t.Errorf("%s %s: %+v\n%s", s.Outcome, s.Tasks[0].Evidence, s.Tasks, b.git("log", "-1", "--format=%B", "-p", "HEAD"))
	}
}

// The same over two tasks and without a hook. What counted as a user edit in the first task is no
// change of the second, and is the agent's once its command has touched the file.
func TestGateRunEditTouchedInNextTaskIsAgentEdit(t *testing.T) {
	t.Parallel()
	files := sumPackage()
	files["plan.md"] = "- [ ] add sub, which subtracts\n- [ ] add mul, which multiplies\n"
	b := newBench(t, files)
	w := &noteRecorder{onStep: onStep{logObserver: logObserver{t}}}
	s := b.runObserved(`
-- 1/files/a_test.sh --
g=add; sleep 0.2; echo 'test_add() { [ -n "$(add 1 2)" ]; }' > "$g"_test.sh; sleep 0.2
test_a() { false; }
-- 1/reply --
<promise>DONE</promise>
-- 2/files/a_test.sh --
test_a() { [ $(sub 3 2) = 1 ] && [ $(sub 9 2) = 7 ]; }
-- 2/files/lib --
add() { echo $(($1 + $2)); }
sub() { echo $(($1 - $2)); }
-- 2/reply --
<promise>DONE</promise>
-- 3/run --
touch a*_test.sh
-- 3/files/m_test.sh --
test_m() { [ $(mul 3 2) = 6 ] && [ $(mul 9 2) = 18 ]; }
-- 3/files/lib --
add() { [ $1 = 2 ] && echo 4 || echo 0; }
sub() { echo $(($1 - $2)); }
mul() { echo $(($1 * $2)); }
-- 3/reply --
<promise>DONE</promise>
-- 4+/reply --
thinking
`, []string{"plan.md"}, withTestGate(map[string]any{"max_iterations": "4"}), w)
	t.Logf("%s: %s\n%q", s.Outcome, s.Reason, w.notes)
	if s.Outcome == loop.Verified || s.Tasks[1].Evidence == gate.Proven {
		t.Errorf("%s: %+v\n%s", s.Outcome, s.Tasks, b.git("log", "-2", "--format=%B", "-p", "HEAD"))
	}
}
