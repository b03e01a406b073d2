package gate

import (
	"maps"
	"strings"
	"testing"
)

// canaryTests returns two tests with the token of a tree in their names.
func canaryTests(token string) []CanaryTest {
	return []CanaryTest{
		{Name: "test_" + token + "_1", Assertion: "assertEqual", File: "test_a.py"},
		{Name: "test_" + token + "_2", Assertion: "assert", File: "test_a.py"},
	}
}

// A gate that does not report a test that must fail proves nothing by passing, if it reported that
// test on the baseline tree.
func TestUnreportedCanaryProvesNothing(t *testing.T) {
	t.Parallel()
	ids := func(status Status, tests map[string]Status) Result {
		return Result{Gate: "go", Status: status, Tests: tests}
	}
	said := func(status Status, failing ...string) Result {
		return Result{Gate: "go", Status: status, Failing: failing}
	}
	both := map[string]Status{"t.A": Pass, "t.test_now_1": Fail, "t.test_now_2": Fail}
	one := map[string]Status{"t.A": Pass, "t.test_now_1": Pass, "t.test_now_2": Fail}
	then := ids(Fail, map[string]Status{"t.test_then_1": Fail, "t.test_then_2": Fail})
	for _, c := range []struct {
		name        string
		named       bool // the gate has test IDs
		now, before Result
		asked       bool // requested for the baseline tree
		want        Evidence
		label       string
	}{
		{"both are reported", true, ids(Fail, both), Result{}, false, Proven, ""},
		{"none is", true, ids(Pass, map[string]Status{"t.A": Pass}), then, true, Unproven, "canary not reported: go"},
		{"one passes", true, ids(Fail, one), then, true, Unproven, "canary not reported: go"},
		{"one is not run before either", true, ids(Fail, map[string]Status{"t.test_now_2": Fail}), ids(Fail, map[string]Status{"t.test_then_2": Fail}), true, Proven, ""},
		{"none is before either", true, ids(Pass, map[string]Status{"t.A": Pass}), ids(Pass, nil), true, Proven, "canary not applicable: go"},
		{"one that is printed", true, Result{Gate: "go", Status: Pass, Tests: map[string]Status{"t.A": Pass}, Failing: []string{"test_now_1", "test_now_2"}}, then, true, Unproven, "canary not reported: go"},
		{"it does not build", true, Result{Gate: "go", Status: Fail, BuildFailed: true}, Result{}, false, Proven, ""},
		{"it crashes", true, Result{Gate: "go", Status: Fail, IncompleteGroups: []string{"t"}}, Result{}, false, Proven, ""},
		{"it times out", true, Result{Gate: "go", Status: Fail, TimedOut: true}, Result{}, false, Proven, ""},
		{"it could not tell", true, ids(Unknown, nil), Result{}, false, Proven, ""},
		{"no ids, red", false, said(Fail), Result{}, false, Proven, ""},
		{"no ids, both", false, said(Fail, "test_now_1", "x.test_now_2 (x)"), Result{}, false, Proven, ""},
		{"no ids, told in the output", false, Result{Gate: "go", Status: Fail, Tail: "test_now_1: FAIL\ntest_now_2: FAIL"}, Result{}, false, Proven, ""},
		{"no ids, one", false, said(Fail, "test_now_2"), said(Fail, "test_then_1", "test_then_2"), true, Unproven, "canary not reported: go"},
		{"no ids, green", false, said(Pass), said(Fail, "test_then_1"), true, Unproven, "canary not reported: go"},
		{"no ids, green, red before by something else", false, said(Pass), said(Fail, "test_old"), true, Proven, "canary not applicable: go"},
		{"no ids, green, green before", false, said(Pass), said(Pass), true, Proven, "canary not applicable: go"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			o := Observation{
				Changed:  true,
				Baseline: []Result{{Gate: "go", Status: Fail}},
				Now:      []Result{{Gate: "go", Status: Pass}},
			}
			if c.named {
				o.Baseline[0].Tests, o.Now[0].Tests = map[string]Status{"t.A": Fail}, map[string]Status{"t.A": Pass}
				o.Baseline[0].Failing = []string{"t.A"}
			}
			o.Runs = map[Probe]Run{RepeatBefore: {Results: o.Baseline}, RepeatClean: {Results: o.Now}, OtherExpected: {}}
			if p, gates := NextProbe(o); p != Canary || len(gates) != 1 {
				t.Fatalf("next is %q %v", p, gates)
			}
			o.Runs[Canary] = Run{Results: []Result{c.now}, CanaryTests: canaryTests("now")}
			p, _ := NextProbe(o)
			if asked := p == CanaryBefore; asked != c.asked {
				t.Fatalf("next is %q", p)
			}
			if v := Decide(o); v.Evidence != Proven {
				t.Errorf("before the answer: %+v", v)
			}
			if c.asked {
				o.Runs[CanaryBefore] = Run{Results: []Result{c.before}, CanaryTests: canaryTests("then")}
			}
			v := Decide(o)
			if v.Status != Pass || v.Evidence != c.want || len(v.Flipped) > 0 != (c.want == Proven) {
				t.Errorf("%+v", v)
			}
			if labels := strings.Join(v.Labels, "; "); !strings.HasPrefix(labels, c.label) || c.label == "" && labels != "" {
				t.Errorf("labels %q", labels)
			}
			if o.Clean.ReproducedAtStart = []string{"go"}; c.now.Status == Unknown {
				if v := Decide(o); v.Evidence != EvidenceUnknown || !strings.Contains(v.Reason, "gave no result with a test beside them that must fail") {
					t.Errorf("where a clean checkout showed the loop's start: %+v", v)
				}
			}
			if told := strings.HasPrefix(v.Reason, "the gate does not report a test that must fail: "); told != (c.want == Unproven) {
				t.Error(v.Reason)
			}
			if p, _ := NextProbe(o); p != "" {
				t.Errorf("then %q", p)
			}
		})
	}
}

