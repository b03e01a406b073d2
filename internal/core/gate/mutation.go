package gate

import (
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/regex"
)

// Noticing is what tests make of a function that was broken on purpose (mutation
// testing), see Notices.
type Noticing string

// From good to bad; what was not tried says nothing.
const (
	Noticed   Noticing = "noticed"   // a test fails
	Called    Noticing = "called"    // a test crashes: it calls the function and compares nothing
	Unnoticed Noticing = "unnoticed" // all pass
	NotTried  Noticing = "not tried" // it does not build, or takes too long
)

// MutantLimit is how long a gate may take on broken code that took some time on whole
// code: broken code loops for ever, now and then.
func MutantLimit(whole time.Duration) time.Duration { return max(10*time.Second, 3*whole) }

// Notices compares the gates on a tree with the same on the tree with functions broken:
// which tests notice, by id or, where a gate has no ids, by the gate's name; else why
// none does. A gate that fails without a failing test was kept from running them. A test
// that crashes notices too where what is broken is as it was before the work: the crash is
// the one that the work has put right.
func Notices(whole, broken []Result, asBefore bool) (n Noticing, by []string, why string) {
	n = Unnoticed
	worse := func(to Noticing, reason string) {
		if n == Unnoticed || n == NotTried && to == Called {
			n, why = to, reason
		}
	}
	for _, b := range broken {
		w := find(whole, b.Gate)
		failed, crashed := w.failsIn(b)
		if asBefore {
			failed, crashed = append(failed, crashed...), nil
		}
		switch {
		case b.TimedOut || b.Status == Unknown:
			worse(NotTried, b.Reason)
		case len(failed) > 0:
			by = append(by, failed...)
		case len(crashed) > 0:
			worse(Called, "no assertion fails: "+b.Reason)
		case b.Status == Pass:
		case b.Status == Fail && len(w.Tests) == 0 && !b.BuildFailed && (w.told() == 0 || b.told() > 0 || len(b.Failing) > 0):
			by = append(by, b.Gate)
		default:
			worse(NotTried, b.Reason)
		}
	}
	if len(by) > 0 {
		slices.Sort(by)
		return Noticed, slices.Compact(by), ""
	}
	return n, nil, why
}

// Noticing is what the gates make of a run in which a part of the work is broken.
func (o Observation) Noticing(broken []Result) Noticing {
	n, _, _ := Notices(leaveOut(o.Now, o.oldRed()), leaveOut(broken, o.oldRed()), false)
	return n
}

// failsIn are the tests that pass in r and fail in another run, and those that were
// cut short there.
func (r Result) failsIn(other Result) (failed, crashed []string) {
	for _, id := range slices.Sorted(maps.Keys(r.Tests)) {
		switch {
		case r.Tests[id] != Pass || other.Tests[id] != Fail:
		case other.cut(id):
			crashed = append(crashed, id)
		default:
			failed = append(failed, id)
		}
	}
	return failed, crashed
}

// breakable are the gates to run on broken functions: those whose tests are what the
// work would be believed for, unless these were seen to notice.
func (o Observation) breakable() []string {
	if !o.Breakable && !o.unbuilt() || o.answered(Broken) || len(o.newNotice()) > 0 {
		return nil
	}
	v := Decide(o)
	if v.Status == Pass && v.Evidence == NoEvidence && o.undecided() && !v.TestsChanged && !v.Unchecked && len(v.Flaky) == 0 {
		return o.gates()
	}
	if v.Status != Pass || v.Evidence != Proven {
		return nil
	}
	return kept(o.gates(), func(name string) bool { return len(o.proving(v, name)) > 0 })
}

// unbuilt: without the work nothing is built, so that tests are red there for want of a
// name, a field, a type, whatever they check.
func (o Observation) unbuilt() bool {
	return len(o.Functions) > 0 && (o.overlay().unbuilt || slices.ContainsFunc(o.Baseline, func(r Result) bool { return r.BuildFailed }))
}

