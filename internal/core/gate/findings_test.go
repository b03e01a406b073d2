package gate

import (
	"maps"
	"strings"
	"testing"
)

// A demerit keeps a claim from being proven, unless the baseline had it too.
func TestDemeritOfRunPreventsProof(t *testing.T) {
	t.Parallel()
	run := func(s Status, a Status, masked bool) Result {
		return Result{Gate: "go", Status: s, Tests: map[string]Status{"p.A": a}, MasksFailures: masked, Warning: "its exit code is masked by `|| true`"}
	}
	for _, c := range []struct {
		name   string
		before bool // masked
		now    bool
		want   Evidence
		reason string
	}{
		{"nothing", false, false, Proven, "failed before this work and passes now: p.A"},
		{"a masked failure", false, true, Unproven, "go passes, but its exit code is masked by `|| true`; fix those tests, or make the exit code report them"},
		{"one that was there before", true, true, Proven, "failed before this work and passes now: p.A"},
	} {
		red, green := run(Fail, Fail, c.before), run(Pass, Pass, c.now)
		red.Failing = []string{"p.A"}
		v := Decide(Observation{
			Changed: true, Baseline: []Result{red}, Now: []Result{green},
			Runs: map[Probe]Run{RepeatBefore: {Results: []Result{red}}, RepeatClean: {Results: []Result{green}}},
		})
		if v.Status != Pass || v.Evidence != c.want || v.Reason != c.reason || (len(v.Flipped) > 0) != (c.want == Proven) {
			t.Errorf("%s: %+v", c.name, v)
		}
	}
}

// Work with a missing part is not proven.
func TestUnfinishedWorkIsNotProven(t *testing.T) {
	t.Parallel()
	red, green := []Result{{Gate: "go", Status: Fail}}, []Result{{Gate: "go", Status: Pass}}
	o := Observation{Changed: true, Baseline: red, Now: green, Runs: map[Probe]Run{RepeatBefore: {Results: red}, RepeatClean: {Results: green}}}
	if v := Decide(o); v.Evidence != Proven {
		t.Fatalf("%+v", v)
	}
	untested, lacking := o, o
	lacking.Work.Unfinished = []string{"store.py has no call that renames a file, locks or commits, and the task says atomic"}
	untested.Runs = maps.Clone(o.Runs)
	untested.Runs[ZeroParameters] = Run{Results: green, Untested: []string{"limit (pool.js:2)"}}
	for _, o := range []Observation{untested, lacking} {
		if v := Decide(o); v.Evidence != Unproven || v.Remedy == "" || len(v.Flipped) > 0 {
			t.Errorf("%+v", v)
		}
	}
}

// A run with parameters at their zero values is requested if it could change the verdict.
func TestZeroParameterProbeIsRequestedIfItMatters(t *testing.T) {
	t.Parallel()
	red, green := []Result{{Gate: "go", Status: Fail}}, []Result{{Gate: "go", Status: Pass}}
	o := Observation{Changed: true, Baseline: red, Now: green, Mutation: MutationFacts{Parameters: []string{"limit (pool.js:2)"}}, Runs: map[Probe]Run{RepeatBefore: {Results: red}, RepeatClean: {Results: green}}}
	if p, gates := NextProbe(o); p != ZeroParameters || len(gates) != 1 {
		t.Errorf("%s of %v", p, gates)
	}
	if !o.PassesAll(green) || o.PassesAll(red) || o.PassesAll(nil) {
		t.Error("what passes in a run is not what the claim would be believed for")
	}
	o.Now = red
	if p, _ := NextProbe(o); p != "" {
		t.Errorf("%s of work that does not pass", p)
	}
}

// New tests that pass on the overlay may pass because of gate inputs that the task changed. Inputs
// that an earlier task changed are part of the baseline tree.
func TestGateInputsOfEarlierTasksBelongToBaseline(t *testing.T) {
	t.Parallel()
	green := []Result{{Gate: "py", Status: Pass, Tests: map[string]Status{"A": Pass}}}
	inputs := []string{"pyproject.toml"}
	o := Observation{Changed: true, Baseline: green, Now: green, Tests: TestChanges{New: []string{"test_a.py"}}, Inputs: InputChanges{Changed: inputs, NonTests: inputs}, Runs: map[Probe]Run{}}
	for _, p := range []Probe{Originals, RepeatClean, Control, Overlay} {
		o.Runs[p] = Run{Results: green}
	}
	if v := Decide(o); v.Evidence != Unproven || v.Reason != "nothing new fails, but the new and changed tests pass without this work too: test_a.py" {
		t.Errorf("%+v", v)
	}
	o.Inputs.OwnNonTests = inputs
	if v := Decide(o); v.Evidence != Unproven || !strings.Contains(v.Reason, "alone: pyproject.toml") {
		t.Errorf("%+v", v)
	}
	o.Inputs.OwnNonTests, o.Tests.New, o.Tests.NewData = nil, []string{"b.txt"}, true
	if v := Decide(o); v.Evidence != Unproven || v.Reason != "nothing new fails, but everything also passes with these files alone: b.txt" { // no test
		t.Errorf("%+v", v)
	}
}
