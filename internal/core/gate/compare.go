package gate

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// comparison is a run held against the baseline.
type comparison struct {
	broken  []string // passed before; fails now, or was cut short
	missing []string // tests that passed before and were not run now
	red     []string // fails now and did not pass before
	unknown []string // gates that could not tell
}

// against compares every gate of now with the one of the same name before.
func against(before, now []Result) comparison {
	var c comparison
	for _, n := range now {
		c.add(find(before, n.Gate), n)
	}
	return c
}

// against holds a run against the baseline. Without the ratchet a test need not
// exist any more.
func (o Observation) against(run []Result) comparison {
	c := against(o.Baseline, run)
	if o.NoRatchet {
		c.missing = nil
	}
	return c
}

func (c *comparison) add(before, now Result) {
	named := len(c.broken)
	silenced := before.silenced(now)
	if now.Status == Unknown && !silenced {
		if now.ExitCode != 0 || !c.fewer(before, now) {
			c.unknown = append(c.unknown, now.Gate)
		}
		return
	}
	for _, id := range slices.Sorted(maps.Keys(before.Tests)) {
		if before.Tests[id] != Pass {
			continue
		}
		switch after, ran := now.Tests[id]; {
		case silenced, ran && after != Pass, !ran && now.cut(id):
			c.broken = append(c.broken, id)
		case !ran && !now.parentPassed(id):
			c.missing = append(c.missing, id)
		}
	}
	switch {
	case silenced:
		if len(c.broken) == named {
			c.broken = append(c.broken, now.Gate)
		}
	case now.Status == Pass:
		c.fewer(before, now)
	case before.Status == Pass: // the gate itself passed, so it must pass
		if len(c.broken) == named {
			c.broken = append(c.broken, now.Gate)
		}
	case before.Status == Fail:
		c.stillRed(before, now)
	default: // it may have passed
		c.unknown = append(c.unknown, now.Gate)
	}
}

// silenced: tests were told of before, by name or by number, and now the gate ends
// well and tells of none by the same measure. Code under test that ends the process
// with 0 leaves such a gate: whatever may be changed in tests, that is not a judgement.
// A report that could not be read says nothing of the tests that it would name.
func (r Result) silenced(now Result) bool {
	left := len(now.Tests)
	if len(r.Tests) == 0 {
		left += now.Passed + now.Failed
	}
	endsWell := now.Status == Pass || now.Status == Unknown && now.ExitCode == 0 && len(r.Tests) == 0
	return endsWell && left == 0 && r.told() > 0
}

// told is how many tests a run told of: by name those that passed, since no other
// can be lost; where it has no names, by number.
func (r Result) told() int {
	if len(r.Tests) == 0 {
		return r.Passed + r.Failed
	}
	n := 0
	for _, s := range r.Tests {
		if s == Pass {
			n++
		}
	}
	return n
}

// fewer holds the numbers of tests against each other where no report gives names:
// those that are not told of any more are missing. It is false where none are.
func (c *comparison) fewer(before, now Result) bool {
	then, left := before.told(), now.told()
	if before.Several || now.Several { // a run that failed may have kept the next from beginning
		then = min(then, 1)
	}
	if len(before.Tests)+len(now.Tests) > 0 || left >= then {
		return false
	}
	c.missing = append(c.missing, fmt.Sprintf("%s (%d tests then, %d now)", now.Gate, then, left))
	return true
}

// parentPassed: the test is one case of another, which passed. Names of cases are
// often made while the test runs (a port, a time), and a case that was deleted
// from a test file is found by the run with the originals.
func (r Result) parentPassed(id string) bool {
	return slices.ContainsFunc([]string{"/", " > "}, func(separator string) bool {
		i := strings.LastIndex(id, separator)
		return i > 0 && r.Tests[id[:i]] == Pass
	})
}

func (c *comparison) stillRed(before, now Result) {
	named := len(c.red)
	for _, id := range slices.Sorted(maps.Keys(now.Tests)) {
		if now.Tests[id] == Fail && before.Tests[id] != Pass {
			c.red = append(c.red, id)
		}
	}
	if len(c.red) == named {
		c.red = append(c.red, now.Gate)
	}
}

// stands reports whether nothing that passed before does not pass now.
func (c comparison) stands() bool { return len(c.broken)+len(c.missing)+len(c.unknown) == 0 }

// shows reports whether a control run shows what was seen elsewhere on the same
// tree: if not, the place it ran in lacks something, and nothing seen there
// tells anything.
func shows(control, seen Result) bool { return Shows(control, seen) }

// Shows reports whether a run in another place tells what one here told: the same of the
// gate, and of each of its tests.
func Shows(control, seen Result) bool {
	if control.Status != seen.Status || control.Status == Unknown {
		return false
	}
	for id, s := range seen.Tests {
		if control.Tests[id] != s {
			return false
		}
	}
	return true
}

func showsAll(control, seen []Result) bool {
	return !slices.ContainsFunc(seen, func(s Result) bool { return !shows(find(control, s.Gate), s) })
}
