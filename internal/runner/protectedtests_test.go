package runner_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/agent/agenttest"
	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/record"
)

// sumPackage returns a shell project whose test runner prints TAP.
func sumPackage() map[string]string {
	return map[string]string{
		"lib": "add() { echo $(($1 + $2)); }\n", "add_test.sh": "test_add() { [ $(add 1 2) = 3 ]; }\n",
		"more_test.sh": "test_more() { [ $(add 2 2) = 4 ]; }\n",
		"run.sh": `. ./lib
bad=0
for f in *_test.sh; do
	. "./$f"
	for t in $(sed -n 's/^\(test_[a-z]*\)().*/\1/p' "$f"); do
		if $t; then echo "ok - $t"; else echo "not ok - $t"; bad=1; fi
	done
done
exit $bad
`,
	}
}

func withTestGate(more map[string]any) map[string]any {
	flags := map[string]any{
		"gates": []any{map[string]any{"name": "t", "command": "sh run.sh", "report": "tap"}}, "tests": []string{"**/*_test.sh"},
	}
	maps.Copy(flags, more)
	return flags
}

const (
	claims   = "/reply --\n<promise>DONE</promise>\n"
	bentTest = "/files/add_test.sh --\ntest_add() { [ $(add 1 2) = 3 ] || true; }\n"
)

// A rejected test is restored once without blame; then it is a violation.
func TestRejectedTestIsRestoredOnceThenViolation(t *testing.T) {
	t.Parallel()
	for _, rejected := range []string{"add_test.sh", loop.AllTests} {
		t.Run(rejected, func(t *testing.T) {
			t.Parallel()
			runWithRejectedTest(t, rejected)
		})
	}
}

func runWithRejectedTest(t *testing.T, rejected string) {
	b := newBench(t, sumPackage())
	reject := &messageSender{logObserver: logObserver{t}, b: b, at: loop.KindGatesFinished, send: []record.Message{{Kind: record.MessageReject, Paths: []string{rejected}}}}
	d := b.begin("-- 1/sleep --\n600ms\n-- 1"+bentTest+"-- 1"+claims+"-- 2"+bentTest+"-- 2"+claims+"-- 3/files/lib --\nadd() { echo $(($2 + $1)); }\n-- 3"+claims+"-- 4"+claims,
		[]string{"tidy"}, withTestGate(map[string]any{"evidence": []string{"unproven"}}))
	b.loop = d.Loop
	s, err := b.drive(t.Context(), d, reject)
	if err != nil {
		t.Fatal(err)
	}
	if s.Violations != 1 || s.Outcome != loop.Verified {
		t.Fatalf("%s after %d violations: %s", s.Outcome, s.Violations, s.Reason)
	}
	if got := b.git("diff", "--name-only", "main..."); got != "lib" {
		t.Errorf("changed: %q", got)
	}
	if told := b.file("iterations", "0002", "prompt.md"); !strings.Contains(told, "the user rejected") || strings.Contains(told, "violation") {
		t.Errorf("the agent is told:\n%s", told)
	}
	journal := b.file("journal.jsonl")
	if !strings.Contains(journal, `"rejected_tests":["add_test.sh"]`) {
		t.Error("it is not named")
	}
}

// A removed test waits for approval, and its stored copy still runs: the next task cannot break what
// it checks.
func TestRemovedTestStillChecksNextTask(t *testing.T) {
	t.Parallel()
	files := sumPackage()
	files["plan.md"] = "- [ ] one\n- [ ] two\n"
	b := newBench(t, files)
	s := b.run("-- 1/run --\nrm more_test.sh; echo '# one' >> lib\n-- 1"+claims+"-- 2/files/lib --\nadd() { [ $1 = 1 ] && echo 3 || echo 5; }\n-- 2"+claims,
		[]string{"plan.md"}, withTestGate(map[string]any{"evidence": []string{"unproven"}}))
	if s.Outcome != loop.Unverified || s.Violations != 0 {
		t.Fatalf("%s after %d violations: %s", s.Outcome, s.Violations, s.Reason)
	}
	one, two := s.Tasks[0], s.Tasks[1]
	if one.Evidence != gate.EvidenceUnknown || !one.TestsRemoved || two.TestsRemoved || two.Evidence != gate.EvidenceUnknown || len(two.TestsChanged) == 0 {
		t.Errorf("one %+v\ntwo %+v", one, two)
	}
}

