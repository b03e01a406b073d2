package gate

import (
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/plan"
)

// neutralizable are the gates to run with the signs neutralized: those whose tests are
// what the work would be believed for, where a clean checkout was seen to show them.
func (o Observation) neutralizable() []string {
	if len(o.Signs) == 0 || o.answered(Neutral) {
		return nil
	}
	v := Decide(o)
	if v.Status != Pass || v.Evidence != Proven {
		return nil
	}
	return kept(o.gates(), func(name string) bool {
		proving := o.proving(v, name)
		return len(proving) > 0 && o.shownClean(name, proving)
	})
}

// shownClean: what a gate proves was seen to pass in a clean checkout, or the baseline
// was, so that a failure there is the tree's.
func (o Observation) shownClean(name string, proving []string) bool {
	if o.placed(find(o.Baseline, name)) {
		return true
	}
	clean := o.answer(RepeatClean, name)
	return clean.Status == Pass || len(clean.Tests) > 0 && !slices.ContainsFunc(proving, func(id string) bool { return clean.Tests[id] != Pass })
}

// blamed are the gates to run once more with the signs neutralized: those in which tests
// failed there. A test that is flaky fails once.
func (o Observation) blamed() []string {
	if !o.answered(Neutral) || o.answered(RepeatNeutral) {
		return nil
	}
	v := Decide(o)
	if v.Status != Pass || v.Evidence != Proven {
		return nil
	}
	return kept(o.gates(), func(name string) bool { return len(o.FailsNeutral(o.proving(v, name), o.answer(Neutral, name))) > 0 })
}

// FailsNeutral returns those of a gate's tests that fail in its result with signs
// neutralized. What times out there tells nothing, nor what does not build, unless the gate
// did not build before the work either: then the signs are what makes it build.
func (o Observation) FailsNeutral(proving []string, neutral Result) []string {
	o, neutral = o.withoutOldRed(), neutral.leaveOut(o.oldRed()[neutral.Gate])
	if neutral.Status != Fail || neutral.TimedOut || neutral.BuildFailed && !find(o.Baseline, neutral.Gate).BuildFailed {
		return nil
	}
	return kept(proving, func(id string) bool {
		s, ran := neutral.Tests[id]
		return id == neutral.Gate || s == Fail || !ran && neutral.cut(id) || len(neutral.Tests) == 0
	})
}

// Proving are the tests of a gate that a claim would be believed for.
func (o Observation) Proving(gate string) []string { return o.withoutOldRed().proving(Decide(o), gate) }

// byASign are the tests that the work would be believed for and that fail with the
// signs neutralized, twice.
func (o Observation) byASign(v Verdict) []string {
	var names []string
	for _, name := range o.gates() {
		once := o.FailsNeutral(o.proving(v, name), o.answer(Neutral, name))
		names = append(names, o.FailsNeutral(once, o.answer(RepeatNeutral, name))...)
	}
	return names
}

// bySignsOnly takes the word of tests that pass by a sign alone for none.
func bySignsOnly(w weighing, v *Verdict) bool {
	if !w.answered(RepeatNeutral) {
		return false
	}
	names := w.byASign(*v)
	if len(names) == 0 {
		return false
	}
	because := w.Answers[RepeatNeutral].Because
	if len(because) == 0 {
		because = w.Signs
	}
	signs := strings.Join(because[:min(len(because), signsNamed)], ", and of ")
	v.Labels = append(v.Labels, "pass only because of "+signs)
	v.Reason = "the tests pass only because of " + signs + "; without that these fail, and have to pass: " + plan.Few(names, 4)
	return true
}

// signsNamed bounds the signs in a reason.
const signsNamed = 3
