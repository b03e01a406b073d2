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

// MutantOutcome says how tests react to a function that was mutated on purpose (mutation testing).
type MutantOutcome string

// The outcomes from good to bad. Inconclusive says nothing about the tests.
const (
	Killed       MutantOutcome = "killed"       // a test fails
	Crashed      MutantOutcome = "crashed"      // a test crashes: it calls the function and compares nothing
	Survived     MutantOutcome = "survived"     // all tests pass
	Inconclusive MutantOutcome = "inconclusive" // it does not build, or takes too long
)

// MutantTimeout limits a gate's run on a mutant by its duration on the whole code: mutants may loop
// forever.
func MutantTimeout(whole time.Duration) time.Duration { return max(10*time.Second, 3*whole) }

// JudgeMutant compares the gates on the whole tree with those on the mutated tree.
// It returns the tests that kill the mutant (the gate's name without IDs), or else why none does.
// A gate that fails without a failing test is inconclusive. A crash kills only a restored mutant,
// one that restores old code: the work fixed that crash.
func JudgeMutant(whole, mutated []Result, restored bool) (outcome MutantOutcome, by []string, why string) {
	outcome = Survived
	downgrade := func(to MutantOutcome, reason string) {
		if outcome == Survived || outcome == Inconclusive && to == Crashed {
			outcome, why = to, reason
		}
	}
	for _, run := range mutated {
		base := resultOf(whole, run.Gate)
		failed, crashed := base.killedBy(run)
		if restored {
			failed, crashed = append(failed, crashed...), nil
		}
		switch {
		case run.TimedOut || run.Status == Unknown:
			downgrade(Inconclusive, run.Reason)
		case len(failed) > 0:
			by = append(by, failed...)
		case len(crashed) > 0:
			downgrade(Crashed, "no assertion fails: "+run.Reason)
		case run.Status == Pass:
		case run.Status == Fail && len(base.Tests) == 0 && !run.BuildFailed && (base.testCount() == 0 || run.testCount() > 0 || len(run.Failing) > 0):
			by = append(by, run.Gate)
		default:
			downgrade(Inconclusive, run.Reason)
		}
	}
	if len(by) > 0 {
		slices.Sort(by)
		return Killed, slices.Compact(by), ""
	}
	return outcome, nil, why
}

// OutcomeOf returns the outcome of a mutant, ignoring failures older than the task.
func (o Observation) OutcomeOf(mutated []Result) MutantOutcome {
	n, _, _ := JudgeMutant(withoutTests(o.Now, o.knownFailures()), withoutTests(mutated, o.knownFailures()), false)
	return n
}

// killedBy returns the tests that pass in r and fail in the mutant's run, and those that did not
// finish there.
func (r Result) killedBy(other Result) (failed, crashed []string) {
	for _, id := range slices.Sorted(maps.Keys(r.Tests)) {
		switch {
		case r.Tests[id] != Pass || other.Tests[id] != Fail:
		case other.inIncompleteGroup(id):
			crashed = append(crashed, id)
		default:
			failed = append(failed, id)
		}
	}
	return failed, crashed
}

// needsWorkToBuild reports whether the tests do not build without the work. They then fail for a
// missing name, field or type, whatever they check.
func (o Observation) needsWorkToBuild() bool {
	return len(o.Mutation.Functions) > 0 && (o.evaluateOverlay().buildFailed || slices.ContainsFunc(o.Baseline, func(r Result) bool { return r.BuildFailed }))
}

// needsMutants reports whether only mutants can show what new tests prove: they are inside source
// files, or do not run on the baseline tree.
func (o Observation) needsMutants() bool {
	return o.Tests.InlineChanged && !o.Tests.OldInlineChanged || o.hasOverlay() && o.probed(Overlay) && o.evaluateOverlay().testsMissing
}

// newTestMutantGates returns the gates with new tests beside changed functions. Running only these
// tests on mutants can replace a whole run on the baseline tree.
func (o Observation) newTestMutantGates() []string {
	if len(o.Mutation.Functions) == 0 {
		return nil
	}
	newTests := o.newTestIDs()
	return filter(o.gateNames(), func(name string) bool {
		return len(resultOf(o.Now, name).passingOf(newTests)) > 0 || len(intersect(newTests, o.Tests.Added[name])) > 0
	})
}

