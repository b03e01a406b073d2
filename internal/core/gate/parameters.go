package gate

import "github.com/pawl-dev/pawl/internal/core/plan"

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

// parametersNotTested detects new parameters, named by the task, that no test checks.
func parametersNotTested(w assessment, v *Verdict) bool {
	names := w.Runs[ZeroParameters].Untested
	if len(names) == 0 {
		return false
	}
	v.Labels = append(v.Labels, "not tested: "+plan.Few(names, 4))
	v.Reason = "the task names parameters that no test checks: " + plan.Few(names, 4) + "; with the zero value of its type in its place (of a text, another one; of a number of which some are refused, a large one) all tests still pass"
	return true
}

// mutationsNotTested detects added conditions and functions that no test checks.
func mutationsNotTested(w assessment, v *Verdict) bool {
	names := w.Runs[SingleMutants].Untested
	if len(names) == 0 {
		return false
	}
	v.Labels = append(v.Labels, "not tested: "+plan.Few(names, 4))
	v.Reason = "no test notices when part of this work has no effect: " + plan.Few(names, 4)
	return true
}
