package gate_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/pawl-dev/pawl/internal/core/gate"
)

// A test that fails before and after the work changes neither the evidence nor the requested runs,
// whether its runner reports all tests or only failed ones.
func TestKnownFailureChangesNoVerdict(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		o := drawObservation(t)
		changeResults(&o, failOnlyByTests)
		unknown := func(r gate.Result) bool { return r.Status == gate.Unknown }
		if len(o.Baseline) != len(o.Now) || some(slices.Concat(o.Baseline, o.Now), unknown) {
			t.Skip("what was red is not known")
		}
		drawAnswers(t, o)
		changeResults(&o, failOnlyByTests)
		crashes := rapid.Bool().Draw(t, "crashes")
		red := o
		red.Runs = maps.Clone(o.Runs)
		changeResults(&red, func(r gate.Result) gate.Result {
			if some(o.Now, func(now gate.Result) bool { return now.Gate == r.Gate }) {
				return addKnownFailure(r, crashes)
			}
			return r
		})

		v, got := gate.Decide(o), gate.Decide(red)
		same := cmpopts.IgnoreFields(gate.Verdict{}, "StillRed", "FullGreen", "Reason", "Labels", "Remedy")
		if diff := cmp.Diff(v, got, same); diff != "" {
			t.Errorf("verdict without and with an old red test:\n%s", diff)
		}
		if got.FullGreen && len(o.Now) > 0 {
			t.Error("full green with a red test")
		}
		if len(o.Now) > 0 && got.Status == gate.Pass && !slices.Contains(got.StillRed, "z.Old") {
			t.Errorf("still red: %q", got.StillRed)
		}
		p, gates := gate.NextProbe(o)
		q, others := gate.NextProbe(red)
		if p != q || !slices.Equal(gates, others) {
			t.Errorf("next %s %q, and with an old red test %s %q", p, gates, q, others)
		}
	})
}

// A gate without test IDs flips by the tests that turned green. Tests that still fail prove
// nothing.
func TestKnownFailureProvesNothing(t *testing.T) {
	t.Parallel()
	before := []gate.Result{{Gate: "tap", Status: gate.Fail, ExitCode: 1, Failing: []string{"a", "b", "c"}, Failed: 3}}
	after := []gate.Result{{Gate: "tap", Status: gate.Fail, ExitCode: 1, Failing: []string{"b", "c"}, Failed: 2, Passed: 1}}
	v := gate.Decide(gate.Observation{
		Gates: []gate.Gate{{Name: "tap"}}, Changed: true, Baseline: before, Now: after,
		Runs: map[gate.Probe]gate.Run{gate.RepeatBefore: {Results: before}, gate.RepeatClean: {Results: after}},
	})
	if v.Evidence != gate.Proven {
		t.Fatalf("%s: %s", v.Evidence, v.Reason)
	}
	if diff := cmp.Diff([]string{"a"}, v.Proofs(before)); diff != "" {
		t.Errorf("proofs:\n%s", diff)
	}
}

// A test that crashed before the work and crashes still hides the later tests of its group, before
// and after. What ran before the crash is compared as ever.
func TestKnownCrashHidesNoNewTest(t *testing.T) {
	t.Parallel()
	crash := func(tests map[string]gate.Status) gate.Result {
		tests["p.Crash"] = gate.Fail
		return gate.Result{Gate: "go", Status: gate.Fail, ExitCode: 1, Failing: []string{"p.Crash"}, Tests: tests, IncompleteGroups: []string{"p"}}
	}
	before := []gate.Result{crash(map[string]gate.Status{"p.Old": gate.Pass})}
	now := []gate.Result{crash(map[string]gate.Status{"p.New": gate.Pass, "p.Old": gate.Pass})}
	notBuilt := []gate.Result{{Gate: "go", Status: gate.Fail, ExitCode: 1, BuildFailed: true, IncompleteGroups: []string{"p"}}}
	o := gate.Observation{
		Gates: []gate.Gate{{Name: "go"}}, Changed: true, Baseline: before, Now: now, Tests: gate.TestChanges{New: []string{"new_test.go"}},
		Runs: map[gate.Probe]gate.Run{gate.RepeatClean: {Results: now}, gate.Control: {Results: before}, gate.Overlay: {Results: notBuilt}},
	}
	v := gate.Decide(o)
	if v.Evidence != gate.Proven || !slices.Equal(v.Proving, []string{"p.New"}) || v.FullGreen {
		t.Errorf("%s by %q, full green %v: %s", v.Evidence, v.Proving, v.FullGreen, v.Reason)
	}
	o.Now = []gate.Result{crash(map[string]gate.Status{"p.New": gate.Pass})}
	if v := gate.Decide(o); v.Status != gate.Fail {
		t.Errorf("an old test that does not run any more: %s, %s", v.Status, v.Reason)
	}
	first := gate.Result{Gate: "go", Status: gate.Fail, ExitCode: 1, Failing: []string{"p.Other"}, Tests: map[string]gate.Status{"p.Other": gate.Fail}, IncompleteGroups: []string{"p"}}
	o.Now = []gate.Result{first}
	if v := gate.Decide(o); v.Status != gate.Fail {
		t.Errorf("another test crashes first: %s, %s", v.Status, v.Reason)
	}
}

