package gate

import (
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/plan"
)

// passedClean reports whether the proving tests, or the baseline, passed in a clean checkout.
// Otherwise a failure there may not be the tree's.
func (o Observation) passedClean(name string, proving []string) bool {
	if o.baselineReproduced(resultOf(o.Baseline, name)) {
		return true
	}
	clean := o.probeResult(RepeatClean, name)
	return clean.Status == Pass || len(clean.Tests) > 0 && !slices.ContainsFunc(proving, func(id string) bool { return clean.Tests[id] != Pass })
}

// FailingNeutralized returns the proving tests that fail in a gate's result with signs neutralized.
// A timeout proves nothing. Nor does a failed build, unless the gate did not build before the work
// either: then it builds because of the signs.
func (o Observation) FailingNeutralized(proving []string, neutral Result) []string {
	o, neutral = o.withoutKnownFailures(), neutral.withoutTests(o.knownFailures()[neutral.Gate])
	if neutral.Status != Fail || neutral.TimedOut || neutral.BuildFailed && !resultOf(o.Baseline, neutral.Gate).BuildFailed {
		return nil
	}
	return filter(proving, func(id string) bool {
		s, ran := neutral.Tests[id]
		return id == neutral.Gate || s == Fail || !ran && neutral.inIncompleteGroup(id) || len(neutral.Tests) == 0
	})
}

// ProvingTests returns a gate's tests that would prove the claim.
func (o Observation) ProvingTests(gate string) []string {
	return o.withoutKnownFailures().provingTests(Decide(o))[gate]
}

// testsNeedingSigns returns the proving tests that fail twice with the signs neutralized.
func (w assessment) testsNeedingSigns() []string {
	var names []string
	for _, name := range w.gateNames() {
		once := w.FailingNeutralized(w.proving[name], w.probeResult(SignsNeutralized, name))
		names = append(names, w.FailingNeutralized(once, w.probeResult(SignsOneByOne, name))...)
	}
	return names
}

// passesOnlyBySigns rejects tests that pass only because of a sign.
func passesOnlyBySigns(w assessment, v *Verdict) bool {
	if !w.probed(SignsOneByOne) {
		return false
	}
	names := w.testsNeedingSigns()
	if len(names) == 0 {
		return false
	}
	because := w.Runs[SignsOneByOne].NeededSigns
	if len(because) == 0 {
		because = w.Work.Signs
	}
	signs := strings.Join(because[:min(len(because), maxSignsNamed)], ", and of ")
	v.Labels = append(v.Labels, "pass only because of "+signs)
	v.Reason = "the tests pass only because of " + signs + "; without that these fail: " + plan.Few(names, 4)
	return true
}

// maxSignsNamed bounds the signs in a reason.
const maxSignsNamed = 3
