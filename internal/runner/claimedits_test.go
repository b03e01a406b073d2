package runner_test

import (
	"os/exec"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/record"
)

// A new test of the agent's, which the gates run in the work tree, writes over an old test in place: that
// is no edit of the user's. In the next turn it puts the same file in its place, so that it is nobody's
// and is committed: an old test was changed without approval, and the work is wrong.
func TestATestThatChangesAnotherWhileTheGatesRun(t *testing.T) {
	t.Parallel()
	b := newBench(t, sums())
	w := &hears{onStep: onStep{teller: teller{t}}}
	s := b.watched(`
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
`, []string{"add sub, which subtracts"}, withTests(map[string]any{"max_iterations": "3"}), w)
	t.Logf("%s: %s\n%q", s.Outcome, s.Reason, w.notes)
	if w.note("left alone: your edit of add_test.sh") {
		t.Error("what the gates ran is taken for the user")
	}
	if s.Outcome == loop.Verified {
		t.Errorf("verified: %+v\n%s", s.Tasks, b.git("show", "--format=", "HEAD"))
	}
}

// In a session: what a process edits that a script left behind looks like the user's edit. It gains nothing:
// it is in no commit, and the gates pass without it.
func TestWhatAProcessEditsThatAScriptLeftIsInNoCommit(t *testing.T) {
	t.Parallel()
	q := gated(nil)
	q.Commit = true
	files := map[string]string{"check.sh": gateScript, "want.txt": "one\ntwo\n", "have.txt": "one\n", "lib_test.sh": "lib\n", "gen.sh": "(sleep 0.5; for f in l*_test.sh; do echo bent > $f; done) > /dev/null 2>&1 < /dev/null &\n"}
	st := sit(t, files, q)
	pause := func() { time.Sleep(10 * fileDoubt) }
	bashes(t, st, "start", "pawl start", func() {})
	pause()
	bashes(t, st, "a", "sh gen.sh", func() {
		cmd := exec.Command("sh", "gen.sh")
		cmd.Dir = st.root
		if err := cmd.Run(); err != nil {
			t.Fatal(err)
		}
	})
	time.Sleep(time.Second)
	bashes(t, st, "b", "true", func() { st.write("have.txt", "one\ntwo\n") })
	s := st.claims()
	m, _, err := record.Load(st.loop)
	if err != nil || s.Outcome != loop.Verified {
		t.Fatalf("%s: %s, %v", s.Outcome, s.Reason, err)
	}
	if got := st.git("show", "--format=", "--name-only", "HEAD"); got != "have.txt" {
		t.Errorf("in the commit: %s", got)
	}
	for name, tree := range map[string]string{"the next task's start": m.State.Start.Tree, "the judge's tests": m.TestsTree} {
		if got := st.git("show", tree+":lib_test.sh"); got != "lib" {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// As above, and the user's own hook formats all files before each commit: what was the "user's edit" when it
// was approved as such is the agent's when it is committed.
func TestATestThatChangesAnotherBeforeAHookFormatsIt(t *testing.T) {
	t.Parallel()
	b := newBench(t, sums())
	hook := "#!/bin/sh\nsleep 0.1; for f in *_test.sh; do t=$(sed 's/ *$//' $f); grep -q ' $' $f && echo \"$t\" > $f; done; sleep 0.1\n"
	b.write(".git/hooks/pre-commit", hook) // a formatter: it writes, in place, what is not as it should be
	b.sh("chmod +x .git/hooks/pre-commit")
	w := &hears{onStep: onStep{teller: teller{t}}}
	s := b.watched(`
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
`, []string{"add sub, which subtracts"}, withTests(map[string]any{"max_iterations": "3"}), w)
	t.Logf("%s: %s\n%q", s.Outcome, s.Reason, w.notes)
	if s.Outcome == loop.Verified || s.Tasks[0].Evidence == gate.Proven {
		t.Errorf("%s %s: %+v\n%s", s.Outcome, s.Tasks[0].Evidence, s.Tasks, b.git("log", "-1", "--format=%B", "-p", "HEAD"))
	}
}

// The same without a hook, over two tasks: what was the "user's edit" at the first is no change at the second,
// and the agent's once its command has touched it.
func TestATestThatChangesAnotherForTheNextTask(t *testing.T) {
	t.Parallel()
	files := sums()
	files["plan.md"] = "- [ ] add sub, which subtracts\n- [ ] add mul, which multiplies\n"
	b := newBench(t, files)
	w := &hears{onStep: onStep{teller: teller{t}}}
	s := b.watched(`
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
`, []string{"plan.md"}, withTests(map[string]any{"max_iterations": "4"}), w)
	t.Logf("%s: %s\n%q", s.Outcome, s.Reason, w.notes)
	if s.Outcome == loop.Verified || s.Tasks[1].Evidence == gate.Proven {
		t.Errorf("%s: %+v\n%s", s.Outcome, s.Tasks, b.git("log", "-2", "--format=%B", "-p", "HEAD"))
	}
}
