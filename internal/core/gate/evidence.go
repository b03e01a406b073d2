package gate

import (
	"maps"
	"slices"
	"strings"
)

// alone names those of what turned green that new tests turned green: they do so on
// the tree of before with the new tests laid over it, for a new test can replace what
// the old ones test; or they are as red as before on the tree of now without them.
func (o Observation) alone(names []string) []string {
	var out []string
	for _, before := range o.Baseline {
		over := find(o.Answers[Overlay].Results, before.Gate)
		if told := o.placed(before); !told || o.replaced() && over.Status != Fail && over.Status != Pass {
			if o.replaced() { // then nothing else tells that the work did it
				out = append(out, both(names, o.flipped(before, find(o.Now, before.Gate)))...)
			}
			continue
		}
		for _, name := range names {
			if over.Tests[name] == Pass || name == before.Gate && len(over.Tests) == 0 && over.Status == Pass || o.leans(before, name) {
				out = append(out, name)
			}
		}
	}
	return out
}

// leans: what turned green is as red as before where the new tests are absent. What
// is red there in another way may miss something that only has the name of a test.
func (o Observation) leans(before Result, name string) bool {
	without := find(o.Answers[Originals].Results, before.Gate)
	switch {
	case o.needsOriginals() || without.Status != Fail:
		return false
	case name == before.Gate && len(before.Failing) == 0:
		return len(without.Tests) == 0 && !o.untested(before)
	case name == before.Gate:
		return len(without.Tests) == 0 && len(both(before.Failing, without.Failing)) > 0
	}
	return without.Tests[name] == Fail || without.BuildFailed && without.cut(name)
}

// untested: the gate was red for want of tests, since it found none or misses one of the
// new files by name; and nothing but new tests was added, which fail on the tree of
// before. So its green needs the tests and the work.
func (o Observation) untested(before Result) bool {
	wants := before.NoTests || slices.ContainsFunc(o.NewTests, func(file string) bool {
		return strings.Contains(before.Head+before.Tail, file)
	})
	return wants && len(o.OldTests)+len(o.Inputs) == 0 && find(o.Answers[Overlay].Results, before.Gate).Status == Fail
}

// leaning are the gates in which something turned green that new tests may hold up.
func (o Observation) leaning() []string {
	if o.needsOriginals() || !o.added() {
		return nil
	}
	f := o.flips()
	own := kept(f.confirmed, func(name string) bool { return !slices.Contains(o.alone(f.confirmed), name) })
	return kept(f.gates, func(name string) bool {
		before := find(o.Baseline, name)
		return o.placed(before) && len(both(own, o.flipped(before, find(o.Now, name)))) > 0
	})
}

// flipped names the tests of one gate that went from fail to pass, or the gate
// itself where no test explains its red.
func (o Observation) flipped(before, after Result) []string {
	if before.Status != Fail || after.Status == Unknown {
		return nil
	}
	var names []string
	for _, id := range slices.Sorted(maps.Keys(after.Tests)) {
		if after.Tests[id] == Pass && before.wasRed(id) {
			names = append(names, id)
		}
	}
	byTests := len(before.Failing) > 0 && len(before.Tests) > 0 || len(before.Incomplete) > 0
	if after.Status == Pass && !byTests && (!o.InSource || !o.TestsLost) {
		names = append(names, after.Gate)
	}
	return names
}

// wasRed: the test failed, or it could not run because its group did not build
// or crashed.
func (r Result) wasRed(id string) bool {
	if s, ran := r.Tests[id]; ran {
		return s == Fail
	}
	return r.cut(id)
}

// usable are the gates whose overlay can tell something: green now, in a place
// that shows their baseline, and not red as a whole without the overlay.
func (o Observation) usable() []string {
	var names []string
	for _, now := range o.Now {
		before := find(o.Baseline, now.Gate)
		if o.placed(before) && (len(now.Tests) > 0 || before.Status == Pass) {
			names = append(names, now.Gate)
		}
	}
	return names
}

