package gate

import "slices"

// passesAll reports whether the tests pass in r. The gate's name means the whole gate.
func (r Result) passesAll(tests []string) bool {
	return !slices.ContainsFunc(tests, func(id string) bool { return r.Tests[id] != Pass && (id != r.Gate || r.Status != Pass) })
}

// PassesAll reports whether every proving test passes in a run.
func (o Observation) PassesAll(run []Result) bool {
	o, run = o.withoutKnownFailures(), withoutTests(run, o.knownFailures())
	proving, some := o.provingTests(Decide(o)), false
	for _, r := range run {
		some = some || len(proving[r.Gate]) > 0
		if !r.passesAll(proving[r.Gate]) {
			return false
		}
	}
	return some
}

// provingTestsPass reports whether a gate has proving tests, and all pass in a probe.
func (w assessment) provingTestsPass(p Probe, name string) bool {
	return len(w.proving[name]) > 0 && w.probeResult(p, name).passesAll(w.proving[name])
}

// passingWithOtherValues returns the gates that pass with other values in the tests, but fail with
// failing tests.
func (w assessment) passingWithOtherValues(p Probe) []string {
	return filter(w.gateNames(), func(name string) bool {
		failing := w.probeResult(FailingTests, name)
		if w.probeResult(p, name).FailsWhere(resultOf(w.Now, name)) {
			return false // some test notices
		}
		return w.provingTestsPass(p, name) && failing.Status == Fail && !failing.passesAll(w.proving[name])
	})
}

// passesWith is for gates that pass in a probe in which they should fail.
func passesWith(p Probe, label, reason string) func(assessment, *Verdict) bool {
	passing := named(func(w assessment) []string { return w.passingWithOtherValues(p) }, label, reason)
	return func(w assessment, v *Verdict) bool {
		passes := passing(w, v)
		v.TestsCannotFail = v.TestsCannotFail || passes
		return passes
	}
}

// TestsProveNothing reports whether all gates pass, and no test proves the work.
func (v Verdict) TestsProveNothing() bool {
	return v.Status == Pass && v.Evidence == Unproven && (v.Remedy == "" || v.MutantsSurvived || len(v.TestsNotRun) > 0)
}