// A background process that changes protected files while the gates run is too late for the
// inspection, but is still found.
func TestProtectedFileChangedInBackgroundDuringGatesIsViolation(t *testing.T) {
	t.Parallel()
	agenttest.Needs(t, "setsid")
	files := sumPackage()
	// The daemon writes when a gate runs in the work tree. The gate waits for that once.
	files["run.sh"] = "if [ -d .git ] && [ -e late.sh ]; then : > .git/began; n=0; until [ -e .git/wrote ] || [ $((n += 1)) -gt 200 ]; do sleep 0.05; done; fi\n" + files["run.sh"]
	files[".mocharc.json"] = "{}\n"
	b := newBench(t, files)
	s := b.run("-- 1/files/late.sh --\nn=0; until [ -e .git/began ] || [ $((n += 1)) -gt 200 ]; do sleep 0.05; done\nf=.mocha; echo x > ${f}rc.json; : > .git/wrote\n"+
		"-- 1/run --\nenv -i PATH=$PATH setsid sh late.sh > /dev/null 2>&1 < /dev/null &\nsleep 0.3\necho '# x' >> lib\n-- 1"+claims+"-- 2"+claims+"-- 3"+claims,
		[]string{"tidy"}, withTestGate(map[string]any{"evidence": []string{"unproven"}, "protect": []string{".mocharc.json"}}))
	if s.Violations != 1 || s.Outcome != loop.Verified {
		t.Fatalf("%s after %d violations: %s", s.Outcome, s.Violations, s.Reason)
	}
	if got := b.git("show", "HEAD:.mocharc.json"); got != "{}" {
		t.Errorf("the runner's configuration is not put back: %s", got)
	}
}

// A test change that waits for approval does not affect the next task. That task needs its own test,
// and is verified with it.
func TestPendingTestChangeDoesNotAffectNextTask(t *testing.T) {
	t.Parallel()
	files := sumPackage()
	files["plan.md"] = "- [ ] one\n- [ ] two\n"
	b := newBench(t, files)
	s := b.run("-- 1/files/lib --\nadd() { echo $(($1 + $2 + 1)); }\n-- 1/files/add_test.sh --\ntest_add() { [ $(add 1 2) = 4 ]; }\n"+
		"-- 1/files/more_test.sh --\ntest_more() { [ $(add 2 2) = 5 ]; }\n-- 1"+claims+
		"-- 2/run --\necho 'sub() { echo $(($1 - $2)); }' >> lib\n-- 2"+claims+
		"-- 3/files/sub_test.sh --\ntest_sub() { [ \"$(sub 3 1)\" = 2 ]; }\n-- 3"+claims,
		[]string{"plan.md"}, withTestGate(nil))
	one, two := s.Tasks[0], s.Tasks[1]
	if len(one.TestsChanged) != 2 || two.Evidence != gate.Proven || len(two.TestsChanged) > 0 || s.Refusals != 1 || s.Outcome != loop.Unverified {
		t.Fatalf("%s, %d refused: %s\none %+v\ntwo %+v", s.Outcome, s.Refusals, s.Reason, one, two)
	}
	m, _, err := record.Load(b.loop)
	if err != nil {
		t.Fatal(err)
	}
	if got := b.git("show", m.TestsTree+":add_test.sh"); got != strings.TrimSpace(files["add_test.sh"]) {
		t.Errorf("the protected copy is %q: a rejection could not restore it", got)
	}
}

