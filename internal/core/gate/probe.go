package gate

import "slices"

// Probe is a further run that a verdict may need. Gates are slow: each is asked
// for only when what is known until then leaves the question open.
type Probe string

// The probes, in the order in which Next asks for them.
const (
	// Originals: the tree of now, with the test files of before: old ones as they
	// were, new ones absent.
	Originals Probe = "originals"
	// OriginalsControl: the tree of now, unchanged, where Originals ran.
	OriginalsControl Probe = "originals-control"
	// RepeatBefore: the tree of before, once more and uncached, where it ran.
	RepeatBefore Probe = "repeat-before"
	// RepeatClean: the tree of now, once more and uncached, in a clean checkout at
	// another path: without what git ignores, and what was compiled here.
	RepeatClean Probe = "repeat-clean"
	// RepeatAfter: the same where it ran, if the clean checkout left that open.
	RepeatAfter Probe = "repeat-after"
	// RepeatOriginals: Originals once more and uncached, if flips were seen there.
	RepeatOriginals Probe = "repeat-originals"
	// Control: the tree of before, where Overlay will run.
	Control Probe = "control"
	// Overlay: the tree of before, with the new and changed tests laid over it; where a
	// change of old ones is approved, without those that are gone.
	Overlay Probe = "overlay"
	// RepeatOverlay: the same once more and uncached, where an old test fails there:
	// by a new case that it reads, or by chance.
	RepeatOverlay Probe = "repeat-overlay"
	// Broken: the tree of now without what the work does: each function broken that it
	// added or changed, the rest put back (mutation testing). Tests that pass there check
	// nothing of the work.
	Broken Probe = "broken"
	// BrokenNew: the same for the tests that came with the work, before anything else tells
	// of these. If they notice, no other run has to.
	BrokenNew Probe = "broken-new"
	// ZeroParameters: the tree of now, where a parameter that the task names has the zero
	// value of its type (a text: another one), whatever is given; one after the other. Tests that pass there do not
	// look at what it does.
	ZeroParameters Probe = "zero-parameters"
	// OneByOne: the tree of now, where one thing that the work added has no effect, one after
	// the other: a condition, a function. Tests that pass there do not look at it.
	OneByOne Probe = "one-by-one"
	// Neutral: the tree of now with the signs neutralized that have weight: whether it is
	// being tested is answered no, exits and changed assertions are left out. Tests that
	// fail there pass by the sign alone.
	Neutral Probe = "neutral"
	// RepeatNeutral: the same once more and uncached, where tests failed: each sign alone,
	// so that it is known which one they need and that a flaky test blames none.
	RepeatNeutral Probe = "repeat-neutral"
	// OtherExpected: the tree of now, where its tests expect other values, each wrong. What
	// passes there compares nothing.
	OtherExpected Probe = "other-expected"
	// OtherInputs: the tree of now, where its tests give other inputs and expect what they
	// expected. What passes there looks at no input.
	OtherInputs Probe = "other-inputs"
	// MixedInputs: the same with inputs no two of which are alike, nor of the form that they
	// had, if all passed with others of the same form: a count of words is the same for these.
	MixedInputs Probe = "mixed-inputs"
	// CloseInputs and CloserInputs: the tree of now, where its tests give inputs one step on,
	// and two, if the program holds what its tests expect. A table of their answers has one
	// answer for all others.
	CloseInputs  Probe = "close-inputs"
	CloserInputs Probe = "closer-inputs"
	// FailingTests: the same tests, each of which fails when it is run: what passes all the
	// same does not run them, and OtherExpected and OtherInputs tell nothing of it.
	FailingTests Probe = "failing-tests"
	// Canary: the tree of now, with tests beside those that it is believed for that must
	// fail. A gate that does not report them as failed cannot be believed.
	Canary Probe = "canary"
	// CanaryBefore: the tree of before with the same, where Canary was not reported. A
	// gate that does not report it there either does not run tests that are added.
	CanaryBefore Probe = "canary-before"
)