// newTestIDs returns new tests that pass now, by ID or by their name in the file. It returns none
// if something failed before, another gate input changed, or the work fails the old tests.
func (o Observation) newTestIDs() []string {
	if len(o.Tests.New) == 0 || o.Tests.InlineChanged || len(o.Inputs.NonTests) > 0 {
		return nil
	}
	if len(o.Inputs.Changed) > 0 && (!o.probed(Originals) || o.originalsFail() || o.originalsUnknown()) {
		return nil
	}
	var ids []string
	for _, now := range o.Now {
		before := resultOf(o.Baseline, now.Gate)
		if before.Status != Pass {
			return nil
		}
		if now.Status == Pass && len(now.Tests)+len(before.Tests) == 0 {
			ids = append(ids, o.Tests.Added[now.Gate]...)
		}
		for id, s := range now.Tests {
			if _, existed := before.Tests[id]; s == Pass && !existed && (len(before.Tests) > 0 || before.testCount() == 0) {
				ids = append(ids, id)
			}
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// passingOf returns those of the tests that pass in r.
func (r Result) passingOf(ids []string) []string {
	return filter(ids, func(id string) bool { return r.Tests[id] == Pass })
}

// killingTests returns tests that kill mutants and did not pass before, if nothing else proves the
// work; without IDs and known new tests, gates.
func (o Observation) killingTests() []string {
	if names := o.killingNewTests(); len(names) > 0 || !o.probed(Mutants) || !o.needsMutants() {
		return names
	}
	_, by, _ := JudgeMutant(o.Now, o.Runs[Mutants].Results, o.Runs[Mutants].RestoredOld)
	return filter(by, func(name string) bool {
		return !slices.ContainsFunc(o.Baseline, func(before Result) bool { return before.Tests[name] == Pass })
	})
}

// killingNewTests returns the new tests that kill mutants and pass reliably on the whole work.
func (o Observation) killingNewTests() []string {
	newTests := o.newTestIDs()
	_, by, _ := JudgeMutant(o.Now, o.Runs[MutantsForNewTests].Results, o.Runs[MutantsForNewTests].RestoredOld)
	names := intersect(by, newTests)
	for _, name := range by {
		names = append(names, o.probeResult(MutantsForNewTests, name).failingAmong(intersect(newTests, o.Tests.Added[name]))...)
	}
	return filter(names, func(name string) bool { return o.passesBesideCanary(name) && !o.namesTestFile(name) })
}

// namesTestFile reports whether a runner's failure names a test file that it could not load, such
// as tests.test_sum.
func (o Observation) namesTestFile(name string) bool {
	return slices.ContainsFunc(o.Tests.New, func(file string) bool {
		module := strings.ReplaceAll(strings.TrimSuffix(file, path.Ext(file)), "/", ".")
		return module == name || strings.HasSuffix(module, "."+name)
	})
}

// failingAmong returns the failing names in r that mean one of the tests.
func (r Result) failingAmong(tests []string) []string {
	return filter(r.Failing, func(name string) bool {
		return slices.ContainsFunc(tests, func(test string) bool { return MatchesTestName(name, test) })
	})
}

// MatchesTestName reports whether a runner's name means the test. Example: "calc.TestSum.test_adds
// (n=1)" and "TestSum > test_adds".
func MatchesTestName(name, test string) bool {
	title := strings.TrimSpace(test[strings.LastIndexByte(test, '>')+1:])
	return regex.New(`(?:^|[ .:/])` + TitlePattern(title) + `(?:$| \(|\[|/)`).MatchString(name)
}

// TitlePattern returns a regular expression for a test title. Placeholders match anything: "adds
// ${a}", "adds %i".
func TitlePattern(title string) string {
	return placeholder.ReplaceAllString(regexp.QuoteMeta(title), ".+")
}

var placeholder = regex.New(`\\\$\\\{.*?\\\}|%[sdifjop]`)

// passesBesideCanary reports whether a test passed on the whole work in the small canary run. A
// test that fails there would fail on any mutant. Without that run, all pass.
func (o Observation) passesBesideCanary(test string) bool {
	run, ok := o.Runs[Canary]
	return !ok || len(run.Results) > 0 && !slices.ContainsFunc(run.Results, func(r Result) bool {
		return r.Status == Unknown || r.BuildFailed || r.TimedOut || slices.Contains(r.Failing, test)
	})
}

// provingTests returns the tests that prove the work, by gate; for a gate without IDs, its name. It
// is empty unless the verdict is proven.
func (o Observation) provingTests(v Verdict) map[string][]string {
	proving := map[string][]string{}
	names := slices.Concat(v.Flipped, v.Proving)
	for _, now := range o.Now {
		name := now.Gate
		elsewhere := slices.Concat(o.probeResult(Overlay, name).failingOrGate(), o.probeResult(MutantsForNewTests, name).failingOrGate())
		if len(now.Tests) > 0 {
			proving[name] = now.passingOf(names)
		} else if slices.Contains(names, name) || len(intersect(names, elsewhere)) > 0 {
			proving[name] = []string{name}
		}
	}
	return proving
}

// provingOutcome returns the outcome by the proving tests: one that fails, crashes or is missing
// kills them. A test missing because of a failed build, or an unknown run, is inconclusive.
func (w assessment) provingOutcome() MutantOutcome {
	result := Killed
	for name, tests := range w.proving {
		broken := w.probeResult(Mutants, name)
		for _, id := range tests {
			status := broken.Status
			if len(broken.Tests) > 0 && id != name {
				status = broken.Tests[id]
			}
			switch {
			case w.Runs[Mutants].NothingBuilt, status != Fail && w.becameUnknown(Mutants, name), broken.BuildFailed && (status != Fail || len(broken.Tests) == 0 || broken.inIncompleteGroup(id)):
				result = Inconclusive
			case status != Pass:
				return Killed
			case result != Inconclusive:
				result = Survived
			}
		}
	}
	return result
}

// mutantsSurvived rejects tests that pass on every mutant.
func mutantsSurvived(w assessment, v *Verdict) bool {
	if !w.probed(Mutants) || w.provingOutcome() != Survived {
		return false
	}
	names := slices.Concat(v.Flipped, v.Proving)
	v.Labels, v.MutantsSurvived = append(v.Labels, "tests that check nothing: "+plan.Few(names, 4)), true
	v.Reason = w.survivedReason(names)
	return true
}

func (w assessment) survivedReason(tests []string) string {
	which := ""
	if len(tests) > 0 {
		which = ": " + plan.Few(tests, 4)
	}
	if len(w.Tests.New) > 0 {
		which += " (new or changed: " + plan.Few(w.Tests.New, 3) + ")"
	}
	return "the tests also pass when each function of this work" + w.functionList() + " returns nothing or its old result, so they do not check it" +
		which
}

// mutantsNotTried rejects work whose mutants could not be built or did not give a result.
func mutantsNotTried(w assessment, v *Verdict) bool {
	if !w.probed(Mutants) || w.provingOutcome() != Inconclusive {
		return false
	}
	names := slices.Concat(v.Flipped, v.Proving)
	v.Labels = append(v.Labels, "tests not tried on broken functions: "+plan.Few(names, 4))
	v.Reason = "unknown whether the tests check this work: with its functions" + w.functionList() + " broken it does not build: " + plan.Few(names, 4)
	if w.probeFailed(Mutants) {
		v.Reason = "unknown whether the tests check this work: with its functions" + w.functionList() + " broken the gates gave no result: " + w.probeProblem(Mutants)
	}
	return true
}

// functionList returns the work's functions in parentheses.
func (w assessment) functionList() string {
	if len(w.Mutation.Functions) == 0 {
		return ""
	}
	return " (" + plan.Few(w.Mutation.Functions, 4) + ")"
}
