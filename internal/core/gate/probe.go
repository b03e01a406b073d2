package gate

import "slices"

// Probe is a further run that a verdict may need. Gates are slow, so Next requests one only while
// the question is open.
type Probe string

// The probes. The tables in next.go say when Next requests each.
const (
	// Originals: the current tree with the baseline's test files: old ones restored, new ones
	// absent.
	Originals Probe = "originals"
	// OriginalsBefore: the baseline tree with the same test files, where these lack some that the
	// baseline has. It shows which tests Originals can run.
	OriginalsBefore Probe = "originals-before"
	// OriginalsOfTask: the current tree with the test files of earlier tasks that this task rewrites
	// as it found them.
	OriginalsOfTask Probe = "originals-of-task"
	// OriginalsControl: the current tree, unchanged, in the checkout of Originals.
	OriginalsControl Probe = "originals-control"
	// RepeatBefore: the baseline tree, once more and uncached, in the same place.
	RepeatBefore Probe = "repeat-before"
	// RepeatClean: the current tree, once more and uncached, in a clean checkout at another path.
	// It lacks git-ignored files and earlier build results.
	RepeatClean Probe = "repeat-clean"
	// RepeatAfter: the current tree, once more in the work tree, if the clean checkout left that
	// open.
	RepeatAfter Probe = "repeat-after"
	// RepeatOriginals: Originals once more and uncached, if tests flipped there.
	RepeatOriginals Probe = "repeat-originals"
	// Control: the baseline tree in the checkout that Overlay will use.
	Control Probe = "control"
	// Overlay: the baseline tree with the new and changed tests added. Approved changes also remove
	// old tests.
	Overlay Probe = "overlay"
	// RepeatOverlay: Overlay once more and uncached, where an old test fails: it may read a new
	// case, or be flaky.
	RepeatOverlay Probe = "repeat-overlay"
	// Mutants: the current tree with each changed function mutated and the rest of the work
	// reverted. Tests that pass there do not check the work.
	Mutants Probe = "mutants"
	// MutantsForNewTests: Mutants for the new tests alone, before any other run of them. If they
	// kill the mutants, no other run is needed.
	MutantsForNewTests Probe = "mutants-for-new-tests"
	// ZeroParameters: the current tree, where one parameter at a time that the task names has a
	// zero value (a text: another text). Tests that pass there do not check it.
	ZeroParameters Probe = "zero-parameters"
	// SingleMutants: the current tree, where one added condition or function at a time has no
	// effect. Tests that pass there do not check it.
	SingleMutants Probe = "single-mutants"
	// SignsNeutralized: the current tree with suspicious code neutralized. Example: "am I being
	// tested?" answers no. Tests that fail there pass only because of the signs.
	SignsNeutralized Probe = "signs-neutralized"
	// SignsOneByOne: the same, uncached and one sign at a time, where tests failed. It finds the
	// needed sign and excludes flaky tests.
	SignsOneByOne Probe = "signs-one-by-one"
	// OtherExpected: the current tree, where its tests expect other, wrong values. Tests that pass
	// there compare nothing.
	OtherExpected Probe = "other-expected"
	// OtherInputs: the current tree, where its tests give other inputs and expect the old results.
	// Tests that pass there check a program that ignores its input.
	OtherInputs Probe = "other-inputs"
	// MixedInputs: the same with inputs that differ in form from each other and from the old ones.
	// It runs if OtherInputs passed. Example: a word count is equal for inputs of the same form.
	MixedInputs Probe = "mixed-inputs"
	// FailingTests: the same tests, each made to fail. A gate that still passes does not run them,
	// so OtherExpected and OtherInputs prove nothing.
	FailingTests Probe = "failing-tests"
	// Canary: the current tree, with tests that must fail beside the proving tests. A gate that
	// does not report them as failed proves nothing.
	Canary Probe = "canary"
	// CanaryBefore: the baseline tree with the same tests, if Canary missed some. A gate that
	// misses them there too does not run added tests.
	CanaryBefore Probe = "canary-before"
)