// A file that an earlier task deleted is not attributed to the current task.
func TestDeletionByEarlierTaskIsNotAttributedToTask(t *testing.T) {
	t.Parallel()
	files := sumPackage()
	files["plan.md"], files["testdata/unused.txt"] = "- [ ] one\n- [ ] two\n", "1 2\n"
	b := newBench(t, files)
	s := b.run("-- 1/run --\nrm testdata/unused.txt\n-- 1/files/lib --\nadd() { echo $(($1 + $2)); }\nsub() { echo $(($1 - $2)); }\n-- 1/files/sub_test.sh --\ntest_sub() { [ $(sub 2 2) = 0 ]; }\n-- 1"+claims+
		"-- 2/run --\necho 'twice() { echo $(($1 * 2)); }' >> lib\n-- 2/files/twice_test.sh --\ntest_twice() { [ \"$(twice 3)\" = 6 ]; }\n-- 2"+claims,
		[]string{"plan.md"}, withTestGate(nil))
	one, two := s.Tasks[0], s.Tasks[1]
	if len(one.ChangedTests) != 1 || two.Evidence != gate.Proven || len(two.ChangedTests) > 0 {
		t.Fatalf("%s: %s\none %+v\ntwo %+v", s.Outcome, s.Reason, one, two)
	}
}

// Only a task's own changes are attributed to it, not an earlier task's file that may change old
// tests.
func TestTestsOfEarlierTaskAreNotAttributedToTask(t *testing.T) {
	t.Parallel()
	agenttest.Needs(t, "python3")
	test := func(name, check string) string {
		return "import sys, unittest\nsys.path.insert(0, '.')\nimport app\n\n\nclass " + name + "(unittest.TestCase):\n    def test_it(self):\n        self.assertEqual(app." + check + ")\n"
	}
	b := newBench(t, map[string]string{
		"app.py": "def half(n):\n    return n // 2\n", "test_half.py": test("Half", "half(8), 4"), "plan.md": "- [ ] double\n- [ ] half rounds\n", ".gitignore": "__pycache__\n",
	})
	s := b.run("-- 1/run --\nprintf '\\n\\ndef double(n):\\n    return n * 2\\n' >> app.py\n-- 1/files/test_double.py --\n"+test("Double", "double(4), 8")+"-- 1"+claims+
		"-- 2/run --\nsed -i 's,n // 2,n / 2 + 1,' app.py\n-- 2/files/test_half.py --\n"+test("Half", "half(8), 5")+"-- 2"+claims,
		[]string{"plan.md"}, map[string]any{"gates": []any{map[string]any{"name": "t", "command": "python3 -m unittest -q"}}})
	one, two := s.Tasks[0], s.Tasks[1]
	if one.Evidence != gate.Proven || strings.Join(two.TestsChanged, " ") != "test_half.py" {
		t.Fatalf("%s: %s\none %+v\ntwo %+v", s.Outcome, s.Reason, one, two)
	}
	for _, c := range two.ChangedTests {
		if c.Path != "test_half.py" {
			t.Errorf("the second task is charged with %s", c)
		}
	}
}

// A test that an earlier task renamed is not attributed to a task that adds a test to the same file.
func TestRenameByEarlierTaskInSameFileIsNotAttributedToTask(t *testing.T) {
	t.Parallel()
	agenttest.Needs(t, "python3")
	const head = "import sys, unittest\nsys.path.insert(0, '.')\nimport app\n\n\nclass Calc(unittest.TestCase):\n"
	test := func(name, want string) string {
		return "    def test_" + name + "(self):\n        self.assertEqual(app." + name + "(1, 2), " + want + ")\n"
	}
	const minus = "\n\ndef minus(a, b):\n    return a - b\n"
	for name, c := range map[string]struct {
		second string // the test file of the second task
		want   string // a change that is attributed to it
	}{
		"it adds a test":           {head + test("plus", "3") + "\n" + test("minus", "-1"), ""},
		"it skips the renamed one": {head + "    @unittest.skip('later')\n" + test("plus", "3") + "\n" + test("minus", "-1"), "skipped"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, map[string]string{
				"app.py": "def add(a, b):\n    return a + b\n", "test_calc.py": head + test("add", "3"), "plan.md": "- [ ] rename add to plus everywhere\n- [ ] minus(a, b) with a test\n", ".gitignore": "__pycache__\n",
			})
			s := b.run("-- 1/files/app.py --\ndef plus(a, b):\n    return a + b\n-- 1/files/test_calc.py --\n"+head+test("plus", "3")+"-- 1"+claims+
				"-- 2/files/app.py --\ndef plus(a, b):\n    return a + b\n"+minus+"-- 2/files/test_calc.py --\n"+c.second+"-- 2"+claims+"-- 3"+claims,
				[]string{"plan.md"}, map[string]any{"gates": []any{map[string]any{"name": "t", "command": "python3 -m unittest -q"}}})
			one, two := s.Tasks[0], s.Tasks[1]
			if len(one.ChangedTests) != 1 || one.ChangedTests[0].Kind != "renamed" || two.Status != loop.Done {
				t.Fatalf("%s: %s\none %+v\ntwo %+v", s.Outcome, s.Reason, one, two)
			}
			var kinds []string
			for _, t := range two.ChangedTests {
				kinds = append(kinds, t.Kind)
			}
			if got := strings.Join(kinds, " "); got != c.want {
				t.Errorf("the second task is charged with %q, want %q: %+v", got, c.want, two.ChangedTests)
			}
		})
	}
}

