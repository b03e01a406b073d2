package gate

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMutantOutcomes(t *testing.T) {
	t.Parallel()
	ids := func(status Status, tests map[string]Status) Result {
		return Result{Gate: "go", Status: status, Tests: tests, Reason: "why"}
	}
	whole := ids(Pass, map[string]Status{"p.A": Pass, "p.B": Pass, "p.Old": Fail})
	for _, c := range []struct {
		name          string
		whole, broken Result
		want          MutantOutcome
		by            []string
	}{
		{"all pass", whole, whole, Survived, nil},
		{"a test fails", whole, ids(Fail, map[string]Status{"p.A": Fail, "p.B": Pass}), Killed, []string{"p.A"}},
		{"only what failed before fails", whole, Result{Gate: "go", Status: Pass, Tests: whole.Tests}, Survived, nil},
		{"a test crashes", whole, Result{Gate: "go", Status: Fail, Tests: map[string]Status{"p.A": Fail}, IncompleteGroups: []string{"p"}}, Crashed, nil},
		{"another package crashes", whole, Result{Gate: "go", Status: Fail, Tests: map[string]Status{"p.A": Fail}, IncompleteGroups: []string{"q"}}, Killed, []string{"p.A"}},
		{"it does not build", whole, Result{Gate: "go", Status: Fail, BuildFailed: true, IncompleteGroups: []string{"p"}}, Inconclusive, nil},
		{"it times out", whole, Result{Gate: "go", Status: Fail, TimedOut: true, Tests: map[string]Status{"p.A": Fail}}, Inconclusive, nil},
		{"it could not start", whole, ids(Unknown, nil), Inconclusive, nil},
		{"it was interrupted after a test had failed", whole, ids(Unknown, map[string]Status{"p.A": Fail}), Inconclusive, nil},
		{"no ids, red", Result{Gate: "go", Status: Pass}, Result{Gate: "go", Status: Fail}, Killed, []string{"go"}},
		{"no ids, it does not build", Result{Gate: "go", Status: Pass}, Result{Gate: "go", Status: Fail, BuildFailed: true}, Inconclusive, nil},
		{"no ids, none ran", Result{Gate: "go", Status: Pass, Passed: 3}, Result{Gate: "go", Status: Fail}, Inconclusive, nil},
		{"no ids, by number", Result{Gate: "go", Status: Pass, Passed: 3}, Result{Gate: "go", Status: Fail, Passed: 2, Failed: 1}, Killed, []string{"go"}},
		{"no ids, green", Result{Gate: "go", Status: Pass}, Result{Gate: "go", Status: Pass}, Survived, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, by, why := JudgeMutant([]Result{c.whole}, []Result{c.broken}, false)
			if got != c.want {
				t.Errorf("%s, not %s", got, c.want)
			}
			if diff := cmp.Diff(c.by, by); diff != "" {
				t.Error(diff)
			}
			if got == Killed && why != "" {
				t.Errorf("noticed, but %q", why)
			}
		})
	}
	// One gate that fails is enough.
	lint := Result{Gate: "lint", Status: Pass}
	got, by, _ := JudgeMutant([]Result{lint, whole}, []Result{{Gate: "lint", Status: Unknown}, ids(Fail, map[string]Status{"p.B": Fail})}, false)
	if got != Killed || len(by) != 1 {
		t.Errorf("%s by %v", got, by)
	}
	// If the mutated function equals the baseline's, its crash is the bug that was fixed.
	crash := Result{Gate: "go", Status: Fail, Tests: map[string]Status{"p.A": Fail}, IncompleteGroups: []string{"p"}}
	if got, by, _ := JudgeMutant([]Result{whole}, []Result{crash}, true); got != Killed || !slices.Equal(by, []string{"p.A"}) {
		t.Errorf("as before: %s by %v", got, by)
	}
}

