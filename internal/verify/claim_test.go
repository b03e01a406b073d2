//go:build unix

package verify_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/agent/agenttest"
	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/verify"
)

// calc is a module whose suite is green.
func calc() files {
	return files{
		"go.mod":       "module calc\n\ngo 1.24\n",
		"calc.go":      "package calc\n\nfunc Add(a, b int) int { return a + b }\n",
		"calc_test.go": "package calc\n\nimport \"testing\"\n\nfunc TestAdd(t *testing.T) {\n\tif Add(1, 2) != 3 {\n\t\tt.Error(\"1+2\")\n\t}\n}\n",
	}
}

const subtract = "package calc\n\nfunc Add(a, b int) int { return a + b }\n\nfunc Sub(a, b int) int { return a - b }\n"

func testFile(name, body string) string {
	return "package calc\n\nimport \"testing\"\n\nfunc " + name + "(t *testing.T) {\n\t" + body + "\n}\n"
}

func TestClaimsOnPassingGateAreGraded(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name   string
		work   files
		want   gate.Evidence
		reason string
		ran    []string
		labels []string
	}{
		{"no work", nil, gate.EvidenceUnknown, "nothing changed since", []string{"kept a", "kept a"}, nil},
		{"work without a test", files{"calc.go": subtract}, gate.Unproven, "nothing failed before", []string{"kept a", "a"}, nil},
		{
			"work with a test that cannot fail",
			files{"calc.go": subtract, "sub_test.go": testFile("TestSub", "t.Log(\"fine\")")},
			gate.Unproven, "pass without this work too: sub_test.go",
			[]string{"kept a", "a", "a repeat-clean", "a mutants-for-new-tests", "a control", "a overlay"},
			nil,
		},
		{
			"work with one that can",
			files{
				"calc.go":     strings.Replace(subtract, "a + b", "b + a", 1),
				"sub_test.go": testFile("TestSub", "if Sub(3, 1) != 2 {\n\t\tt.Error(\"3-1\")\n\t}"),
			},
			gate.Proven, "passes with this work, and fails when its functions are broken: calc.TestSub",
			[]string{"kept a", "a", "a repeat-clean", "a mutants-for-new-tests", "a canary", "a other-expected"},
			nil,
		},
		{
			"work with one that checks nothing of it",
			files{"calc.go": subtract, "sub_test.go": testFile("TestSub", "if Sub(3, 3) != 0 {\n\t\tt.Error(\"3-3\")\n\t}")},
			gate.Unproven, "so they do not check it: calc.TestSub",
			[]string{"kept a", "a", "a repeat-clean", "a mutants-for-new-tests", "a control", "a overlay", "kept a mutants"},
			[]string{"overlay: build failure", "tests that check nothing: calc.TestSub"},
		},
		{
			"work with one that checks nothing of it, and a constant",
			files{"calc.go": strings.Replace(subtract, "func Sub", "const Zero = 0\n\nfunc Sub", 1), "sub_test.go": testFile("TestSub", "_ = Sub(3, 3)")},
			gate.Unproven, "so they do not check it: calc.TestSub",
			[]string{"kept a", "a", "a repeat-clean", "a mutants-for-new-tests", "a control", "a overlay", "kept a mutants"},
			[]string{"overlay: build failure", "tests that check nothing: calc.TestSub"},
		},
		{
			"work with one that can, and a constant",
			files{
				"calc.go":     strings.Replace(subtract, "func Sub", "const Zero = 0\n\nfunc Sub", 1),
				"sub_test.go": testFile("TestSub", "if Sub(3, 1) != 2+Zero {\n\t\tt.Error(\"3-1\")\n\t}"),
			},
			gate.Proven, "passes with this work, and fails when its functions are broken: calc.TestSub",
			[]string{"kept a", "a", "a repeat-clean", "a mutants-for-new-tests", "a canary", "a other-expected"},
			nil,
		},
		{
			"work whose effect is no function's",
			files{
				"calc.go":     "package calc\n\nconst Zero = 0\n\nfunc Add(a, b int) int { return a + b }\n\nfunc Sub(a, b int) int { return a - b }\n",
				"sub_test.go": testFile("TestZero", "if Zero != 0 {\n\t\tt.Error(\"zero\")\n\t}"),
			},
			gate.Proven, "passes with this work, and fails when its functions are broken: calc.TestZero",
			[]string{"kept a", "a", "a repeat-clean", "a mutants-for-new-tests", "a canary", "a other-expected"},
			nil,
		},
		{
			"work with one that can, in an old file",
			files{
				"calc.go":      strings.Replace(subtract, "a + b", "b + a + 0*a", 1),
				"calc_test.go": calc()["calc_test.go"] + "\nfunc TestNone(t *testing.T) {\n\tif Sub(3, 1) != 2 {\n\t\tt.Error(\"3-1\")\n\t}\n}\n",
			},
			gate.Proven, "passes with this work, and fails when its functions are broken: calc.TestNone",
			[]string{"kept a", "a", "a originals", "a repeat-clean", "a mutants-for-new-tests", "a canary", "a other-expected"},
			[]string{"tests changed: calc_test.go"},
		},
	}
	for _, c := range agenttest.Each(cases, 2) {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, calc(), nil)
			f := b.claim(gates("go test ./..."), c.work, nil)
			v := f.Verdict
			if v.Status != gate.Pass || v.Evidence != c.want || !strings.Contains(v.Reason, c.reason) || !v.FullGreen {
				t.Errorf("verdict %+v", v)
			}
			if diff := cmp.Diff(c.ran, b.ran); diff != "" {
				t.Errorf("runs (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.labels, v.Labels); diff != "" {
				t.Errorf("labels (-want +got):\n%s", diff)
			}
			if f.TreeAfter != b.tree() {
				t.Error("the tree after is not told")
			}
		})
	}
}

