package gate

import (
	"slices"
	"strings"
)

// neutralizable are the gates to run with the signs neutralized: those whose tests are
// what the work would be believed for, where a clean checkout was seen to show them.
func (o Observation) neutralizable() []string {
	if len(o.Signs) == 0 || o.answered(Neutral) {
		return nil
	}
	v := Judge(o)
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

// byASign are the tests that the work would be believed for and that fail with the
// signs neutralized. What does not build there, or times out, tells nothing.
func (o Observation) byASign(v Verdict) []string {
	var names []string
	for _, name := range o.gates() {
		neutral := o.answer(Neutral, name)
		if neutral.Status != Fail || neutral.BuildFailed || neutral.TimedOut {
			continue
		}
		for _, id := range o.proving(v, name) {
			switch s, ran := neutral.Tests[id]; {
			case id == name, s == Fail, !ran && neutral.cut(id), len(neutral.Tests) == 0:
				names = append(names, id)
			}
		}
	}
	return names
}

// bySignsOnly takes the word of tests that pass by a sign alone for none.
func bySignsOnly(w weighing, v *Verdict) bool {
	if !w.answered(Neutral) {
		return false
	}
	names := w.byASign(*v)
	if len(names) == 0 {
		return false
	}
	signs := strings.Join(w.Signs[:min(len(w.Signs), signsNamed)], ", and of ")
	v.Labels = append(v.Labels, "pass only because of "+signs)
	v.Reason = "the tests pass only because of " + signs + "; without that these fail, and have to pass: " + list(names)
	return true
}

// signsNamed bounds the signs in a reason.
const signsNamed = 3
