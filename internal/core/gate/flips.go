package gate

import (
	"strings"
)

// flip is a gate in which something failed before the work and passes after it. The lists name tests,
// or the gate if no test explains its failure.
type flip struct {
	gate       string
	withoutIDs bool // its run gives no test IDs
	state      flipState
	turned     []string // failed before, pass now
	confirmed  []string // those of turned that did the same when repeated
	onlyHere   []string // those that did so in the work tree, but failed in a clean checkout
}

// flipState says how far the repetitions of a flip got. Each state includes those before it.
type flipState int

const (
	seenOnce      flipState = iota // nothing failed again on the baseline tree
	redAgain                       // something failed again there
	cleanDiffers                   // a clean checkout does not confirm all of that
	notComparable                  // it does not reproduce the gate's baseline either
)

// flips are the gates in which something flipped, in the order of their runs.
type flips []flip

// flips compares the run in which flips count with the baseline.
func (o Observation) flips() flips {
	var all flips
	for _, after := range o.flipResults() {
		if f := o.flip(after); len(f.turned) > 0 {
			all = append(all, f)
		}
	}
	return all
}

// flip compares a gate with its baseline. It confirms tests that failed again on the baseline tree and
// pass again in a clean checkout.
// A run that left files there does not count: the next could detect that it is a repetition.
// The others run again in the work tree. They are flaky, the checkout lacks something, or the agent
// prepared the work tree.
func (o Observation) flip(after Result) flip {
	name := after.Gate
	f := flip{gate: name, withoutIDs: len(after.Tests) == 0, turned: o.flippedIn(resultOf(o.Baseline, name), after)}
	before := o.probeResult(RepeatBefore, name)
	red := intersect(f.turned, o.flippedIn(before, after))
	if len(red) == 0 {
		return f
	}
	f.state = redAgain
	green := func(p Probe) []string { return intersect(red, o.flippedIn(before, o.probeResult(p, name))) }
	if o.flipsWithOriginals() { // Originals runs in a clean checkout
		f.confirmed = green(RepeatOriginals)
		return f
	}
	clean, again := green(RepeatClean), green(RepeatAfter)
	switch allClean := len(clean) == len(red); {
	case allClean && !o.probeResult(RepeatClean, name).LeftFiles:
		f.confirmed = red
	case !allClean && !o.cleanComparable(name):
		f.state, f.confirmed = notComparable, again
	default:
		f.state, f.confirmed, f.onlyHere = cleanDiffers, intersect(again, clean), without(again, clean)
	}
	return f
}

// gates returns the gates that are at least in the state.
func (f flips) gates(least flipState) []string {
	var names []string
	for _, g := range f {
		if g.state >= least {
			names = append(names, g.gate)
		}
	}
	return names
}

func (f flips) turned() []string    { return f.names(func(g flip) []string { return g.turned }) }
func (f flips) confirmed() []string { return f.names(func(g flip) []string { return g.confirmed }) }
func (f flips) onlyHere() []string  { return f.names(func(g flip) []string { return g.onlyHere }) }

func (f flips) names(of func(flip) []string) []string {
	var names []string
	for _, g := range f {
		names = append(names, of(g)...)
	}
	return names
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
	if before.Status == Pass || len(before.Tests) > 0 && before.testCount() > 0 {
		return true
	}
	there := lastLines(control.Tail)
	return lastLines(before.Tail) == there || lastLines(o.probeResult(RepeatBefore, gate).Tail) == there
}

// lastLines returns the masked end of an output.
func lastLines(tail string) string {
	const few = 12
	lines := strings.Split(strings.TrimSpace(WithoutVarying(tail)), "\n")
	return strings.Join(lines[max(0, len(lines)-few):], "\n")
}

// intersect returns the names in a that are also in b.
func intersect(a, b []string) []string {
	in := setOf(b)
	return filter(a, func(s string) bool { return in[s] })
}

// without returns the names in a that are not in b.
func without(a, b []string) []string {
	in := setOf(b)
	return filter(a, func(s string) bool { return !in[s] })
}

// setOf is the set of some names. A suite may have tens of thousands of tests.
func setOf(names []string) map[string]bool {
	set := make(map[string]bool, len(names))
	for _, name := range names {
		set[name] = true
	}
	return set
}