// Tests that pass although nothing is left of the work are not evidence of it; one that
// does not pass, for whatever reason, is enough.
func TestTestsPassingOnMutantsProveNothing(t *testing.T) {
	t.Parallel()
	all := func(status Status, a, b Status) Result {
		return Result{Gate: "go", Status: status, Tests: map[string]Status{"p.A": a, "p.B": b, "p.Old": Pass}}
	}
	o := Observation{
		Changed: true, Mutation: MutationFacts{Possible: true}, Tests: TestChanges{New: []string{"a_test.go"}},
		Baseline: []Result{{Gate: "go", Status: Pass, Tests: map[string]Status{"p.Old": Pass}}},
		Now:      []Result{all(Pass, Pass, Pass)},
		Runs: map[Probe]Run{
			Control:     {Results: []Result{{Gate: "go", Status: Pass, Tests: map[string]Status{"p.Old": Pass}}}},
			Overlay:     {Results: []Result{{Gate: "go", Status: Fail, BuildFailed: true, IncompleteGroups: []string{"p"}}}},
			RepeatClean: {Results: []Result{all(Pass, Pass, Pass)}}, Canary: {}, OtherExpected: {},
		},
	}
	if p, gates := NextProbe(o); p != Mutants || len(gates) != 1 {
		t.Fatalf("next is %q %v", p, gates)
	}
	if v := Decide(o); v.Evidence != Proven {
		t.Fatalf("without the answer: %+v", v)
	}
	for _, c := range []struct {
		name   string
		broken Run
		want   Evidence
	}{
		{"all pass", Run{Results: []Result{all(Pass, Pass, Pass)}}, Unproven},
		{"the new ones pass, an old one does not", Run{Results: []Result{{Gate: "go", Status: Fail, Tests: map[string]Status{"p.A": Pass, "p.B": Pass, "p.Old": Fail}}}}, Unproven},
		{"one fails", Run{Results: []Result{all(Fail, Pass, Fail)}}, Proven},
		{"it does not build", Run{Results: []Result{{Gate: "go", Status: Fail, BuildFailed: true, IncompleteGroups: []string{"p"}}}}, Unproven},
		{"nothing of it can be broken", Run{NothingBuilt: true}, Unproven},
		{"one does not build, one fails", Run{Results: []Result{{Gate: "go", Status: Fail, BuildFailed: true, IncompleteGroups: []string{"q"}, Tests: map[string]Status{"p.A": Fail}}}}, Proven},
		{"the gate could not tell", Run{Results: []Result{{Gate: "go", Status: Unknown}}}, Proven},
		{"there is no place", Run{Problem: "the disk is full"}, Proven},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			o := o
			o.Runs = maps.Clone(o.Runs)
			o.Runs[Mutants] = c.broken
			v := Decide(o)
			if v.Status != Pass || v.Evidence != c.want || (len(v.Proving) > 0) != (c.want == Proven) {
				t.Errorf("%+v", v)
			}
			if p, _ := NextProbe(o); p != "" {
				t.Errorf("next is %q", p)
			}
			if o.Clean.ReproducedAtStart = []string{"go"}; !o.probeFailed(Mutants) {
				return
			}
			if v = Decide(o); v.Evidence != Unproven || !strings.Contains(v.Reason, "the gates gave no result: ") {
				t.Errorf("where a clean checkout showed the loop's start: %+v", v)
			}
		})
	}
}

// Tests that came in a source file, beside all that it held, prove the work if one of them
// notices that its functions are broken.
func TestInlineTestsFailingOnMutantsProveWork(t *testing.T) {
	t.Parallel()
	result := func(status Status, tests map[string]Status) []Result {
		return []Result{{Gate: "doc", Status: status, Tests: tests}}
	}
	for name, c := range map[string]struct {
		baseline, now, broken []Result
		lost                  bool
		want                  Evidence
	}{
		"the new one":                  {result(Pass, map[string]Status{"a": Pass}), result(Pass, map[string]Status{"a": Pass, "b": Pass}), result(Fail, map[string]Status{"a": Pass, "b": Fail}), false, Proven},
		"an old one only":              {result(Pass, map[string]Status{"a": Pass}), result(Pass, map[string]Status{"a": Pass, "b": Pass}), result(Fail, map[string]Status{"a": Fail, "b": Pass}), false, EvidenceUnknown},
		"a gate without ids":           {result(Pass, nil), result(Pass, nil), result(Fail, nil), false, Proven},
		"none":                         {result(Pass, nil), result(Pass, nil), result(Pass, nil), false, EvidenceUnknown},
		"one that was there is gone":   {result(Pass, nil), result(Pass, nil), result(Fail, nil), true, EvidenceUnknown},
		"what is broken did not build": {result(Pass, nil), result(Pass, nil), []Result{{Gate: "doc", Status: Fail, BuildFailed: true}}, false, EvidenceUnknown},
	} {
		o := Observation{Changed: true, Mutation: MutationFacts{Possible: true}, Tests: TestChanges{InlineChanged: true, OldInlineChanged: c.lost}, Baseline: c.baseline, Now: c.now, Runs: map[Probe]Run{}}
		if p, _ := NextProbe(o); (p == Mutants) == c.lost {
			t.Errorf("%s: next is %q", name, p)
		}
		o.Runs[Mutants] = Run{Results: c.broken}
		if v := Decide(o); v.Evidence != c.want || strings.Contains(v.Reason, "do not check it") != (name == "none") {
			t.Errorf("%s: %+v", name, v)
		}
	}
}