// A changed value next to the tests in a file is attributed to the task.
func TestTestDataChangeIsAttributedToTask(t *testing.T) {
	t.Parallel()
	agenttest.Needs(t, "python3")
	test := func(known string) string {
		return "import sys, unittest\nsys.path.insert(0, '.')\nimport app\n\nKNOWN = {8: " + known + "}\n\n\nclass Half(unittest.TestCase):\n    def test_it(self):\n        for n, want in KNOWN.items():\n            self.assertEqual(app.half(n), want)\n"
	}
	b := newBench(t, map[string]string{"app.py": "def half(n):\n    return n // 2\n", "test_half.py": test("4"), "plan.md": "- [ ] half is one more\n", ".gitignore": "__pycache__\n"})
	s := b.run("-- 1/run --\nsed -i 's,n // 2,n // 2 + 1,' app.py\n-- 1/files/test_half.py --\n"+test("5")+"-- 1"+claims,
		[]string{"plan.md"}, map[string]any{"gates": []any{map[string]any{"name": "t", "command": "python3 -m unittest -q"}}})
	want := []loop.TestChange{{Path: "test_half.py", Kind: "changed"}}
	if got := s.Tasks[0]; strings.Join(got.TestsChanged, " ") != "test_half.py" || !slices.Equal(got.ChangedTests, want) {
		t.Errorf("%s: %+v", s.Reason, got)
	}
}

// A claim that needs a changed gate input is refused once, with the file's name. The agent may then
// work without it.
func TestRefusedClaimNamesNeededGateInput(t *testing.T) {
	t.Parallel()
	files := sumPackage()
	files["run.sh"] = strings.Replace(files["run.sh"], "bad=0", "bad=0\n[ $(wc -l < lib) -le $(cat most.conf) ] || bad=1", 1)
	files["most.conf"] = "1\n"
	const two = "# adds two numbers\nadd() { echo $(($1 + $2)); }\n"
	for name, c := range map[string]struct {
		second string
		want   loop.Outcome
	}{
		"it does without": {"-- 2/files/most.conf --\n1\n-- 2/files/lib --\nadd() { echo $(($2 + $1)); }\n", loop.Verified},
		"it insists":      {"", loop.Unverified},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, files)
			s := b.run("-- 1/files/most.conf --\n9\n-- 1/files/lib --\n"+two+"-- 1"+claims+c.second+"-- 2"+claims, []string{"tidy"},
				withTestGate(map[string]any{"evidence": []string{"unproven"}}))
			if s.Outcome != c.want || s.Refusals != 1 || s.Violations != 0 {
				t.Fatalf("%s, %d refused, %d violations: %s", s.Outcome, s.Refusals, s.Violations, s.Reason)
			}
			if told := b.file("iterations", "0002", "prompt.md"); !strings.Contains(told, "- most.conf\n") || !strings.Contains(told, "pawl approve") {
				t.Errorf("the agent is told:\n%s", told)
			}
		})
	}
}

