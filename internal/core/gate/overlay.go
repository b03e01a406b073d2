package gate

import (
	"maps"
	"slices"
	"strings"
)

// flippedByNewTests returns those of the flipped names that turned green because of new tests, not
// of the work.
// They pass on the baseline tree with the new tests (a new test can replace an old one), or fail on
// the current tree without them.
func (o Observation) flippedByNewTests(names []string) []string {
	var out []string
	for _, before := range o.Baseline {
		overlay := o.probeResult(Overlay, before.Gate)
		if reproduced := o.baselineReproduced(before); !reproduced || o.testsReplaced() && overlay.Status != Fail && overlay.Status != Pass {
			if o.testsReplaced() { // then nothing proves that the work did it
				out = append(out, intersect(names, o.flippedIn(before, resultOf(o.Now, before.Gate)))...)
			}
			continue
		}
		for _, name := range names {
			if overlay.Tests[name] == Pass || name == before.Gate && len(overlay.Tests) == 0 && overlay.Status == Pass || o.needsNewTests(before, name) {
				out = append(out, name)
			}
		}
	}
	return out
}

// needsNewTests reports whether a flipped test fails as before if the new tests are removed. A
// different failure may only miss a file that looks like a test, so it does not count.
func (o Observation) needsNewTests(before Result, name string) bool {
	without := o.probeResult(Originals, before.Gate)
	switch {
	case o.needsOriginals() || without.Status != Fail:
		return false
	case name == before.Gate && len(before.Failing) == 0:
		return len(without.Tests) == 0 && !o.lackedTests(before)
	case name == before.Gate:
		return len(without.Tests) == 0 && len(intersect(before.Failing, without.Failing)) > 0
	}
	return without.Tests[name] == Fail || without.BuildFailed && without.inIncompleteGroup(name)
}

// lackedTests reports whether the gate failed only for lack of tests: it found none, or misses a
// new test file by name. Nothing but new tests was added, and they fail on the baseline tree. So
// its green needs both tests and work.
func (o Observation) lackedTests(before Result) bool {
	wants := before.NoTestsFound || slices.ContainsFunc(o.Tests.New, func(file string) bool {
		return strings.Contains(before.Head+before.Tail, file)
	})
	return wants && len(o.Inputs.Changed)+len(o.Inputs.NonTests) == 0 && o.probeResult(Overlay, before.Gate).Status == Fail
}

// maybeFlippedByNewTests returns the gates whose flips may depend on new tests.
func (o Observation) maybeFlippedByNewTests() []string {
	if o.needsOriginals() || !o.addedTestFiles() {
		return nil
	}
	f := o.flips()
	own := without(f.confirmed(), o.flippedByNewTests(f.confirmed()))
	return filter(f.gates(seenOnce), func(name string) bool {
		before := resultOf(o.Baseline, name)
		return o.baselineReproduced(before) && len(intersect(own, o.flippedIn(before, resultOf(o.Now, name)))) > 0
	})
}

// flippedIn returns a gate's tests that went from fail to pass, or the gate if no test explains its
// failure.
func (o Observation) flippedIn(before, after Result) []string {
	if before.Status != Fail || after.Status == Unknown {
		return nil
	}
	var names []string
	for _, id := range slices.Sorted(maps.Keys(after.Tests)) {
		if after.Tests[id] == Pass && before.failedOrDidNotRun(id) {
			names = append(names, id)
		}
	}
	byTests := len(before.Failing) > 0 && len(before.Tests) > 0 || len(before.IncompleteGroups) > 0
	if after.Status == Pass && !byTests && (!o.Tests.InlineChanged || !o.Tests.OldInlineChanged) {
		names = append(names, after.Gate)
	}
	return names
}

// failedOrDidNotRun reports whether a test failed, or its group did not build or crashed.
func (r Result) failedOrDidNotRun(id string) bool {
	if s, ran := r.Tests[id]; ran {
		return s == Fail
	}
	return r.inIncompleteGroup(id)
}

// comparableGates returns the gates whose overlay run means something: the baseline is reproduced
// there, and the gate has test IDs or passed before.
func (o Observation) comparableGates() []string {
	return o.gatesWhere(func(now Result) bool {
		before := resultOf(o.Baseline, now.Gate)
		return o.baselineReproduced(before) && (len(now.Tests) > 0 || before.Status == Pass)
	})
}

