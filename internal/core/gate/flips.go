package gate

import (
	"slices"
	"strings"
)

// flips are tests and gates that failed before the work and pass after it.
type flips struct {
	candidates      []string // failed before, pass now
	confirmed       []string // the same again when repeated
	gatesWithoutIDs []string // confirmed gates without test IDs
	gates           []string // gates to repeat
	redAgain        []string // those of gates that failed again on the baseline tree
	cleanDiffers    []string // those of redAgain whose clean checkout does not confirm all
	notComparable   []string // those of cleanDiffers whose baseline it does not reproduce
	onlyHere        []string // green again in the work tree, red in a clean checkout
}

func (o Observation) flips() flips {
	var f flips
	for _, after := range o.flipResults() {
		candidates := o.flippedIn(resultOf(o.Baseline, after.Gate), after)
		if len(candidates) == 0 {
			continue
		}
		f.gates = append(f.gates, after.Gate)
		f.candidates = append(f.candidates, candidates...)
		again := o.flippedIn(o.probeResult(RepeatBefore, after.Gate), after)
		if red := intersect(candidates, again); len(red) > 0 {
			f.redAgain = append(f.redAgain, after.Gate)
			f.confirm(o, after, red)
		}
	}
	return f
}

// confirm adds those of a gate's twice-failed tests that pass again in a clean checkout.
// A run that left files there does not count: the next could detect that it is a repetition.
// The others run again in the work tree. They are flaky, the checkout lacks something, or the agent
// prepared the work tree.
func (f *flips) confirm(o Observation, after Result, red []string) {
	name := after.Gate
	before := o.probeResult(RepeatBefore, name)
	green := func(p Probe) []string { return intersect(red, o.flippedIn(before, o.probeResult(p, name))) }
	confirmed := red
	if o.flipsWithOriginals() { // Originals runs in a clean checkout
		confirmed = green(RepeatOriginals)
	} else if clean := green(RepeatClean); len(clean) < len(red) || o.probeResult(RepeatClean, name).LeftFiles {
		f.cleanDiffers = append(f.cleanDiffers, name)
		confirmed = green(RepeatAfter)
		if len(clean) < len(red) && !o.cleanComparable(name) {
			f.notComparable = append(f.notComparable, name)
		} else {
			f.onlyHere = append(f.onlyHere, filter(confirmed, func(s string) bool { return !slices.Contains(clean, s) })...)
			confirmed = intersect(confirmed, clean)
		}
	}
	f.confirmed = append(f.confirmed, confirmed...)
	if len(after.Tests) == 0 {
		f.gatesWithoutIDs = append(f.gatesWithoutIDs, intersect(confirmed, []string{name})...)
	}
}

func (o Observation) probeResult(p Probe, gate string) Result {
	return resultOf(o.Runs[p].Results, gate)
}

// cleanComparable reports whether a clean checkout has a result and reproduces the gate's baseline.
// A baseline failure without a passing test must also end with the same output: there it may have
// another cause.
func (o Observation) cleanComparable(gate string) bool {
	before, control := resultOf(o.Baseline, gate), o.probeResult(Control, gate)
	if o.probeResult(RepeatClean, gate).Status == Unknown || !Reproduces(control, before) {
		return false
	}
	if before.Status == Pass {
		return true
	}
	for _, s := range before.Tests {
		if s == Pass {
			return true
		}
	}
	there := lastLines(control.Tail)
	return lastLines(before.Tail) == there || lastLines(o.probeResult(RepeatBefore, gate).Tail) == there
}

// lastLines returns the masked end of an output.
func lastLines(tail string) string {
	const few = 12
	lines := strings.Split(strings.TrimSpace(Steady(tail)), "\n")
	return strings.Join(lines[max(0, len(lines)-few):], "\n")
}

// intersect returns the names in a that are also in b.
func intersect(a, b []string) []string {
	return filter(a, func(s string) bool { return slices.Contains(b, s) })
}