// A later task that passes only with an earlier task's changed gate input is proven once that change
// is approved. Otherwise it is proven at once.
func TestTaskNeedingEarlierGateInputAwaitsItsApproval(t *testing.T) {
	t.Parallel()
	files := sumPackage()
	files["plan.md"] = "- [ ] one\n- [ ] two\n"
	files["run.sh"] = strings.Replace(files["run.sh"], "bad=0", "bad=0\n[ $(wc -l < lib) -le $(cat most.conf) ] || exit 1", 1)
	files["most.conf"] = "1\n"
	const sub = "sub() { echo $(($1 - $2)); }\n"
	for name, c := range map[string]struct {
		lib  string // of the second task
		want gate.Evidence
	}{
		"it needs it":         {"# adds\nadd() { echo $(($1 + $2)); }\n" + sub, gate.EvidenceUnknown},
		"it does without now": {"add() { echo $(($1 + $2)); }; " + sub, gate.Proven},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, files)
			s := b.run("-- 1/files/most.conf --\n9\n-- 1/files/lib --\n# adds\nadd() { echo $(($1 + $2)); }\n-- 1"+claims+"-- 2"+claims+
				"-- 3/files/lib --\n"+c.lib+"-- 3/files/sub_test.sh --\ntest_sub() { [ \"$(sub 3 1)\" = 2 ]; }\n-- 3"+claims,
				[]string{"plan.md"}, withTestGate(map[string]any{"evidence": []string{"1=unproven"}}))
			two := s.Tasks[1]
			if s.Outcome != loop.Unverified || two.Status != loop.Done || two.Evidence != c.want {
				t.Fatalf("%s: %s\n%+v", s.Outcome, s.Reason, two)
			}
			if c.want == gate.EvidenceUnknown && (two.IfApproved == nil || two.IfApproved.Evidence != gate.Proven || strings.Join(two.IfApproved.Paths, " ") != "most.conf") {
				t.Errorf("if approved: %+v", two.IfApproved)
			}
		})
	}
}

// If only the new tests of an earlier task need a gate input, no later task is blamed for it. The
// earlier task needs tests without it, and waits for the file's approval.
func TestTaskNotNeedingEarlierGateInputNeedsOwnTests(t *testing.T) {
	t.Parallel()
	files := sumPackage()
	files["plan.md"] = "- [ ] one\n- [ ] two\n"
	files["run.sh"] = ". ./env.conf\n" + files["run.sh"]
	files["env.conf"] = "STEP=1\n"
	b := newBench(t, files)
	s := b.run("-- 1/files/env.conf --\nSTEP=1\nBASE=7\n-- 1/run --\necho 'based() { echo $((BASE + $1)); }' >> lib\n-- 1/files/based_test.sh --\ntest_based() { [ \"$(based 1)\" = 8 ]; }\n-- 1"+claims+
		"-- 2/run --\necho 'sub() { echo $(($1 - $2)); }' >> lib\n-- 2"+claims+
		"-- 3/files/sub_test.sh --\ntest_sub() { [ \"$(sub 3 1)\" = 2 ]; }\n-- 3"+claims, []string{"plan.md"}, withTestGate(nil))
	one, two := s.Tasks[0], s.Tasks[1]
	if one.Evidence != gate.Proven || s.Refusals != 1 || two.Status != loop.Done || two.IfApproved == nil || two.IfApproved.Evidence != gate.Proven {
		t.Fatalf("%s, %d refused: %s\none %+v\ntwo %+v", s.Outcome, s.Refusals, s.Reason, one, two)
	}
	if got := strings.Join(two.IfApproved.Paths, " "); got != "env.conf" {
		t.Errorf("it waits for %s", got)
	}
}

// A gate input that is not a test can be approved by its name.
func TestApprovedGateInputMayChange(t *testing.T) {
	t.Parallel()
	b := newBench(t, words)
	approve := &messageSender{logObserver: logObserver{t}, b: b, at: loop.KindGatesFinished, send: []record.Message{{Kind: record.MessageApprove, Paths: []string{"check.sh"}}}}
	d := b.begin("-- 1/sleep --\n600ms\n-- 1/reply --\nthinking\n-- 2/files/check.sh --\n# looser\nexit 0\n-- 2"+claims+"-- 3"+claims, []string{"have every word"}, withGate(map[string]any{"evidence": []string{"unproven"}}))
	b.loop = d.Loop
	s, err := b.drive(t.Context(), d, approve)
	if err != nil {
		t.Fatal(err)
	}
	if s.Violations != 0 || s.Outcome != loop.Verified {
		t.Fatalf("%s after %d violations: %s", s.Outcome, s.Violations, s.Reason)
	}
}
