package gate

import "slices"

// step is a row of the tables that NextProbe walks: a probe, whether it is needed, and its gates. A step
// without gates is skipped, too.
type step struct {
	probe  Probe
	needed bool
	gates  []string
}

// NextProbe returns the probe that Decide needs next and its gates, or "" when the observation is
// complete. Add the run to Observation.Runs, also if it failed: then with its problem.
func NextProbe(o Observation) (Probe, []string) {
	o = o.withoutHung().withoutKnownFailures()
	if len(o.Now) == 0 || !o.Changed || o.status(o.compareWithBaseline(o.Now)) != Pass {
		return "", nil // no run changes the verdict
	}
	steps := o.originalsSteps()
	if !o.needsChangedInputs() && o.WantedEvidence != Unproven { // the other probes look for evidence
		steps = slices.Concat(steps, o.flipSteps(), o.newTestSteps(), o.unprovenSteps(), o.cleanSteps(), o.proofSteps())
	}
	for _, s := range steps {
		if s.needed && !o.probed(s.probe) && len(s.gates) > 0 {
			return s.probe, s.gates
		}
	}
	return "", nil
}

// originalsSteps returns the runs that show whether the gates need the agent's changes of tests and
// of other gate inputs.
func (o Observation) originalsSteps() []step {
	fail, all := o.originalsFail(), o.gateNames()
	return []step{
		{Originals, o.needsOriginals(), all},
		{OriginalsOfTask, len(o.Inputs.RewrittenTests) > 0, all},
		{OriginalsBefore, fail && len(o.Inputs.WithheldTests) > 0, all},
		{OriginalsControl, fail, all},
	}
}

// flipSteps returns the runs that repeat what failed before the work and passes after it.
func (o Observation) flipSteps() []step {
	f, withOriginals := o.flips(), o.flipsWithOriginals()
	checkoutDiffers := slices.ContainsFunc(f.gates(notComparable), func(name string) bool { return o.probeResult(RepeatClean, name).Status != Unknown })
	return []step{
		{RepeatBefore, true, f.gates(seenOnce)},
		{RepeatOriginals, withOriginals, f.gates(seenOnce)},
		{RepeatClean, !withOriginals && len(f.gates(redAgain)) > 0, o.gateNames()},
		{Control, checkoutDiffers, o.gateNames()},
		{RepeatAfter, true, f.gates(cleanDiffers)},
	}
}

// newTestSteps returns the runs that show whether new tests fail without the work. It returns none if
// old tests prove the work, or pass only in the work tree.
func (o Observation) newTestSteps() []step {
	f, replaced := o.flips(), o.testsReplaced()
	flipped := len(f.confirmed()) > 0
	if len(f.onlyHere()) > 0 || flipped && len(o.Tests.New) == 0 && !replaced || !o.hasOverlay() && !(flipped && replaced) {
		return nil
	}
	open := len(o.killingTests()) == 0 // tests that fail on mutants need no run without the work
	return []step{
		{RepeatClean, o.hasOverlay() && !o.flippedWithOriginals(), o.gateNames()}, // before other runs leave files in the checkout
		{MutantsForNewTests, true, o.newTestMutantGates()},
		{Control, open, o.gateNames()},
		{Overlay, open, o.overlayGates()},
		{RepeatOverlay, open, o.oldTestsFailInOverlay()},
		{Originals, open, o.maybeFlippedByNewTests()},
	}
}

// unprovenSteps returns the run that shows whether any gate runs new tests that prove nothing.
func (o Observation) unprovenSteps() []step {
	v := Verdict{Status: Pass}
	if o.findEvidence(&v); v.Evidence != Unproven || len(o.Tests.New) == 0 || o.Work.OnlyText {
		return nil
	}
	runsMore := slices.ContainsFunc(o.Now, func(r Result) bool { return r.testCount() > resultOf(o.Baseline, r.Gate).testCount() })
	return []step{{Canary, !runsMore, o.gateNames()}}
}

// cleanSteps returns the runs in a clean checkout that work needs before it is proven.
func (o Observation) cleanSteps() []step {
	v := Verdict{Status: Pass}
	if o.findEvidence(&v); v.Evidence != Proven {
		return nil
	}
	worse := o.failingOnlyClean(o.flips())
	return []step{
		{RepeatClean, !o.flippedWithOriginals(), o.gateNames()},
		{Control, len(worse) > 0, o.gateNames()},
		{RepeatAfter, true, filter(worse, o.cleanComparable)},
	}
}

// proofSteps returns the runs that try to refute a proof: the proving tests must fail if the work is
// broken, if they expect or give other values, and beside a test that must fail. All but the mutants
// need a proven verdict: otherwise no test proves the work.
func (o Observation) proofSteps() []step {
	v := Decide(o)
	w := assessment{Observation: o, proving: o.provingTests(v)}
	proving := filter(o.gateNames(), func(name string) bool { return len(w.proving[name]) > 0 })
	mutants := proving
	if v.Evidence == EvidenceUnknown && o.needsMutants() && !v.OriginalsUnknown && len(v.Flaky) == 0 {
		mutants = o.gateNames() // only they can show it
	}
	clean := filter(proving, func(name string) bool { return o.passedClean(name, w.proving[name]) })
	passes := func(p Probe) func(string) bool {
		return func(name string) bool { return w.provingTestsPass(p, name) }
	}
	canary := filter(proving, func(name string) bool { // a gate without IDs that failed on the mutants can fail
		return len(resultOf(o.Now, name).Tests) > 0 || o.probeResult(Mutants, name).Status != Fail
	})
	return []step{
		{Mutants, (o.Mutation.Possible || o.needsWorkToBuild()) && len(o.killingNewTests()) == 0, mutants},
		{ZeroParameters, len(o.Mutation.Parameters) > 0, proving},
		{SingleMutants, len(o.Mutation.Points) > 0, proving},
		{SignsNeutralized, len(o.Work.Signs) > 0, clean},
		{SignsOneByOne, true, filter(proving, func(name string) bool { // the failures may be flaky
			return len(o.FailingNeutralized(w.proving[name], o.probeResult(SignsNeutralized, name))) > 0
		})},
		{Canary, true, canary},
		{CanaryBefore, true, filter(canary, func(name string) bool { return len(o.missingCanaries(name)) > 0 })},
		{OtherExpected, true, clean},
		{OtherInputs, o.Work.ProgramChanged, clean},
		{MixedInputs, slices.ContainsFunc(clean, passes(OtherInputs)), clean},
		{FailingTests, true, filter(clean, func(name string) bool { // a gate that passes may not run these tests
			return passes(OtherExpected)(name) || passes(MixedInputs)(name)
		})},
	}
}
