package gate

import (
	"maps"
	"strings"
	"testing"
)

// Tests that fail where a sign is neutralized passed because of the sign. Unclear results change
// nothing.
func TestTestsPassingBecauseOfSignProveNothing(t *testing.T) {
	t.Parallel()
	run := func(status, a, old Status) Result {
		return Result{Gate: "go", Status: status, Tests: map[string]Status{"p.A": a, "p.Old": old}}
	}
	red, green := run(Fail, Fail, Pass), run(Pass, Pass, Pass)
	red.Failing = []string{"p.A"}
	o := Observation{
		Changed: true, Baseline: []Result{red}, Now: []Result{green},
		Work: WorkFacts{Signs: []string{"app.py:12, which asks whether it is being tested", "app.py:20, which ends the process"}},
		Runs: map[Probe]Run{RepeatBefore: {Results: []Result{red}}, RepeatClean: {Results: []Result{green}}, Canary: {}, OtherExpected: {}},
	}
	if p, gates := NextProbe(o); p != SignsNeutralized || len(gates) != 1 {
		t.Fatalf("next is %q %v", p, gates)
	}
	if v := Decide(o); v.Evidence != Proven {
		t.Fatalf("without the answer: %+v", v)
	}
	for _, c := range []struct {
		name    string
		neutral Run
		want    Evidence
		because []string
	}{
		{"the test fails", Run{Results: []Result{red}}, Unproven, nil},
		{"by one sign", Run{Results: []Result{red}}, Unproven, []string{"app.py:20, which ends the process"}},
		{"the test is cut short", Run{Results: []Result{{Gate: "go", Status: Fail, IncompleteGroups: []string{"p"}}}}, Unproven, nil},
		{"all pass", Run{Results: []Result{green}}, Proven, nil},
		{"another test fails", Run{Results: []Result{run(Fail, Pass, Fail)}}, Proven, nil},
		{"it does not build", Run{Results: []Result{{Gate: "go", Status: Fail, BuildFailed: true, IncompleteGroups: []string{"p"}}}}, Proven, nil},
		{"it times out", Run{Results: []Result{{Gate: "go", Status: Fail, TimedOut: true, IncompleteGroups: []string{"p"}}}}, Proven, nil},
		{"the gate could not tell", Run{Results: []Result{{Gate: "go", Status: Unknown}}}, Proven, nil},
		{"there is no place", Run{Problem: "the disk is full"}, Proven, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			o := o
			o.Runs = maps.Clone(o.Runs)
			o.Runs[SignsNeutralized] = c.neutral
			if p, gates := NextProbe(o); (p == SignsOneByOne && len(gates) == 1) != (c.want == Unproven) {
				t.Errorf("next is %q %v", p, gates)
			}
			if v := Decide(o); v.Evidence != Proven {
				t.Errorf("seen once: %+v", v)
			}
			o.Runs[SignsOneByOne] = Run{Results: c.neutral.Results, NeededSigns: c.because}
			v := Decide(o)
			if v.Status != Pass || v.Evidence != c.want || (len(v.Flipped) > 0) != (c.want == Proven) {
				t.Errorf("%+v", v)
			}
			signs := "app.py:12, which asks whether it is being tested, and of app.py:20, which ends the process"
			if c.because != nil {
				signs = c.because[0]
			}
			reason := "the tests pass only because of " + signs + "; without that these fail: p.A"
			if c.want == Unproven && v.Reason != reason {
				t.Error(v.Reason)
			}
			if p, _ := NextProbe(o); p != "" {
				t.Errorf("next is %q", p)
			}
		})
	}
	// If the gate did not build before either, the sign makes it build.
	unbuilt := Result{Gate: "go", Status: Fail, BuildFailed: true}
	warned := Observation{
		Changed: true, Baseline: []Result{unbuilt}, Now: []Result{{Gate: "go", Status: Pass}}, Work: WorkFacts{Signs: o.Work.Signs},
		Runs: map[Probe]Run{
			RepeatBefore: {Results: []Result{unbuilt}}, RepeatClean: {Results: []Result{{Gate: "go", Status: Pass}}},
			SignsNeutralized: {Results: []Result{unbuilt}}, SignsOneByOne: {Results: []Result{unbuilt}},
		},
	}
	if v := Decide(warned); v.Evidence != Unproven || !strings.HasPrefix(v.Reason, "the tests pass only because of ") {
		t.Errorf("a build by a sign: %+v", v)
	}
	// A test that is flaky there proves nothing.
	flaky := o
	flaky.Runs = maps.Clone(o.Runs)
	flaky.Runs[SignsNeutralized], flaky.Runs[SignsOneByOne] = Run{Results: []Result{red}}, Run{Results: []Result{green}}
	if v := Decide(flaky); v.Evidence != Proven {
		t.Errorf("flaky: %+v", v)
	}
	// If the gate never passed in the clean checkout, its failure there says nothing about the
	// sign.
	unknown := o // the cases above still read o
	unknown.Runs = map[Probe]Run{RepeatBefore: {Results: []Result{red}}, RepeatClean: {Results: []Result{{Gate: "go", Status: Unknown}}}, RepeatAfter: {Results: []Result{green}}}
	if p, _ := NextProbe(unknown); p == SignsNeutralized {
		t.Error("neutralized where nothing was seen")
	}
}

func TestGateWithoutTestIDsPassingBecauseOfSignProvesNothing(t *testing.T) {
	t.Parallel()
	red, green := Result{Gate: "sh", Status: Fail}, Result{Gate: "sh", Status: Pass}
	o := Observation{
		Changed: true, Baseline: []Result{red}, Now: []Result{green}, Work: WorkFacts{Signs: []string{"lib.sh:2, which changes an assertion"}},
		Runs: map[Probe]Run{RepeatBefore: {Results: []Result{red}}, RepeatClean: {Results: []Result{green}}, SignsNeutralized: {Results: []Result{red}}, SignsOneByOne: {Results: []Result{red}}},
	}
	if v := Decide(o); v.Evidence != Unproven || !strings.HasPrefix(v.Reason, "the tests pass only because of lib.sh:2, which changes an assertion") {
		t.Errorf("%+v", v)
	}
}
