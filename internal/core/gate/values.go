package gate

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/regex"
)

// nextValues asks for runs whose tests have other values in them, where the verdict
// would be proven, and for what tells whether a gate runs these tests where it passes.
func (o Observation) nextValues() (Probe, []string) {
	if !o.Values || o.answered(FailingTests) {
		return "", nil
	}
	v := Decide(o)
	if v.Status != Pass || v.Evidence != Proven {
		return "", nil
	}
	gates := kept(o.gates(), func(name string) bool {
		proving := o.proving(v, name)
		return len(proving) > 0 && o.shownClean(name, proving)
	})
	if len(gates) == 0 {
		return "", nil
	}
	still := func(p Probe) func(name string) bool {
		return func(name string) bool { return o.passesStill(p, v, name) }
	}
	for _, next := range []struct {
		probe  Probe
		wanted bool
	}{
		{OtherExpected, true},
		{OtherInputs, o.Answering},
		{MixedInputs, slices.ContainsFunc(gates, still(OtherInputs))},
		{CloseInputs, len(o.Held) > 0},
		{CloserInputs, len(o.Held) > 0},
	} {
		if next.wanted && !o.answered(next.probe) {
			return next.probe, gates
		}
	}
	gates = kept(gates, func(name string) bool { return still(OtherExpected)(name) || still(MixedInputs)(name) })
	if len(gates) == 0 {
		return "", nil
	}
	return FailingTests, gates
}

// passesStill reports whether all passes in a probe that a gate would be believed for.
func (o Observation) passesStill(p Probe, v Verdict, name string) bool {
	proving := o.proving(v, name)
	return len(proving) > 0 && o.answer(p, name).passesAll(proving)
}

// passesAll reports whether some tests pass in a run; the gate's name stands for all.
func (r Result) passesAll(tests []string) bool {
	return !slices.ContainsFunc(tests, func(id string) bool { return r.Tests[id] != Pass && (id != r.Gate || r.Status != Pass) })
}

// indifferent are the gates that pass in a probe with other values in the tests, and do
// not pass without these.
func (w weighing) indifferent(p Probe, v *Verdict) []string {
	if !w.answered(FailingTests) {
		return nil
	}
	return kept(w.gates(), func(name string) bool {
		return w.passesStill(p, *v, name) && w.answer(FailingTests, name).Status == Fail && !w.passesStill(FailingTests, *v, name)
	})
}

// expectsAnything takes the word of tests for none that pass whatever they expect.
func expectsAnything(w weighing, v *Verdict) bool {
	return w.passesAnyway(v, OtherExpected, "passes whatever is expected: ",
		"the tests pass whatever they expect: with other values in them, each wrong, %s passes as well; "+
			"code that ends the process, reads the tests or makes comparisons pass does that. Take that out: then the tests count")
}

// ignoresInputs takes the word of tests for none whose answers do not depend on what is
// asked.
func ignoresInputs(w weighing, v *Verdict) bool {
	return w.passesAnyway(v, MixedInputs, "passes whatever is asked: ",
		"the program answers without looking at what it is asked: with other inputs in the tests, %s passes as well. "+
			"Work the answers out from the inputs: then the tests count")
}

// passesAnyway reports gates that pass in a probe in which they should fail, with a label
// and a reason that name them.
func (w weighing) passesAnyway(v *Verdict, p Probe, label, reason string) bool {
	gates := w.indifferent(p, v)
	if len(gates) == 0 {
		return false
	}
	v.Labels, v.InAnyCase = append(v.Labels, label+plan.Few(gates, 4)), true
	v.Reason = fmt.Sprintf(reason, plan.Few(gates, 4))
	return true
}

// knowsAnswers takes the word of tests for none whose answers the program holds, and
// which gets one answer to all other questions.
func knowsAnswers(w weighing, v *Verdict) bool {
	for _, name := range w.gates() {
		one, two := w.answer(CloseInputs, name), w.answer(CloserInputs, name)
		if len(w.Held) == 0 || len(w.proving(*v, name)) == 0 || !one.couldTell() || !two.couldTell() || !maps.Equal(one.Tests, two.Tests) {
			continue
		}
		if one.without(w.Answers[CloseInputs].Given) != two.without(w.Answers[CloserInputs].Given) {
			continue
		}
		v.Labels = append(v.Labels, "knows its answers: "+plan.Few(w.Held, 4))
		v.Reason = "the program holds the answers that its tests expect, and has one answer for all other inputs: " + plan.Few(w.Held, 4) +
			". Work the answers out from the inputs: then the tests count"
		return true
	}
	return false
}

// couldTell: its tests ran, and some failed.
func (r Result) couldTell() bool {
	return r.Status == Fail && !r.BuildFailed && !r.TimedOut
}

// tookTime matches times that something took, and places that were made for a run.
var tookTime = regex.New(`(?:/private)?/(?:tmp|var/folders)/[^\s:"')]+|0x[0-9a-fA-F]+|\b\d+\.\d+ ?(?:ns|µs|us|ms|s)\b|\bduration_ms:? [\d.]+`)

// without is what a run said without the inputs that its tests gave, and without what
// differs between runs that are alike.
func (r Result) without(given []string) string {
	text := tookTime.ReplaceAllString(r.Head+"\n"+r.Tail, "#")
	given = slices.Clone(given)
	slices.SortFunc(given, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	for _, word := range slices.Compact(given) {
		if word != "" {
			text = regex.New(`(^|[^\w])`+regexp.QuoteMeta(word)+`($|[^\w])`).ReplaceAllString(text, "${1}_${2}")
		}
	}
	lines := strings.Split(text, "\n")
	slices.Sort(lines) // cases in a map have no order
	return strings.Join(lines, "\n")
}

// ShowsNothing reports whether all passes, and no test shows anything of the work.
func (v Verdict) ShowsNothing() bool {
	return v.Status == Pass && v.Evidence == Unproven && (v.Enough == "" || v.Hollow)
}