// Run is the answer to a probe.
type Run struct {
	Results []Result `json:"results,omitempty"`
	Problem string   `json:"problem,omitempty"` // why there are no results, one line
	Lacks   string   `json:"lacks,omitempty"`   // what the place is known to lack, and how it gets it, one line
	// MustFail are the tests of Canary or CanaryBefore, in the same order in both.
	MustFail []MustFail `json:"must_fail,omitempty"`
	// Given are the inputs that tests gave, of CloseInputs and CloserInputs.
	Given []string `json:"given,omitempty"`
	// Untested are the parameters without which all tests pass, of ZeroParameters; of OneByOne
	// the conditions and functions, where they are too many.
	Untested []string `json:"untested,omitempty"`
	// Because are the signs without which alone tests fail, of RepeatNeutral.
	Because []string `json:"because,omitempty"`
	// AsBefore: each function that Broken or BrokenNew broke is as it was before the work.
	AsBefore bool `json:"as_before,omitempty"`
	// Unbroken: no function could be broken so that the program builds, so that nothing ran.
	Unbroken bool `json:"unbroken,omitempty"`
}

// Next names the run that Judge needs next and the gates to run in it; "" when
// the observation is complete. The answer goes into Observation.Answers, also
// when the run was not possible: then with its problem.
func Next(o Observation) (Probe, []string) {
	if o = o.withoutHung().withoutOldRed(); len(o.Now) == 0 {
		return "", nil
	}
	if p, gates := o.next(); p != "" || o.Wanted == Unproven {
		return p, gates
	}
	if p, gates := o.nextClean(); p != "" {
		return p, gates
	}
	if gates := o.breakable(); len(gates) > 0 {
		return Broken, gates
	}
	if p, gates := o.nextParameters(); p != "" {
		return p, gates
	}
	if p, gates := o.nextOneByOne(); p != "" {
		return p, gates
	}
	if gates := o.neutralizable(); len(gates) > 0 {
		return Neutral, gates
	}
	if gates := o.blamed(); len(gates) > 0 {
		return RepeatNeutral, gates
	}
	if p, gates := o.nextCanary(); p != "" {
		return p, gates
	}
	return o.nextValues()
}

func (o Observation) next() (Probe, []string) {
	now := o.against(o.Now)
	if !o.Changed || len(o.Now) == 0 || o.status(now) != Pass {
		return "", nil
	}
	if o.needsOriginals() && !o.answered(Originals) {
		return Originals, o.gates()
	}
	if o.originalsFail() && !o.answered(OriginalsControl) {
		return OriginalsControl, o.gates()
	}
	if o.onlyChanged() || o.Wanted == Unproven { // all else finds evidence
		return "", nil
	}
	if f := o.flips(); len(f.candidates) > 0 {
		if p, gates := o.nextRepeat(f); p != "" {
			return p, gates
		}
		if len(f.unseen) > 0 || len(f.confirmed) > 0 && len(o.NewTests) == 0 && !o.replaced() {
			return "", nil
		}
	}
	if !o.canBeLaid() && (!o.replaced() || len(o.flips().confirmed) == 0) {
		return "", nil
	}
	if o.canBeLaid() && !o.answered(RepeatClean) && !o.shownByOriginals() { // first, where no other run was
		return RepeatClean, o.gates()
	}
	if gates := o.breakableFirst(); len(gates) > 0 {
		return BrokenNew, gates
	}
	if len(o.noticed()) > 0 {
		return "", nil
	}
	if !o.answered(Control) {
		return Control, o.gates()
	}
	if gates := o.layable(); len(gates) > 0 && !o.answered(Overlay) {
		return Overlay, gates
	}
	if gates := o.newlyRed(); len(gates) > 0 && !o.answered(RepeatOverlay) {
		return RepeatOverlay, gates
	}
	if gates := o.leaning(); len(gates) > 0 && !o.answered(Originals) {
		return Originals, gates
	}
	return "", nil
}

// Only names the tests that a probe is about; none where it is about all.
func (o Observation) Only(p Probe) []string {
	o = o.withoutHung().withoutOldRed()
	switch p {
	case Originals:
		if o.needsOriginals() {
			return nil
		}
	case RepeatAfter:
		return ByTest(o.flips().candidates, o.Baseline)
	case BrokenNew:
		return o.came()
	case Broken:
		if v := Decide(o); v.Evidence != Proven {
			return o.came()
		}
	case ZeroParameters, OneByOne, Neutral, RepeatNeutral, OtherExpected, OtherInputs, MixedInputs, CloseInputs, CloserInputs, Canary:
	default:
		return nil
	}
	v := Decide(o)
	return v.Proofs(o.Baseline)
}