// redSuite has its tests written first: nothing of it builds.
func redSuite() files {
	return files{
		"go.mod":       "module calc\n\ngo 1.24\n",
		"calc.go":      "package calc\n\nfunc Add(a, b int) int { return 0 }\n\nfunc Sub(a, b int) int { return 0 }\n",
		"calc_test.go": strings.Replace(testFile("TestAdd", "if Add(1, 2) != 3 {\n\t\tt.Error(\"1+2\")\n\t}"), "\n}\n", "\n}\n\nfunc TestSub(t *testing.T) {\n\tif Sub(3, 1) != 2 {\n\t\tt.Error(\"3-1\")\n\t}\n}\n", 1),
	}
}

func TestRedSuiteFirstIsVerifiedTaskByTask(t *testing.T) {
	t.Parallel()
	b := newBench(t, redSuite(), nil)
	gs := gates("go vet ./... && go test ./...")
	add := files{"calc.go": "package calc\n\nfunc Add(a, b int) int { return a + b }\n\nfunc Sub(a, b int) int { return 0 }\n"}
	firstFinding := b.claim(gs, add, nil)
	first := firstFinding.Verdict
	if first.Evidence != gate.Proven || !cmp.Equal(first.Flipped, []string{"calc.TestAdd"}) || first.FullGreen {
		t.Errorf("first task: %+v", first)
	}
	if base := firstFinding.Observation.Baseline[0]; base.Passed != 0 || base.Failed != 2 {
		t.Errorf("baseline of %d passed, %d failed", base.Passed, base.Failed)
	}
	if diff := cmp.Diff([]string{"calc.TestSub"}, first.StillRed); diff != "" {
		t.Errorf("still red (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"kept a", "a", "kept a repeat-before", "a repeat-clean", "a canary", "a other-expected"}, b.ran); diff != "" {
		t.Errorf("runs (-want +got):\n%s", diff)
	}
	second := b.claim(gs, files{"calc.go": subtract}, nil).Verdict
	if second.Evidence != gate.Proven || !cmp.Equal(second.Flipped, []string{"calc.TestSub"}) || !second.FullGreen {
		t.Errorf("second task: %+v", second)
	}
	if diff := cmp.Diff([]string{"kept a", "a", "kept a repeat-before", "a repeat-clean", "a canary", "a other-expected"}, b.ran); diff != "" {
		t.Errorf("runs (-want +got):\n%s", diff)
	}
}

func TestUnbuildableSuiteCanTurnGreen(t *testing.T) {
	t.Parallel()
	start := redSuite()
	start["calc.go"] = "package calc\n"
	mine := files{"calc.go": subtract, "mine_test.go": testFile("TestMine", "t.Log(\"fine\")")}
	b := newBench(t, start, nil)
	v := b.claim(gates("go test ./..."), mine, nil).Verdict
	if v.Evidence != gate.Proven || !cmp.Equal(v.Flipped, []string{"calc.TestAdd", "calc.TestSub"}) {
		t.Errorf("verdict %+v", v)
	}
}

func TestBrokenTestIsNamed(t *testing.T) {
	t.Parallel()
	b := newBench(t, calc(), nil)
	v := b.claim(gates("go test ./..."), files{"calc.go": "package calc\n\nfunc Add(a, b int) int { return a - b }\n"}, nil).Verdict
	if v.Status != gate.Fail || !cmp.Equal(v.Regressed, []string{"calc.TestAdd"}) || !strings.Contains(v.Reason, "calc_test.go:7: 1+2") {
		t.Errorf("verdict %+v", v)
	}
}

// shop is a project whose gate needs what its set-up installs, ignored by git.
func shop() files {
	return files{
		".gitignore": "deps/\n",
		"check.sh":   "test -e deps/lib || { echo 'cannot find deps/lib'; exit 1; }\nfor t in tests/*.sh; do sh $t || exit 1; done\n",
		"tests/a.sh": "grep -q apples stock\n",
		"stock":      "apples\n",
	}
}

func TestMissingDependenciesAreNoEvidence(t *testing.T) {
	t.Parallel()
	work := files{"stock": "apples\npears\n", "tests/b.sh": "grep -q pears stock\n"}
	cases := []struct {
		name  string
		setup []string
		want  gate.Evidence
		ran   []string
	}{
		{"without set-up", nil, gate.EvidenceUnknown, []string{"kept a", "a", "a repeat-clean", "a repeat-clean", "a control"}},
		{"with set-up", []string{"mkdir deps && touch deps/lib"}, gate.Proven, []string{"kept a", "a", "a repeat-clean", "a control", "a overlay"}},
		{"with a set-up that fails", []string{"echo no network; exit 7"}, gate.EvidenceUnknown, []string{"kept a", "a"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, shop(), func(o *verify.Options) { o.Setup = c.setup })
			b.write(files{"deps/lib": "x"})
			v := b.claim(gates("sh check.sh"), work, nil).Verdict
			if v.Status != gate.Pass || v.Evidence != c.want {
				t.Errorf("verdict %+v", v)
			}
			if diff := cmp.Diff(c.ran, b.ran); diff != "" {
				t.Errorf("runs (-want +got):\n%s", diff)
			}
			if c.want == gate.EvidenceUnknown && len(c.setup) > 0 && !strings.Contains(v.Reason, "no network") {
				t.Errorf("reason %q", v.Reason)
			}
		})
	}
}

