package gate

import (
	"slices"

	"github.com/pawl-dev/pawl/internal/core/plan"
)

// The run in the work tree is a first look: what an agent prepared there and git does not
// see may decide it. So a claim that would be proven has all its gates run in a clean
// checkout, and what passes here and not there proves nothing.

// nextClean is the run that a claim still needs which would be proven.
func (o Observation) nextClean() (Probe, []string) {
	v := Verdict{Status: o.status(o.against(o.Now))}
	if v.Status != Pass || !o.Changed || len(o.Now) == 0 {
		return "", nil
	}
	if o.found(&v); v.Evidence != Proven {
		return "", nil
	}
	f := o.flips()
	if !o.answered(RepeatClean) {
		if o.shownByOriginals() {
			return "", nil
		}
		return RepeatClean, o.gates()
	}
	worse := o.worseClean(f)
	if len(worse) > 0 && !o.answered(Control) {
		return Control, o.gates()
	}
	if fit := kept(worse, o.fit); len(fit) > 0 && !o.answered(RepeatAfter) {
		return RepeatAfter, fit
	}
	return "", nil
}

// shownByOriginals: what turned green did so in a checkout, with the originals.
func (o Observation) shownByOriginals() bool { return o.byOriginals() && len(o.flips().confirmed) > 0 }

// worseClean are the gates in which something fails in the clean checkout that passes
// here; those aside in which something turned green, of which flips tells.
func (o Observation) worseClean(f flips) []string {
	return kept(o.gates(), func(name string) bool {
		return !slices.Contains(f.red, name) && o.answer(RepeatClean, name).worse(find(o.Now, name))
	})
}

// passesHereAlone: a gate passes here and not in a clean checkout that can tell.
func passesHereAlone(w weighing, v *Verdict) bool {
	if !w.answered(RepeatClean) {
		return false
	}
	var unseen, unfit []string
	for _, name := range w.worseClean(w.flips) {
		if !w.fit(name) {
			unfit = append(unfit, name)
			continue
		}
		here := find(w.Now, name)
		if again := w.answer(RepeatAfter, name); again.Status != Unknown {
			here = again // else it is flaky
		}
		unseen = append(unseen, here.passesUnlike(w.answer(RepeatClean, name))...)
	}
	if len(unfit) > 0 {
		v.Labels = append(v.Labels, unrepeated+plan.Few(unfit, 4))
	}
	if len(unseen) > 0 {
		v.unseen(unseen, w.Came)
	}
	return len(unseen) > 0
}

// cannotTellAnyMore: a clean checkout showed the loop's start, and with the work in it a
// gate cannot tell. Where none ever could, the user was told so at the start.
func cannotTellAnyMore(w weighing, v *Verdict) bool {
	for _, run := range []struct {
		of   Probe
		with string
	}{
		{RepeatClean, ""},
		{Neutral, "the signs in the work taken out"},
		{OtherExpected, "other values in its tests"},
		{OtherInputs, "other inputs in its tests"},
		{MixedInputs, "other inputs in its tests"},
		{FailingTests, "tests that fail"},
		{Canary, "a test beside them that must fail"},
	} {
		silent := kept(w.gates(), func(name string) bool { return w.silent(run.of, name) })
		if len(silent) == 0 {
			continue
		}
		v.Labels = append(v.Labels, "clean checkout: not checked: "+plan.Few(silent, 4))
		v.Reason = "whether " + plan.Few(silent, 4) + " passes in a clean checkout, as it did when the loop began, could not be found out: " + w.problem(run.of)
		if run.with != "" {
			v.Reason = "whether the tests of this work count could not be found out, since " + plan.Few(silent, 4) + " cannot tell with " + run.with + ": " + w.problem(run.of)
		}
		return true
	}
	return false
}

// silent: a gate that showed the loop's start in a clean checkout was run in a probe, and
// cannot tell. In RepeatClean and Broken every gate that is asked about is to be run; other
// probes may find nothing to try.
func (o Observation) silent(p Probe, name string) bool {
	ran := p == RepeatClean || p == Broken || slices.ContainsFunc(o.Answers[p].Results, func(r Result) bool { return r.Gate == name })
	return ran && o.answered(p) && slices.Contains(o.Shown, name) && o.answer(p, name).Status == Unknown
}

const unrepeated = "could not be repeated in a clean checkout: "

// unseen says of tests that they are green here alone. came is what git ignores and may
// be the reason.
func (v *Verdict) unseen(names, came []string) {
	v.Flipped, v.TurnedGreen, v.Proving = nil, nil, nil
	v.Labels = append(v.Labels, "green here, red in a clean checkout: "+plan.Few(names, 4))
	v.Reason = "green here, red in a clean checkout: something that git does not see makes the difference: " + plan.Few(names, 4)
	v.Reason += besideReason(came)
}

// besideReason names what git ignores and may be the reason.
func besideReason(came []string) string {
	if len(came) == 0 {
		return ""
	}
	return "; git ignores these, which came or changed since the loop began: " + plan.Few(came, 4)
}

// passesUnlike are the tests that pass here and fail in another run; the gate itself
// where no test says which.
func (r Result) passesUnlike(other Result) []string {
	var names []string
	for id, s := range r.Tests {
		if s == Pass && other.Tests[id] == Fail {
			names = append(names, id)
		}
	}
	slices.Sort(names)
	if len(names) == 0 && r.Status == Pass && other.Status == Fail {
		names = []string{r.Gate}
	}
	return names
}