// changeResults changes every result of an observation.
func changeResults(o *gate.Observation, change func(gate.Result) gate.Result) {
	all := func(rs []gate.Result) []gate.Result {
		var out []gate.Result
		for _, r := range rs {
			out = append(out, change(r))
		}
		return out
	}
	o.Baseline, o.Now = all(o.Baseline), all(o.Now)
	for p, run := range o.Runs {
		run.Results = all(run.Results)
		o.Runs[p] = run
	}
}

// failOnlyByTests makes a result fail only by its named tests.
func failOnlyByTests(r gate.Result) gate.Result {
	r.TimedOut, r.IncompleteGroups = false, nil
	if r.Status == gate.Fail && len(r.Failing) == 0 {
		r.Failing = []string{"p.A"}
		if r.Tests != nil {
			r.Tests = maps.Clone(r.Tests)
			r.Tests["p.A"] = gate.Fail
		}
	}
	if len(r.Failing) > 0 && r.Status == gate.Pass {
		r.Status = gate.Fail
	}
	r.Failed = len(r.Failing)
	return r
}

// addKnownFailure adds a test that fails. If it crashes, later tests of its group do not run.
func addKnownFailure(r gate.Result, crashes bool) gate.Result {
	if r.Status == gate.Unknown {
		return r
	}
	if crashes && r.Tests != nil {
		r.IncompleteGroups = append(slices.Clip(r.IncompleteGroups), "z")
	}
	r.Status, r.Failing, r.Failed = gate.Fail, append(slices.Clip(r.Failing), "z.Old"), r.Failed+1
	if r.Tests != nil {
		r.Tests = maps.Clone(r.Tests)
		r.Tests["z.Old"] = gate.Fail
	}
	return r
}

// If a crash before the work hid tests, and another test fails now, the reason says so.
func TestReasonNamesGroupsThatDidNotFinish(t *testing.T) {
	t.Parallel()
	before := []gate.Result{{Gate: "go", Status: gate.Fail, ExitCode: 1, Failing: []string{"p.Crash"}, Tests: map[string]gate.Status{"p.Crash": gate.Fail}, IncompleteGroups: []string{"p"}}}
	now := []gate.Result{{
		Gate: "go", Status: gate.Fail, ExitCode: 1, Failing: []string{"p.Crash", "p.Late"}, IncompleteGroups: []string{"p"},
		Tests: map[string]gate.Status{"p.Crash": gate.Fail, "p.Late": gate.Fail, "p.New": gate.Pass},
	}}
	v := gate.Decide(gate.Observation{
		Gates: []gate.Gate{{Name: "go"}}, Changed: true, Baseline: before, Now: now, Tests: gate.TestChanges{New: []string{"new_test.go"}},
		Runs: map[gate.Probe]gate.Run{
			gate.Originals: {Results: before}, gate.RepeatClean: {Results: now}, gate.Control: {Results: before}, gate.Overlay: {Results: before},
		},
	})
	if want := "not all tests of these ran, because one crashed or the build failed: p"; !strings.Contains(v.Reason, want) {
		t.Errorf("%s: %s", v.Evidence, v.Reason)
	}
}