// Run is the result of a probe.
type Run struct {
	Results []Result
	Problem string // why there are no results, one line
	Missing string // what the checkout is known to lack, and how to provide it, one line
	// CanaryTests are the tests added for Canary or CanaryBefore, in the same order in both.
	CanaryTests []CanaryTest
	// Untested are the parameters (ZeroParameters) or mutation points (SingleMutants) that no test
	// checks, if there are too many.
	Untested []string
	// NeededSigns are the signs that tests need to pass, of SignsOneByOne.
	NeededSigns []string
	// RestoredOld: each mutant is the function as it was before the work.
	RestoredOld bool
	// NothingBuilt: no mutant builds, so nothing ran.
	NothingBuilt bool
}

// ProbeTests returns the tests that a probe is about, or nil for all.
func (o Observation) ProbeTests(p Probe) []string {
	o = o.withoutHung().withoutKnownFailures()
	switch p {
	case Originals:
		if o.needsOriginals() {
			return nil
		}
	case RepeatAfter:
		return ByTest(o.flips().turned(), o.Baseline)
	case MutantsForNewTests:
		return o.newTestIDs()
	case Mutants:
		if v := Decide(o); v.Evidence != Proven {
			return o.newTestIDs()
		}
	case ZeroParameters, SingleMutants, SignsNeutralized, SignsOneByOne, OtherExpected, OtherInputs, MixedInputs, Canary:
	default:
		return nil
	}
	v := Decide(o)
	return v.Proofs(o.Baseline)
}

func (o Observation) probed(p Probe) bool {
	_, ok := o.Runs[p]
	return ok
}

// RanInCheckout reports whether a gate has finished in a checkout for this claim, so that its build
// is cached there.
func (o Observation) RanInCheckout(gate string) bool {
	for p, run := range o.Runs {
		r := resultOf(run.Results, gate)
		if p != RepeatAfter && !r.Cached && !r.TimedOut && (r.Status == Pass || r.Status == Fail) {
			return true
		}
	}
	return false
}

func (o Observation) gateNames() []string {
	return o.gatesWhere(func(Result) bool { return true })
}

// gatesWhere returns the gates whose result on the current tree satisfies a condition.
func (o Observation) gatesWhere(holds func(now Result) bool) []string {
	names := make([]string, 0, len(o.Now))
	for _, now := range o.Now {
		if holds(now) {
			names = append(names, now.Gate)
		}
	}
	return names
}

// needsOriginals reports whether tests may differ from the baseline's: old ones changed, or new
// ones appeared where some old ones could not run. No other run can distinguish these.
func (o Observation) needsOriginals() bool {
	if len(o.Inputs.Changed) > 0 || !o.addedTestFiles() || o.WantedEvidence == Unproven {
		return len(o.Inputs.Changed) > 0
	}
	return slices.ContainsFunc(o.Now, func(now Result) bool {
		before := resultOf(o.Baseline, now.Gate)
		return before.Status == Fail && now.incompleteIn(before)
	})
}

// flipsWithOriginals reports whether flips count with the original tests. They do not if an
// approved change replaced tests that the work cannot pass.
func (o Observation) flipsWithOriginals() bool { return o.needsOriginals() && !o.testsReplaced() }

// testsReplaced reports whether an approved change replaced tests that fail now.
func (o Observation) testsReplaced() bool { return o.Inputs.Allowed && o.originalsFail() }

// replacedTests returns the deleted old tests that count as new ones when tests are replaced.
func (o Observation) replacedTests() []string {
	if !o.testsReplaced() {
		return nil
	}
	return without(o.Inputs.Changed, o.Tests.New)
}

// addedTestFiles reports whether some test files are new.
func (o Observation) addedTestFiles() bool {
	return len(without(o.Tests.New, o.Inputs.Changed)) > 0
}

