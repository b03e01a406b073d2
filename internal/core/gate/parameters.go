package gate

import "github.com/pawl-dev/pawl/internal/core/plan"

// nextParameterProbe requests runs with zero values for the task's new parameters, if the verdict
// would be proven.
func (o Observation) nextParameterProbe() (Probe, []string) {
	if len(o.NewParameters) == 0 {
		return "", nil
	}
	return o.probeProvingGates(ZeroParameters)
}

// nextSingleMutantProbe requests runs with one mutation each, if the verdict would be proven.
func (o Observation) nextSingleMutantProbe() (Probe, []string) {
	if len(o.MutationPoints) == 0 {
		return "", nil
	}
	return o.probeProvingGates(SingleMutants)
}

// probeProvingGates requests a probe of the proving gates, if the verdict would be proven.
func (o Observation) probeProvingGates(p Probe) (Probe, []string) {
	if o.probed(p) {
		return "", nil
	}
	v := Decide(o)
	if v.Status != Pass || v.Evidence != Proven {
		return "", nil
	}
	gates := filter(o.gateNames(), func(name string) bool { return len(o.provingTests(v, name)) > 0 })
	if len(gates) == 0 {
		return "", nil
	}
	return p, gates
}

// PassesAll reports whether every proving test passes in a run.
func (o Observation) PassesAll(run []Result) bool {
	o, run = o.withoutKnownFailures(), withoutTests(run, o.knownFailures())
	v := Decide(o)
	some := false
	for _, r := range run {
		proving := o.provingTests(v, r.Gate)
		some = some || len(proving) > 0
		if !r.passesAll(proving) {
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
	v.Reason = "the task names what no test looks at: " + plan.Few(names, 4) + "; with the zero value of its type in its place (of a text, another one) all tests pass as well; " +
		"a test that fails then would be enough"
	return true
}

// mutationsNotTested detects added conditions and functions that no test checks.
func mutationsNotTested(w assessment, v *Verdict) bool {
	names := w.Runs[SingleMutants].Untested
	if len(names) == 0 {
		return false
	}
	v.Labels = append(v.Labels, "not tested: "+plan.Few(names, 4))
	v.Reason = "no test notices when part of this work has no effect: " + plan.Few(names, 4) + "; a test that fails then would be enough"
	return true
}
