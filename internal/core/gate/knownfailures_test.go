package gate_test

import (
	"maps"
	"slices"
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
		red := o
		red.Runs = maps.Clone(o.Runs)
		changeResults(&red, func(r gate.Result) gate.Result {
			if some(o.Now, func(now gate.Result) bool { return now.Gate == r.Gate }) {
				return addKnownFailure(r)
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

func addKnownFailure(r gate.Result) gate.Result {
	if r.Status == gate.Unknown {
		return r
	}
	r.Status, r.Failing, r.Failed = gate.Fail, append(slices.Clip(r.Failing), "z.Old"), r.Failed+1
	if r.Tests != nil {
		r.Tests = maps.Clone(r.Tests)
		r.Tests["z.Old"] = gate.Fail
	}
	return r
}