// overlayGates returns the gates to run with the overlay: the comparable ones and those in which
// something flipped.
func (o Observation) overlayGates() []string {
	usable, turned := o.comparableGates(), o.flips().gates(seenOnce)
	return filter(o.gateNames(), func(name string) bool {
		return slices.Contains(usable, name) || slices.Contains(turned, name) && o.baselineReproduced(resultOf(o.Baseline, name))
	})
}

// baselineReproduced reports whether the checkout used for the overlay reproduces the gate's
// baseline.
func (o Observation) baselineReproduced(before Result) bool {
	return Reproduces(o.probeResult(Control, before.Gate), before)
}

// overlayResult is what the new tests did on the baseline tree.
type overlayResult struct {
	failed       []string // new or changed tests, or gates, that fail without the work
	unknown      bool     // whether they fail is not known
	buildFailed  bool     // a failure is a build failure
	testsMissing bool     // it passes, but ran fewer tests than now
}

// hasOverlay reports whether there are new or changed tests, or other gate inputs, to add to the
// baseline tree.
func (o Observation) hasOverlay() bool { return len(o.Tests.New)+len(o.Inputs.NonTests) > 0 }

func (o Observation) evaluateOverlay() overlayResult {
	var result overlayResult
	usable := o.comparableGates()
	result.unknown = len(usable) < len(o.Now) || !o.probed(Overlay)
	for _, name := range usable {
		now, control := resultOf(o.Now, name), o.probeResult(Control, name)
		overlay := o.probeResult(Overlay, name)
		failed := o.failedInOverlay(now, control, overlay)
		result.failed = append(result.failed, failed...)
		switch {
		case len(failed) > 0:
			result.buildFailed = result.buildFailed || overlay.BuildFailed
		case overlay.Status == Unknown, overlay.Status == Fail && control.Status == Pass:
			result.unknown = true
		case overlay.Status == Pass && overlay.testCount() < now.testCount():
			result.unknown, result.testsMissing = true, true
		case now.incompleteIn(control):
			result.unknown = true
		}
	}
	result.failed = unique(result.failed)
	return result
}

// failedInOverlay returns what passes now and fails in the overlay run. Old tests that do not build
// beside new ones count only if no new test failed.
func (o Observation) failedInOverlay(now, control, overlay Result) []string {
	if overlay.Status != Fail {
		return nil
	}
	if len(now.Tests) == 0 {
		return overlay.failingOrGate()
	}
	repeat := o.probeResult(RepeatOverlay, now.Gate)
	var names, old []string
	for _, id := range slices.Sorted(maps.Keys(now.Tests)) {
		// If no old test changed, the overlay adds only new tests, and new cases of old ones.
		_, existed := control.Tests[id]
		if now.Tests[id] != Pass || existed && len(o.Inputs.Changed) == 0 && repeat.Tests[id] != Fail {
			continue
		}
		s, ran := overlay.Tests[id]
		switch incomplete := !ran && overlay.inIncompleteGroup(id) && !control.inIncompleteGroup(id); {
		case incomplete && existed:
			old = append(old, id)
		case incomplete || s == Fail:
			names = append(names, id)
		}
	}
	if len(names) == 0 { // the changed tests are among those that did not run
		return old
	}
	return names
}

// failingOrGate returns the failing tests of a run without IDs, or the gate's name.
func (r Result) failingOrGate() []string {
	if len(r.Failing) > 0 {
		return r.Failing
	}
	return []string{r.Gate}
}

// oldTestsFailInOverlay returns the gates in which an unchanged test fails because of the overlay:
// perhaps a new case of it, read from new test data.
func (o Observation) oldTestsFailInOverlay() []string {
	if !o.Tests.NewData || len(o.Inputs.Changed) > 0 {
		return nil
	}
	return filter(o.comparableGates(), func(name string) bool {
		now, control, over := resultOf(o.Now, name), o.probeResult(Control, name), o.probeResult(Overlay, name)
		for id, s := range over.Tests {
			if s == Fail && control.Tests[id] == Pass && now.Tests[id] == Pass {
				return true
			}
		}
		return false
	})
}

// incompleteIn reports whether a test of r belongs to a group that did not finish in the other run.
func (r Result) incompleteIn(other Result) bool {
	for id := range r.Tests {
		if _, ran := other.Tests[id]; !ran && other.inIncompleteGroup(id) {
			return true
		}
	}
	return false
}