func (o Observation) answered(p Probe) bool {
	_, ok := o.Answers[p]
	return ok
}

// RanElsewhere reports whether a gate has run to its end in a checkout, for this claim:
// what it builds there is built.
func (o Observation) RanElsewhere(gate string) bool {
	for p, run := range o.Answers {
		r := find(run.Results, gate)
		if p != RepeatAfter && !r.Cached && !r.TimedOut && (r.Status == Pass || r.Status == Fail) {
			return true
		}
	}
	return false
}

func (o Observation) gates() []string {
	names := make([]string, len(o.Now))
	for i, r := range o.Now {
		names[i] = r.Gate
	}
	return names
}

// needsOriginals: a test of now may not be the test of before. Old ones were
// changed; or new ones were added where some of before could not run, so that
// nothing else tells which is which.
func (o Observation) needsOriginals() bool {
	if len(o.OldTests) > 0 || !o.added() || o.Wanted == Unproven {
		return len(o.OldTests) > 0
	}
	return slices.ContainsFunc(o.Now, func(now Result) bool {
		before := find(o.Baseline, now.Gate)
		return before.Status == Fail && now.cutIn(before)
	})
}

// byOriginals: flips count with the originals in place. Where a change of tests is
// approved and the originals fail, they are no longer what the work is to pass: then
// flips count as the tree is, if the changed tests alone do not make them.
func (o Observation) byOriginals() bool { return o.needsOriginals() && !o.replaced() }

// replaced: the tests of now stand in the place of the originals.
func (o Observation) replaced() bool { return o.AllowTestChanges && o.originalsFail() }

// gone are the old tests that count as new ones where they are replaced.
func (o Observation) gone() []string {
	if !o.replaced() {
		return nil
	}
	return kept(o.OldTests, func(path string) bool { return !slices.Contains(o.NewTests, path) })
}

// added: there are test files that were not there before.
func (o Observation) added() bool {
	return slices.ContainsFunc(o.NewTests, func(path string) bool { return !slices.Contains(o.OldTests, path) })
}

// after is the run in which flips count: with the judge's copies in place.
func (o Observation) after() []Result {
	if o.byOriginals() {
		return o.Answers[Originals].Results
	}
	return o.Now
}

// originalsFail: something passes with the agent's tests and not with the
// originals, whether it passed before or not.
func (o Observation) originalsFail() bool {
	if len(o.OldTests) == 0 {
		return false
	}
	originals := o.Answers[Originals].Results
	c := o.against(originals)
	if len(c.unknown) > 0 {
		return false
	}
	return !c.stands() || o.worseThanNow(originals)
}

// worseThanNow reports whether something fails in a run that passes on the tree of now.
func (o Observation) worseThanNow(run []Result) bool {
	return slices.ContainsFunc(run, func(r Result) bool { return r.worse(find(o.Now, r.Gate)) })
}

// PassesLikeNow reports whether every gate of a run could tell, and all passes in it that
// passes on the tree of now.
func (o Observation) PassesLikeNow(run []Result) bool {
	o, run = o.withoutOldRed(), leaveOut(run, o.oldRed())
	return !slices.ContainsFunc(run, func(r Result) bool { return r.Status == Unknown }) && !o.worseThanNow(run)
}

// worse: something failed here and passed there.
func (r Result) worse(there Result) bool {
	if r.Status == Fail && there.Status == Pass {
		return true
	}
	for id, s := range r.Tests {
		if s == Fail && there.Tests[id] == Pass {
			return true
		}
	}
	return false
}

// originalsUnknown: it could not be found out whether the originals pass.
func (o Observation) originalsUnknown() bool {
	if len(o.OldTests) == 0 {
		return false
	}
	if o.originalsFail() {
		return !showsAll(o.Answers[OriginalsControl].Results, o.Now)
	}
	run := o.Answers[Originals]
	return len(run.Results) < len(o.Now) || !o.against(run.Results).stands()
}

// onlyChanged: only the agent's tests pass, or old ones are gone, and nobody allowed it.
func (o Observation) onlyChanged() bool {
	return !o.AllowTestChanges && (len(o.Gone) > 0 && !o.NoRatchet || o.originalsFail() && !o.originalsUnknown())
}