// New tests that do not run on the baseline tree (in a new package) prove nothing by passing, but
// by failing on mutants.
func TestNewTestsOfNewPackageMustFailOnMutants(t *testing.T) {
	t.Parallel()
	result := func(status Status, passed int) []Result {
		return []Result{{Gate: "cargo", Status: status, Passed: passed}}
	}
	o := Observation{
		Changed: true, Mutation: MutationFacts{Possible: true}, Tests: TestChanges{New: []string{"roman/tests/roman.rs"}}, Baseline: result(Pass, 1), Now: result(Pass, 2),
		Runs: map[Probe]Run{RepeatClean: {Results: result(Pass, 2)}, Control: {Results: result(Pass, 1)}, Overlay: {Results: result(Pass, 1)}},
	}
	if p, _ := NextProbe(o); p != Mutants {
		t.Errorf("next is %q", p)
	}
	if v := Decide(o); v.Evidence != EvidenceUnknown {
		t.Errorf("%+v", v)
	}
	for status, want := range map[Status]Evidence{Fail: Proven, Pass: EvidenceUnknown} {
		o.Runs[Mutants] = Run{Results: result(status, 1)}
		if v := Decide(o); v.Evidence != want {
			t.Errorf("broken %s: %+v", status, v)
		}
	}
}

// A new gate input may be a case that an old test reads. Laid over the baseline tree, it shows
// whether the work makes the difference.
func TestNewGateInputMayBeTestCase(t *testing.T) {
	t.Parallel()
	result := func(status Status, tests map[string]Status) []Result {
		return []Result{{Gate: "go", Status: status, Tests: tests}}
	}
	old := map[string]Status{"cases": Pass}
	o := Observation{
		Changed: true, Inputs: InputChanges{Changed: []string{"cases/new.json"}, NonTests: []string{"cases/new.json"}}, Baseline: result(Pass, old), Now: result(Pass, old),
		Runs: map[Probe]Run{RepeatClean: {Results: result(Pass, old)}, Originals: {Results: result(Pass, old)}, Control: {Results: result(Pass, old)}},
	}
	if p, _ := NextProbe(o); p != Overlay {
		t.Errorf("next is %q", p)
	}
	for status, want := range map[Status]Evidence{Fail: Proven, Pass: Unproven} {
		o.Runs[Overlay] = Run{Results: result(status, map[string]Status{"cases": status})}
		if v := Decide(o); v.Evidence != want {
			t.Errorf("laid over: %s: %+v", status, v)
		}
	}
}