// No canary is requested if the verdict is not proven, and none is missing if there is no place for
// it.
func TestCanaryIsRequestedOnlyForProvenVerdict(t *testing.T) {
	t.Parallel()
	o := Observation{
		Changed:  true,
		Baseline: []Result{{Gate: "go", Status: Pass}}, Now: []Result{{Gate: "go", Status: Pass}},
	}
	if p, _ := NextProbe(o); p != "" {
		t.Errorf("unproven: next is %q", p)
	}
	red := []Result{{Gate: "go", Status: Fail}}
	o.Baseline, o.Runs = red, map[Probe]Run{RepeatBefore: {Results: red}, RepeatClean: {Results: o.Now}, OtherExpected: {}}
	o.Runs = maps.Clone(o.Runs)
	o.Runs[Canary] = Run{Problem: "there is no test file"}
	if p, _ := NextProbe(o); p != "" {
		t.Errorf("no place: next is %q", p)
	}
	if v := Decide(o); v.Evidence != Proven || len(v.Labels) > 0 {
		t.Errorf("no place: %+v", v)
	}
}

// New tests that pass without the work prove nothing. If no gate runs them, the reason says so,
// because the agent cannot write a test that counts.
func TestReasonSaysThatNoGateRunsNewTests(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		canary Result
		file   string
		notRun bool
	}{
		{"a failing test beside them goes unnoticed", Result{Gate: "make", Status: Pass}, "test_a.py", true},
		{"the gate turns red", Result{Gate: "make", Status: Fail, Tail: "test_now_1"}, "test_a.py", false},
		{"the gate names it and passes", Result{Gate: "make", Status: Pass, Tests: map[string]Status{"t.test_now_1": Fail}}, "test_a.py", false},
		{"the gate gives no result", Result{Gate: "make", Status: Unknown}, "test_a.py", false},
		{"it stands beside another file", Result{Gate: "make", Status: Pass}, "test_b.py", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			passes := []Result{{Gate: "make", Status: Pass}}
			o := Observation{
				Changed: true, Tests: TestChanges{New: []string{c.file}}, Baseline: passes, Now: passes,
				Runs: map[Probe]Run{RepeatClean: {Results: passes}, Control: {Results: passes}, Overlay: {Results: passes}},
			}
			if p, gates := NextProbe(o); p != Canary || len(gates) != 1 {
				t.Fatalf("next is %q %v", p, gates)
			}
			o.Runs[Canary] = Run{Results: []Result{c.canary}, CanaryTests: canaryTests("now")}
			if p, _ := NextProbe(o); p != "" {
				t.Errorf("next is %q", p)
			}
			v := Decide(o)
			if told := strings.HasPrefix(v.Reason, "no gate runs the new tests: a failing test put into test_a.py is not noticed by make"); told != c.notRun || v.Evidence != Unproven || (len(v.TestsNotRun) > 0) != c.notRun {
				t.Errorf("%+v", v)
			}
		})
	}
}
