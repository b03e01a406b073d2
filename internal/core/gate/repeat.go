package gate

import (
	"slices"
	"strings"
)

// flips are what was red before the work and is green after it.
type flips struct {
	candidates []string // seen once
	confirmed  []string // red and green again when repeated
	turned     []string // confirmed gates that report no ids
	gates      []string // gates to repeat
	red        []string // of them, those that were red again
	open       []string // of these, those of which the clean checkout does not tell all
	unfit      []string // of these, those whose baseline it does not show
	unseen     []string // green again here, red in a clean checkout
}

func (o Observation) flips() flips {
	var f flips
	for _, after := range o.after() {
		candidates := o.flipped(find(o.Baseline, after.Gate), after)
		if len(candidates) == 0 {
			continue
		}
		f.gates = append(f.gates, after.Gate)
		f.candidates = append(f.candidates, candidates...)
		again := o.flipped(find(o.Answers[RepeatBefore].Results, after.Gate), after)
		if red := both(candidates, again); len(red) > 0 {
			f.red = append(f.red, after.Gate)
			f.repeat(o, after, red)
		}
	}
	return f
}

// repeat confirms of one gate what was red twice. What a clean checkout shows green is
// so, unless the run left something there by which the next may know that it is not the
// first. What it does not is asked for once more here: then it is flaky, or the place
// lacks something, or the agent has put something here that git does not see.
func (f *flips) repeat(o Observation, after Result, red []string) {
	name := after.Gate
	before := find(o.Answers[RepeatBefore].Results, name)
	green := func(p Probe) []string { return both(red, o.flipped(before, find(o.Answers[p].Results, name))) }
	confirmed := red
	if o.byOriginals() { // they ran in a clean checkout
		confirmed = green(RepeatOriginals)
	} else if clean := green(RepeatClean); len(clean) < len(red) || o.answer(RepeatClean, name).Left {
		f.open = append(f.open, name)
		confirmed = green(RepeatAfter)
		if len(clean) < len(red) && !o.fit(name) {
			f.unfit = append(f.unfit, name)
		} else {
			f.unseen = append(f.unseen, kept(confirmed, func(s string) bool { return !slices.Contains(clean, s) })...)
			confirmed = both(confirmed, clean)
		}
	}
	f.confirmed = append(f.confirmed, confirmed...)
	if len(after.Tests) == 0 {
		f.turned = append(f.turned, both(confirmed, []string{name})...)
	}
}

// nextRepeat is the next run that tells whether flips repeat.
func (o Observation) nextRepeat(f flips) (Probe, []string) {
	switch {
	case !o.answered(RepeatBefore):
		return RepeatBefore, f.gates
	case o.byOriginals():
		if !o.answered(RepeatOriginals) {
			return RepeatOriginals, f.gates
		}
	case len(f.red) == 0:
	case !o.answered(RepeatClean):
		return RepeatClean, o.gates()
	case len(f.open) == 0:
	case !o.answered(Control) && slices.ContainsFunc(f.unfit, func(name string) bool { return o.answer(RepeatClean, name).Status != Unknown }):
		return Control, o.gates()
	case !o.answered(RepeatAfter):
		return RepeatAfter, f.open
	}
	return "", nil
}

func (o Observation) answer(p Probe, gate string) Result { return find(o.Answers[p].Results, gate) }

// fit: a clean checkout that could tell, and shows of the tree of before what was seen
// where the task began. A red that no passing test stands beside may have another
// cause there: then it must say the same as one of the two seen before.
func (o Observation) fit(gate string) bool {
	before, control := find(o.Baseline, gate), o.answer(Control, gate)
	if o.answer(RepeatClean, gate).Status == Unknown || !shows(control, before) {
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
	there := ending(control.Tail)
	return ending(before.Tail) == there || ending(o.answer(RepeatBefore, gate).Tail) == there
}

// ending is how an output ends, without what differs between runs that failed alike.
func ending(tail string) string {
	const few = 12
	lines := strings.Split(strings.TrimSpace(Steady(tail)), "\n")
	return strings.Join(lines[max(0, len(lines)-few):], "\n")
}

// both are the names that are in a and in b.
func both(a, b []string) []string {
	return kept(a, func(s string) bool { return slices.Contains(b, s) })
}