// New tests of changed functions run on mutants first. If one of them fails there, the run of all
// tests on the overlay is not needed.
func TestNewTestsRunOnMutantsFirst(t *testing.T) {
	t.Parallel()
	run := func(tests map[string]Status) Run {
		return Run{Results: []Result{{Gate: "go", Status: Pass, Tests: tests}, {Gate: "lint", Status: Pass}}}
	}
	old, all := map[string]Status{"p.Old": Pass}, map[string]Status{"p.Old": Pass, "p.New": Pass}
	o := Observation{
		Changed: true, Mutation: MutationFacts{Functions: []string{"Sum in sum.go"}}, Tests: TestChanges{New: []string{"new_test.go"}},
		Baseline: run(old).Results, Now: run(all).Results, Runs: map[Probe]Run{RepeatClean: run(all)},
	}
	p, gates := NextProbe(o)
	if diff := cmp.Diff([]string{"go"}, gates); p != MutantsForNewTests || diff != "" {
		t.Fatalf("next is %q\n%s", p, diff)
	}
	if diff := cmp.Diff([]string{"p.New"}, o.ProbeTests(MutantsForNewTests)); diff != "" {
		t.Error(diff)
	}
	for name, c := range map[string]struct {
		broken Result
		next   Probe
		want   Evidence
	}{
		"it notices":          {Result{Gate: "go", Status: Fail, Tests: map[string]Status{"p.New": Fail}}, Canary, Proven},
		"it does not":         {Result{Gate: "go", Status: Pass, Tests: map[string]Status{"p.New": Pass}}, Control, EvidenceUnknown},
		"it crashes":          {Result{Gate: "go", Status: Fail, Tests: map[string]Status{"p.New": Fail}, IncompleteGroups: []string{"p"}}, Control, EvidenceUnknown},
		"it does not build":   {Result{Gate: "go", Status: Fail, BuildFailed: true, IncompleteGroups: []string{"p"}}, Control, EvidenceUnknown},
		"only an old one did": {Result{Gate: "go", Status: Fail, Tests: map[string]Status{"p.New": Pass, "p.Old": Fail}}, Control, EvidenceUnknown},
	} {
		o := o
		o.Runs = maps.Clone(o.Runs)
		o.Runs[MutantsForNewTests] = Run{Results: []Result{c.broken}}
		if p, _ := NextProbe(o); p != c.next {
			t.Errorf("%s: next is %q", name, p)
		}
		if v := Decide(o); v.Evidence != c.want {
			t.Errorf("%s: %+v", name, v)
		}
	}
	for name, change := range map[string]func(*Observation){
		"an old test was changed": func(o *Observation) { o.Inputs.Changed = []string{"old_test.go"} },
		"an old test does not pass": func(o *Observation) {
			o.Inputs.Changed, o.Inputs.Allowed = []string{"old_test.go"}, true
			o.Runs = maps.Clone(o.Runs)
			o.Runs[Originals] = Run{Results: []Result{{Gate: "go", Status: Fail, Tests: map[string]Status{"p.Old": Fail}}, {Gate: "lint", Status: Pass}}}
		},
		"a gate was red before":    func(o *Observation) { o.Baseline = []Result{{Gate: "go", Status: Fail}} },
		"no function was changed":  func(o *Observation) { o.Mutation.Functions = nil },
		"the gate reports no test": func(o *Observation) { o.Now = []Result{{Gate: "go", Status: Pass}} },
	} {
		o := o
		change(&o)
		if p, _ := NextProbe(o); p == MutantsForNewTests {
			t.Errorf("%s: next is %q", name, p)
		}
	}
	o.Inputs.Changed = []string{"old_test.go"} // a test was added to it
	o.Runs[Originals] = run(old)
	if p, _ := NextProbe(o); p != MutantsForNewTests {
		t.Errorf("the old tests pass: next is %q", p)
	}
}

// Without test IDs, new tests are known by the names in their files, and failures by the names in
// the output.
func TestNewTestsWithoutIDsAreMatchedByName(t *testing.T) {
	t.Parallel()
	run := func(status Status, failing ...string) Run {
		return Run{Results: []Result{{Gate: "py", Status: status, Passed: 1, Failed: len(failing), Failing: failing}, {Gate: "lint", Status: Pass}}}
	}
	o := Observation{
		Changed: true, Mutation: MutationFacts{Possible: true, Functions: []string{"add in calc.py"}}, Tests: TestChanges{New: []string{"test_add.py"}, Added: map[string][]string{"py": {"TestAdd > test_add"}}},
		Baseline: run(Pass).Results, Now: run(Pass).Results, Runs: map[Probe]Run{RepeatClean: run(Pass)},
	}
	p, gates := NextProbe(o)
	if diff := cmp.Diff([]string{"py"}, gates); p != MutantsForNewTests || diff != "" {
		t.Fatalf("next is %q\n%s", p, diff)
	}
	if diff := cmp.Diff([]string{"TestAdd > test_add"}, o.ProbeTests(MutantsForNewTests)); diff != "" {
		t.Error(diff)
	}
	for name, c := range map[string]struct {
		broken Run
		next   Probe
		want   Evidence
	}{
		"it notices":                {run(Fail, "test_add.TestAdd.test_add (n=1)"), Canary, Proven},
		"it does not":               {run(Pass), Control, EvidenceUnknown},
		"another does":              {run(Fail, "test_add.TestAdd.test_add_more"), Control, EvidenceUnknown},
		"its file cannot be loaded": {run(Fail, "test_add"), Control, EvidenceUnknown},
		"nothing is named":          {run(Fail), Control, EvidenceUnknown},
	} {
		o := o
		o.Runs = maps.Clone(o.Runs)
		o.Runs[MutantsForNewTests] = c.broken
		if p, _ := NextProbe(o); p != c.next {
			t.Errorf("%s: next is %q", name, p)
		}
		if v := Decide(o); v.Evidence != c.want {
			t.Errorf("%s: %+v", name, v)
		}
	}
}