// layable are the gates to run on the overlay: those that it can tell something of,
// and those in which something turned green.
func (o Observation) layable() []string {
	usable, turned := o.usable(), o.flips().gates
	var names []string
	for _, now := range o.Now {
		if slices.Contains(usable, now.Gate) || slices.Contains(turned, now.Gate) && o.placed(find(o.Baseline, now.Gate)) {
			names = append(names, now.Gate)
		}
	}
	return names
}

// placed: the place where the overlay is laid shows the gate's baseline.
func (o Observation) placed(before Result) bool {
	return shows(find(o.Answers[Control].Results, before.Gate), before)
}

// laid is what the overlay showed.
type laid struct {
	failed  []string // new or changed tests, or gates, that fail without the work
	unknown bool
	unbuilt bool // it fails because it does not build
	unrun   bool // it passes, and tests of now did not run there
}

// canBeLaid: there is something to lay over the tree of before: new or changed tests, or
// other gate inputs.
func (o Observation) canBeLaid() bool { return len(o.NewTests)+len(o.Inputs) > 0 }

func (o Observation) overlay() laid {
	var l laid
	usable := o.usable()
	l.unknown = len(usable) < len(o.Now) || !o.answered(Overlay)
	for _, name := range usable {
		now, control := find(o.Now, name), find(o.Answers[Control].Results, name)
		over := find(o.Answers[Overlay].Results, name)
		failed := o.fails(now, control, over)
		l.failed = append(l.failed, failed...)
		switch {
		case len(failed) > 0:
			l.unbuilt = l.unbuilt || over.BuildFailed
		case over.Status == Unknown, over.Status == Fail && control.Status == Pass:
			l.unknown = true
		case over.Status == Pass && over.told() < now.told():
			l.unknown, l.unrun = true, true
		case now.cutIn(control):
			l.unknown = true
		}
	}
	l.failed = once(l.failed)
	return l
}

// fails names what passes now and fails in the overlay because of it. Old tests that do
// not build there beside new ones tell nothing: they passed without what was laid.
func (o Observation) fails(now, control, over Result) []string {
	if over.Status != Fail {
		return nil
	}
	if len(now.Tests) == 0 {
		return over.named()
	}
	again := find(o.Answers[RepeatOverlay].Results, now.Gate)
	var names, old []string
	for _, id := range slices.Sorted(maps.Keys(now.Tests)) {
		// Where no old test was changed, only tests that the tree of before does not
		// have can have come with the overlay, and new cases of those that it has.
		_, there := control.Tests[id]
		if now.Tests[id] != Pass || there && len(o.OldTests) == 0 && again.Tests[id] != Fail {
			continue
		}
		s, ran := over.Tests[id]
		switch cut := !ran && over.cut(id) && !control.cut(id); {
		case cut && there:
			old = append(old, id)
		case cut || s == Fail:
			names = append(names, id)
		}
	}
	if len(names) == 0 { // the changed ones are among those that did not run
		return old
	}
	return names
}

// named are the tests that a run without ids tells of as failed, or else its gate.
func (r Result) named() []string {
	if len(r.Failing) > 0 {
		return r.Failing
	}
	return []string{r.Gate}
}

// newlyRed are the gates in which an old test fails by what was laid over the tree of
// before, where that may be a case of it.
func (o Observation) newlyRed() []string {
	if !o.NewCases || len(o.OldTests) > 0 {
		return nil
	}
	return kept(o.usable(), func(name string) bool {
		now, control, over := find(o.Now, name), find(o.Answers[Control].Results, name), find(o.Answers[Overlay].Results, name)
		for id, s := range over.Tests {
			if s == Fail && control.Tests[id] == Pass && now.Tests[id] == Pass {
				return true
			}
		}
		return false
	})
}

// cutIn: some test of now belongs to a group that was cut short in the other
// run, which therefore cannot tell of it.
func (r Result) cutIn(other Result) bool {
	for id := range r.Tests {
		if _, ran := other.Tests[id]; !ran && other.cut(id) {
			return true
		}
	}
	return false
}