func TestGateWithoutTestIDsProvesByTurningGreen(t *testing.T) {
	t.Parallel()
	b := newBench(t, files{"stock": "apples\n"}, nil)
	v := b.claim(gates("grep pears stock"), files{"stock": "pears\n"}, nil).Verdict
	if v.Evidence != gate.Proven || !cmp.Equal(v.FlippedGates, []string{"a"}) {
		t.Errorf("verdict %+v", v)
	}
}

func TestFlakyFlipProvesNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t, files{"stock": "apples\n", ".gitignore": "count\n"}, nil)
	// Red on the first run only, whatever the tree.
	v := b.claim(gates("echo x >> count; test $(wc -l < count) -gt 1"), files{"stock": "pears\n"}, nil).Verdict
	if v.Evidence != gate.EvidenceUnknown || !cmp.Equal(v.Flaky, []string{"a"}) {
		t.Errorf("verdict %+v (runs %q)", v, b.ran)
	}
}

func TestTestsInSourceFilesProveWork(t *testing.T) {
	t.Parallel()
	b := newBench(t, files{"lib.rs": "#[cfg(test)] mod tests {}\n"}, nil)
	v := b.claim(gates("true"), files{"lib.rs": "#[cfg(test)] mod tests { /* more */ }\n"}, nil).Verdict
	if v.Evidence != gate.EvidenceUnknown || !strings.Contains(v.Reason, "inside source files") {
		t.Errorf("verdict %+v", v)
	}
}