// undecided: what new tests prove shows best, or only, when the functions of the work are
// broken. Source files hold tests that they did not, beside all that they held; or the new
// tests do not run on the tree of before.
func (o Observation) undecided() bool {
	return o.InSource && !o.TestsLost || o.canBeLaid() && o.answered(Overlay) && o.overlay().unrun
}

// breakableFirst are the gates in which new tests came with changed functions. Run for
// these tests alone, with the functions broken, they tell what the whole gate on the tree
// of before would, and that the tests check something: only if they do not is that run.
func (o Observation) breakableFirst() []string {
	if o.answered(BrokenNew) || len(o.Functions) == 0 {
		return nil
	}
	came := o.came()
	return kept(o.gates(), func(name string) bool {
		return len(find(o.Now, name).passing(came)) > 0 || len(both(came, o.Added[name])) > 0
	})
}

// came are the tests that pass now and are new, by their ids or, where a gate has none, by
// the names in their files; where nothing was red before the work, no other gate input was
// changed, and the work passes the old tests.
func (o Observation) came() []string {
	if len(o.NewTests) == 0 || o.InSource || len(o.Inputs) > 0 {
		return nil
	}
	if len(o.OldTests) > 0 && (!o.answered(Originals) || o.originalsFail() || o.originalsUnknown()) {
		return nil
	}
	var ids []string
	for _, now := range o.Now {
		before := find(o.Baseline, now.Gate)
		if before.Status != Pass {
			return nil
		}
		if now.Status == Pass && len(now.Tests)+len(before.Tests) == 0 {
			ids = append(ids, o.Added[now.Gate]...)
		}
		for id, s := range now.Tests {
			if _, there := before.Tests[id]; s == Pass && !there && (len(before.Tests) > 0 || before.told() == 0) {
				ids = append(ids, id)
			}
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// passing are those of some tests that pass in a run.
func (r Result) passing(ids []string) []string {
	return kept(ids, func(id string) bool { return r.Tests[id] == Pass })
}

// noticed are the tests that notice broken functions and did not pass before, where
// nothing else tells; gates, where they report no tests one by one and none is known to
// be new by its name.
func (o Observation) noticed() []string {
	if names := o.newNotice(); len(names) > 0 || !o.answered(Broken) || !o.undecided() {
		return names
	}
	_, by, _ := Notices(o.Now, o.Answers[Broken].Results, o.Answers[Broken].AsBefore)
	return kept(by, func(name string) bool {
		return !slices.ContainsFunc(o.Baseline, func(before Result) bool { return before.Tests[name] == Pass })
	})
}

// newNotice are those of the tests that came which notice broken functions, and pass as
// often as the work is whole.
func (o Observation) newNotice() []string {
	came := o.came()
	_, by, _ := Notices(o.Now, o.Answers[BrokenNew].Results, o.Answers[BrokenNew].AsBefore)
	names := both(by, came)
	for _, name := range by {
		names = append(names, o.answer(BrokenNew, name).tells(both(came, o.Added[name]))...)
	}
	return kept(names, func(name string) bool { return o.steady(name) && !o.isFile(name) })
}

// isFile: a runner names a file of tests so that it cannot load: tests.test_sum.
func (o Observation) isFile(told string) bool {
	return slices.ContainsFunc(o.NewTests, func(file string) bool {
		module := strings.ReplaceAll(strings.TrimSuffix(file, path.Ext(file)), "/", ".")
		return module == told || strings.HasSuffix(module, "."+told)
	})
}

// tells are the names by which a run without ids tells of some tests as failed.
func (r Result) tells(tests []string) []string {
	return kept(r.Failing, func(told string) bool {
		return slices.ContainsFunc(tests, func(test string) bool { return IsCalled(told, test) })
	})
}

// IsCalled reports whether a runner may call a test so: "calc.TestSum.test_adds (n=1)" that
// of the name "TestSum > test_adds".
func IsCalled(told, test string) bool {
	name := strings.TrimSpace(test[strings.LastIndexByte(test, '>')+1:])
	return regex.New(`(?:^|[ .:/])` + TitlePattern(name) + `(?:$| \(|\[|/)`).MatchString(told)
}

// TitlePattern is a regular expression of what a test of a title is called: in "adds ${a}"
// and "adds %i" the test itself says the rest.
func TitlePattern(title string) string {
	return filledIn.ReplaceAllString(regexp.QuoteMeta(title), ".+")
}

var filledIn = regex.New(`\\\$\\\{.*?\\\}|%[sdifjop]`)

// steady: a test passes on the whole work when few tests run, beside the canary. One that
// fails there does so whatever is broken. Until that is known all count.
func (o Observation) steady(test string) bool {
	run, ok := o.Answers[Canary]
	return !ok || len(run.Results) > 0 && !slices.ContainsFunc(run.Results, func(r Result) bool {
		return r.Status == Unknown || r.BuildFailed || r.TimedOut || slices.Contains(r.Failing, test)
	})
}

// proving are the tests of a gate that the work is believed for; its name where it has
// no ids.
func (o Observation) proving(v Verdict, name string) []string {
	names := slices.Concat(v.Flipped, v.Proving)
	now := find(o.Now, name)
	if len(now.Tests) > 0 {
		return kept(names, func(id string) bool { return now.Tests[id] == Pass })
	}
	if slices.Contains(names, name) || len(both(names, slices.Concat(o.answer(Overlay, name).named(), o.answer(BrokenNew, name).named()))) > 0 {
		return []string{name}
	}
	return nil
}

// noticing is what the tests that the work would be believed for make of its broken
// functions. One that fails, crashes or is not heard of is enough; where it is not heard of
// because nothing was built, or the run cannot tell where it could, it was not tried.
func (o Observation) noticing(v Verdict) Noticing {
	result := Noticed
	for _, name := range o.gates() {
		broken := o.answer(Broken, name)
		for _, id := range o.proving(v, name) {
			status := broken.Status
			if len(broken.Tests) > 0 && id != name {
				status = broken.Tests[id]
			}
			switch {
			case o.Answers[Broken].Unbroken, status != Fail && o.silent(Broken, name), broken.BuildFailed && (status != Fail || len(broken.Tests) == 0 || broken.cut(id)):
				result = NotTried
			case status != Pass:
				return Noticed
			case result != NotTried:
				result = Unnoticed
			}
		}
	}
	return result
}

// hollowTests takes the word of tests that check nothing for none.
func hollowTests(w weighing, v *Verdict) bool {
	if !w.answered(Broken) || w.noticing(*v) != Unnoticed {
		return false
	}
	names := slices.Concat(v.Flipped, v.Proving)
	v.Labels, v.Hollow = append(v.Labels, "tests that check nothing: "+plan.Few(names, 4)), true
	v.Reason = w.hollowReason(names)
	return true
}

// hollowReason says of tests that they check nothing.
func (w weighing) hollowReason(tests []string) string {
	which := ""
	if len(tests) > 0 {
		which = ": " + plan.Few(tests, 4)
	}
	return "the tests pass as well when each function of this work" + w.named() + " returns nothing or does what it did before, so they check nothing of it" +
		which + "; a test that compares what a function returns would be enough"
}

// untried takes no word for work whose functions cannot be broken so that it is built.
func untried(w weighing, v *Verdict) bool {
	if !w.answered(Broken) || w.noticing(*v) != NotTried {
		return false
	}
	names := slices.Concat(v.Flipped, v.Proving)
	v.Labels = append(v.Labels, "tests not tried on broken functions: "+plan.Few(names, 4))
	v.Reason = "whether the tests check this work could not be found out, since with its functions" + w.named() + " broken it does not build: " + plan.Few(names, 4)
	if w.cannotTell(Broken) {
		v.Reason = "whether the tests check this work could not be found out, since with its functions" + w.named() + " broken the gates cannot tell: " + w.problem(Broken)
	}
	return true
}

// named are the functions of the work, in parentheses.
func (w weighing) named() string {
	if len(w.Functions) == 0 {
		return ""
	}
	return " (" + plan.Few(w.Functions, 4) + ")"
}