func TestTestNamesMatchReportedIDs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		told, test string
		want       bool
	}{
		{"test_calc.py::test_add", "test_add", true},
		{"test_calc.py::TestAdd::test_add[1-2]", "TestAdd > test_add", true},
		{"test_calc.TestAdd.test_add (n=1)", "TestAdd > test_add", true},
		{"TestAdd/a case", "TestAdd", true},
		{"sums > adds a.b", "sums > adds a.b", true},
		{"adds a.b", "sums > adds a.b", true},
		{"tests::adds", "adds", true},
		{"sums > adds 1 to 2", "sums > adds ${a} to ${b + 1}", true},
		{"adds 1", "adds %i", true},
		{"adds", "adds %i", false},
		{"test_calc.py::test_add_more", "test_add", false},
		{"test_calc.py::my_test_add", "test_add", false},
		{"test_add", "test_add_more", false},
	} {
		if got := MatchesTestName(c.told, c.test); got != c.want {
			t.Errorf("%q for %q: %v", c.told, c.test, got)
		}
	}
}

// If a test run alone also fails without a mutant, its failure on mutants proves nothing. Then the
// whole gate runs on the overlay.
func TestNewTestFailingAloneProvesNothingOnMutants(t *testing.T) {
	t.Parallel()
	run := func(tests map[string]Status) Run {
		return Run{Results: []Result{{Gate: "go", Status: Pass, Tests: tests}}}
	}
	red := func(tests map[string]Status, failing ...string) Run {
		return Run{Results: []Result{{Gate: "go", Status: Fail, Tests: tests, Failing: failing}}, CanaryTests: []CanaryTest{{Name: "Canary"}}}
	}
	all := run(map[string]Status{"p.Old": Pass, "p.New": Pass})
	for name, c := range map[string]struct {
		canary Run
		next   Probe
		want   Evidence
	}{
		"it passes there":     {red(map[string]Status{"p.New": Pass, "p.Canary": Fail}, "p.Canary"), "", Proven},
		"it fails there":      {red(map[string]Status{"p.New": Fail, "p.Canary": Fail}, "p.Canary", "p.New"), Control, EvidenceUnknown},
		"nothing is known":    {Run{Problem: "no place for a canary"}, Control, EvidenceUnknown},
		"it could not be run": {Run{Results: []Result{{Gate: "go", Status: Fail, BuildFailed: true}}}, Control, EvidenceUnknown},
	} {
		o := Observation{
			Changed: true, Mutation: MutationFacts{Possible: true, Functions: []string{"Sum in sum.go"}}, Tests: TestChanges{New: []string{"new_test.go"}},
			Baseline: run(map[string]Status{"p.Old": Pass}).Results, Now: all.Results,
			Runs: map[Probe]Run{RepeatClean: all, MutantsForNewTests: red(map[string]Status{"p.New": Fail}, "p.New"), Canary: c.canary, OtherExpected: {}},
		}
		if p, _ := NextProbe(o); p != c.next {
			t.Errorf("%s: next is %q", name, p)
		}
		if v := Decide(o); v.Evidence != c.want {
			t.Errorf("%s: %+v", name, v)
		}
	}
}

// A gate without test IDs needs no canary if it fails on mutants.
func TestMutantReplacesCanaryWithoutIDs(t *testing.T) {
	t.Parallel()
	result := func(s Status) Run { return Run{Results: []Result{{Gate: "sh", Status: s}}} }
	o := Observation{
		Changed: true, Mutation: MutationFacts{Possible: true, Functions: []string{"Sum in sum.go"}}, Tests: TestChanges{New: []string{"new_test.sh"}},
		Baseline: result(Pass).Results, Now: result(Pass).Results,
		Runs: map[Probe]Run{RepeatClean: result(Pass), Control: result(Pass), Overlay: result(Fail), Mutants: result(Fail), OtherExpected: {}},
	}
	if p, _ := NextProbe(o); p != "" {
		t.Errorf("next is %q", p)
	}
	o.Mutation.Possible = false
	delete(o.Runs, Mutants)
	if p, _ := NextProbe(o); p != Canary {
		t.Errorf("never broken: next is %q", p)
	}
}