// A loop that begins in one shell is judged from others: what was red there when
// the task started is still known when the tree has gone.
func TestBaselineHoldsInAnotherShell(t *testing.T) {
	t.Parallel()
	b := newBench(t, files{"stock": "apples\n"}, nil)
	base, gs := b.tree(), gates("grep pears stock")
	if _, err := b.Baseline(t.Context(), base, gs, ""); err != nil {
		t.Fatal(err)
	}
	b.write(files{"stock": "pears\n"})
	o := b.Options
	o.UserEnv = append(slices.Clone(o.UserEnv), "ELSEWHERE=1")
	v, err := verify.New(o)
	if err != nil {
		t.Fatal(err)
	}
	f, err := v.Claim(t.Context(), verify.Request{Gates: gs, Base: base, Tree: b.tree()})
	if err != nil {
		t.Fatal(err)
	}
	if v := f.Verdict; v.Evidence != gate.Proven {
		t.Errorf("verdict %+v", v)
	}
}

func TestMissingBaselineIsRepeatedInTheOldTree(t *testing.T) {
	t.Parallel()
	b := newBench(t, redSuite(), nil)
	gs := gates("go test ./...")
	base := b.tree()
	seen, err := b.Run(t.Context(), gs, "")
	if err != nil {
		t.Fatal(err)
	}
	b.write(files{"calc.go": subtract})
	f, err := b.Claim(t.Context(), verify.Request{Gates: gs, Base: base, Tree: b.tree(), KnownBaseline: seen})
	if err != nil {
		t.Fatal(err)
	}
	// Nothing passed before, so that nothing shows that the worktree is fit to tell.
	if v := f.Verdict; v.Evidence != gate.EvidenceUnknown || len(v.Flaky) > 0 || !strings.Contains(v.Reason, "no clear result there a second time") {
		t.Errorf("verdict %+v", v)
	}
}

func TestBaselineIsRepeatedInTheWorkTree(t *testing.T) {
	t.Parallel()
	start := redSuite()
	start["ok_test.go"] = testFile("TestFine", "t.Log()")
	b := newBench(t, start, nil)
	gs := gates("go test ./...")
	base := b.tree()
	seen, err := b.Run(t.Context(), gs, "")
	if err != nil {
		t.Fatal(err)
	}
	b.write(files{"calc.go": subtract})
	f, err := b.Claim(t.Context(), verify.Request{Gates: gs, Base: base, Tree: b.tree(), KnownBaseline: seen})
	if err != nil {
		t.Fatal(err)
	}
	if v := f.Verdict; v.Evidence != gate.Proven || len(v.Flipped) != 2 {
		t.Errorf("verdict %+v", v)
	}
}

func TestAuditRunsACommitInACleanCheckout(t *testing.T) {
	t.Parallel()
	b := newBench(t, files{"stock": "apples\n"}, nil)
	head, err := b.repo.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	b.write(files{"stock": "pears\n"})
	for range 2 { // the second time, the answer is kept
		got, err := b.RunInCheckout(t.Context(), head, gates("grep apples stock", "grep pears stock"), "")
		if err != nil {
			t.Fatal(err)
		}
		if got[0].Status != gate.Pass || got[1].Status != gate.Fail {
			t.Errorf("results %+v", got)
		}
	}
	if diff := cmp.Diff([]string{"a", "b", "kept a", "kept b"}, b.ran); diff != "" {
		t.Errorf("runs (-want +got):\n%s", diff)
	}
}

func TestTicksKeepCachedResults(t *testing.T) {
	t.Parallel()
	b := newBench(t, files{"plan.md": "- [ ] one\n", "stock": "apples\n"}, func(o *verify.Options) {
		o.Marks = func() []string { return []string{"plan.md", "progress.md"} }
	})
	gs := gates("grep apples stock")
	before := b.tree()
	if _, err := b.Baseline(t.Context(), before, gs, ""); err != nil {
		t.Fatal(err)
	}
	ticked := files{"plan.md": "- [x] one\n", "progress.md": "one is done\n"}
	v := b.claim(gs, ticked, nil).Verdict
	if v.Evidence != gate.EvidenceUnknown || !strings.Contains(v.Reason, "nothing changed since") {
		t.Errorf("verdict %+v", v)
	}
	if diff := cmp.Diff([]string{"kept a", "kept a"}, b.ran); diff != "" {
		t.Errorf("runs (-want +got):\n%s", diff)
	}
	got, err := b.Baseline(t.Context(), b.tree(), gs, "")
	if err != nil {
		t.Fatal(err)
	}
	if got[0].Tree != before {
		t.Errorf("the result is of tree %s, it was gained on %s", got[0].Tree, before)
	}
}
