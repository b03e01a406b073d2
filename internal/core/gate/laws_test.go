package gate_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/pawl-dev/pawl/internal/core/gate"
)

var (
	statuses = rapid.SampledFrom([]gate.Status{gate.Pass, gate.Fail, gate.Unknown})
	verdicts = rapid.SampledFrom([]gate.Status{gate.Pass, gate.Fail})
	ids      = rapid.SampledFrom([]string{"p.A", "p.B", "q.C", "q.D"})
	files    = rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a_test.go", "b_test.go"}), 0, 2, rapid.ID[string])
	names    = []string{"unit", "lint"}
)

func drawResult(t *rapid.T, name string) gate.Result {
	r := gate.Result{Gate: name, Status: statuses.Draw(t, "status"), TimedOut: rapid.Bool().Draw(t, "timed out")}
	if rapid.Bool().Draw(t, "has ids") {
		r.Tests = rapid.MapOf(ids, verdicts).Draw(t, "tests")
		for id, s := range r.Tests {
			if s == gate.Fail {
				r.Failing = append(r.Failing, id)
			}
		}
		slices.Sort(r.Failing)
		r.IncompleteGroups = rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"p", "q", ""}), 0, 1, rapid.ID[string]).Draw(t, "incomplete")
	}
	return r
}

func drawResults(t *rapid.T) []gate.Result {
	var rs []gate.Result
	for _, n := range names[:rapid.IntRange(0, len(names)).Draw(t, "gates")] {
		rs = append(rs, drawResult(t, n))
	}
	return rs
}

func drawObservation(t *rapid.T) gate.Observation {
	return gate.Observation{
		Baseline: drawResults(t), Now: drawResults(t),
		Changed: rapid.Bool().Draw(t, "changed"),
		Inputs:  gate.InputChanges{Changed: files.Draw(t, "old"), Allowed: rapid.Bool().Draw(t, "allow")},
		Tests: gate.TestChanges{
			New: files.Draw(t, "new"), NewData: rapid.Bool().Draw(t, "new cases"), InlineChanged: rapid.Bool().Draw(t, "in source"),
			Added: rapid.MapOf(rapid.SampledFrom(names), rapid.SliceOfN(ids, 1, 2)).Draw(t, "added"),
		},
		Work: gate.WorkFacts{Signs: rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a.py:1, which ends"}), 0, 1, rapid.ID[string]).Draw(t, "signs")},
		Mutation: gate.MutationFacts{
			Functions: rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"A in a.go"}), 0, 1, rapid.ID[string]).Draw(t, "functions"),
			Possible:  rapid.Bool().Draw(t, "breakable"),
		},
		Runs: map[gate.Probe]gate.Run{},
	}
}

// drawAnswers answers all probes that Next requests, and checks that it ends.
func drawAnswers(t *rapid.T, o gate.Observation) {
	for n := 0; ; n++ {
		p, gates := gate.NextProbe(o)
		if p == "" {
			return
		}
		if _, again := o.Runs[p]; again || n > 19 || len(gates) == 0 {
			t.Fatalf("%s asked for with %q, again %v", p, gates, again)
		}
		run := gate.Run{Problem: "none"}
		if rapid.Bool().Draw(t, "possible") {
			run = gate.Run{Results: drawResults(t)}
		}
		o.Runs[p] = run
	}
}

// passedBefore reports whether a test or gate passed at the start. A gate that failed only by tests
// that fail still passed otherwise: these are ignored.
func passedBefore(o gate.Observation, name string) bool {
	for _, r := range o.Baseline {
		onlyKnown := len(r.Failing) > 0 && some(o.Now, func(now gate.Result) bool {
			return now.Gate == name && !slices.ContainsFunc(r.Failing, func(id string) bool { return !slices.Contains(now.Failing, id) })
		})
		if r.Tests[name] == gate.Pass || r.Gate == name && (r.Status == gate.Pass || onlyKnown) {
			return true
		}
	}
	return false
}

func some(rs []gate.Result, has func(gate.Result) bool) bool { return slices.ContainsFunc(rs, has) }

func TestVerdictsKeepInvariants(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		o := drawObservation(t)
		early := gate.Decide(o)
		drawAnswers(t, o)
		v := gate.Decide(o)

		if v.Status != early.Status || !cmp.Equal(v.Regressed, early.Regressed) {
			t.Errorf("a probe changed whether the tree stands: %+v, then %+v", early, v)
		}
		if early.Evidence.Satisfies(gate.Proven) {
			t.Errorf("proven before anything was repeated: %+v", early)
		}
		if v.Status == gate.Fail && len(v.Regressed) == 0 {
			t.Error("fail without anything broken")
		}
		for _, b := range v.Regressed {
			if !passedBefore(o, b) {
				t.Errorf("%s is called broken and did not pass before", b)
			}
		}
		unknown := some(o.Now, func(r gate.Result) bool { return r.Status == gate.Unknown })
		if unknown && v.Status == gate.Pass {
			t.Error("pass with a gate that could not tell")
		}
		if v.Evidence != gate.EvidenceUnknown && (v.Status != gate.Pass || !o.Changed || len(o.Now) == 0 || v.NeedsChangedInputs) {
			t.Errorf("evidence of nothing: %+v", v)
		}
		if v.Evidence == gate.Proven && len(v.Flipped)+len(v.Proving) == 0 {
			t.Error("proven, and nothing named that does")
		}
		for _, f := range v.Flipped {
			if passedBefore(o, f) && !slices.Contains(names, f) {
				only := some(o.Baseline, func(r gate.Result) bool { return r.Tests[f] == gate.Fail || r.Tests[f] == "" })
				if !only {
					t.Errorf("%s flipped and passed before", f)
				}
			}
		}
		if v.FullGreen && some(o.Now, func(r gate.Result) bool { return r.Status != gate.Pass }) {
			t.Error("full green with a gate that is not")
		}
		if v.Reason == "" {
			t.Error("no reason")
		}
	})
}

func TestUnknownResultNeverProves(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		o := drawObservation(t)
		for {
			p, _ := gate.NextProbe(o)
			if p == "" {
				break
			}
			rs := drawResults(t)
			for i := range rs {
				rs[i].Status = gate.Unknown
			}
			o.Runs[p] = gate.Run{Results: rs}
		}
		if v := gate.Decide(o); v.Evidence == gate.Proven {
			t.Errorf("proven by runs that gave no clear result: %+v", v)
		}
	})
}
