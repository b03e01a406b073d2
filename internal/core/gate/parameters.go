package gate

import "github.com/pawl-dev/pawl/internal/core/plan"

// nextParameters asks for the run in which what the task names and the work takes has the
// zero value of its type, where the verdict would be proven.
func (o Observation) nextParameters() (Probe, []string) {
	if len(o.Parameters) == 0 {
		return "", nil
	}
	return o.nextOnProving(ZeroParameters)
}

// nextOneByOne asks for the run in which things that the work added have no effect, one
// after the other, where the verdict would be proven.
func (o Observation) nextOneByOne() (Probe, []string) {
	if len(o.Pieces) == 0 {
		return "", nil
	}
	return o.nextOnProving(OneByOne)
}

// nextOnProving asks for a run of the gates that prove, where the verdict would be proven.
func (o Observation) nextOnProving(p Probe) (Probe, []string) {
	if o.answered(p) {
		return "", nil
	}
	v := Decide(o)
	if v.Status != Pass || v.Evidence != Proven {
		return "", nil
	}
	gates := kept(o.gates(), func(name string) bool { return len(o.proving(v, name)) > 0 })
	if len(gates) == 0 {
		return "", nil
	}
	return p, gates
}

// PassesAll reports whether everything that a claim would be believed for passes in a run.
func (o Observation) PassesAll(run []Result) bool {
	o, run = o.withoutOldRed(), leaveOut(run, o.oldRed())
	v := Decide(o)
	some := false
	for _, r := range run {
		proving := o.proving(v, r.Gate)
		some = some || len(proving) > 0
		if !r.passesAll(proving) {
			return false
		}
	}
	return some
}

// untestedParameters reports what the task names and no test looks at.
func untestedParameters(w weighing, v *Verdict) bool {
	names := w.Answers[ZeroParameters].Untested
	if len(names) == 0 {
		return false
	}
	v.Labels = append(v.Labels, "not tested: "+plan.Few(names, 4))
	v.Reason = "the task names what no test looks at: " + plan.Few(names, 4) + "; with the zero value of its type in its place (of a text, another one) all tests pass as well; " +
		"a test that fails then would be enough"
	return true
}

// untestedPieces reports what the work added and no test looks at.
func untestedPieces(w weighing, v *Verdict) bool {
	names := w.Answers[OneByOne].Untested
	if len(names) == 0 {
		return false
	}
	v.Labels = append(v.Labels, "not tested: "+plan.Few(names, 4))
	v.Reason = "no test notices when part of this work has no effect: " + plan.Few(names, 4) + "; a test that fails then would be enough"
	return true
}