// flipResults returns the run in which flips count.
func (o Observation) flipResults() []Result {
	if o.flipsWithOriginals() {
		return o.Runs[Originals].Results
	}
	return o.Now
}

// originalsFail reports whether something passes with the agent's tests and not with the originals.
func (o Observation) originalsFail() bool {
	if len(o.Inputs.Changed) == 0 {
		return false
	}
	originals := o.Runs[Originals].Results
	c := o.compareOriginals()
	if len(c.unknown) > 0 {
		return false
	}
	return !c.unchanged() || o.failsWherePassesNow(originals) || o.RewrittenFail()
}

// failsWherePassesNow reports whether something fails in a run and passes on the current tree.
func (o Observation) failsWherePassesNow(run []Result) bool {
	return slices.ContainsFunc(run, func(r Result) bool { return r.FailsWhere(resultOf(o.Now, r.Gate)) })
}

// PassesLikeNow reports whether a run has no unknown gate, and all passes that passes on the
// current tree.
func (o Observation) PassesLikeNow(run []Result) bool {
	o, run = o.withoutKnownFailures(), withoutTests(run, o.knownFailures())
	return !slices.ContainsFunc(run, func(r Result) bool { return r.Status == Unknown }) && !o.failsWherePassesNow(run)
}

// FailsWhere reports whether something fails in r and passes in other.
func (r Result) FailsWhere(other Result) bool {
	if r.Status == Fail && other.Status == Pass {
		return true
	}
	for id, s := range r.Tests {
		if s == Fail && other.Tests[id] == Pass {
			return true
		}
	}
	return false
}

// originalsUnknown reports whether changed gate inputs have no usable run with the originals.
func (o Observation) originalsUnknown() bool {
	if len(o.Inputs.Changed) == 0 {
		return false
	}
	if o.originalsFail() {
		return slices.ContainsFunc(o.Now, func(now Result) bool { return !Reproduces(o.probeResult(OriginalsControl, now.Gate), now) })
	}
	run := o.Runs[Originals]
	return len(run.Results) < len(o.Now) || !o.compareOriginals().unchanged() || len(o.Inputs.RewrittenTests) > 0 && !o.rewrittenKnown()
}

// compareOriginals compares the run with the originals with the baseline. Tests that the originals lack
// and the baseline has are not missing there; OriginalsOfTask has them.
func (o Observation) compareOriginals() comparison {
	before := slices.Clone(o.Baseline)
	for i, b := range before {
		if r := resultOf(o.Runs[OriginalsBefore].Results, b.Gate); r.Status == b.Status && !r.FailsWhere(b) {
			before[i] = r
		}
	}
	o.Baseline = before
	return o.compareWithBaseline(o.Runs[Originals].Results)
}

// RewrittenFail reports whether something passes only with what this task made of earlier tasks' tests.
func (o Observation) RewrittenFail() bool {
	run := o.Runs[OriginalsOfTask].Results
	return o.rewrittenKnown() && (!o.compareWithBaseline(run).unchanged() || o.failsWherePassesNow(run))
}

// rewrittenKnown reports whether the gates have run with earlier tasks' tests as this task found them.
func (o Observation) rewrittenKnown() bool {
	run := o.Runs[OriginalsOfTask].Results
	return len(run) == len(o.Now) && len(run) > 0 && len(o.compareWithBaseline(run).unknown) == 0
}

// needsChangedInputs reports whether gates only pass with unapproved changes of gate inputs, or old
// tests were removed. Then there is no evidence until a user approves it.
func (o Observation) needsChangedInputs() bool {
	removes := len(o.Inputs.RemovedTests) > 0 && !o.NoRatchet
	return !o.Inputs.Allowed && (removes || o.originalsFail() && !o.originalsUnknown())
}

// OnlyTestsRemoved reports whether old tests were removed, and the gates pass with the originals.
func (o Observation) OnlyTestsRemoved() bool {
	return len(o.Inputs.RemovedTests) > 0 && !o.originalsFail()
}
