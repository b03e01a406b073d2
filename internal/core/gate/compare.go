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
	if now.Status == Unknown {
		if now.ExitCode != 0 || !c.count(before, now) { // a runner that ends well and tells nothing has told enough
			c.unknown = append(c.unknown, now.Gate)
		}
		return
	}
	silenced := before.silenced(now)
	named := len(c.broken)
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
	if now.Status == Pass {
		c.count(before, now)
		return
	}
	switch before.Status {
	case Pass: // the gate itself passed, so it must pass
		if len(c.broken) == named {
			c.broken = append(c.broken, now.Gate)
		}
	case Fail:
		c.stillRed(before, now)
	default: // it may have passed
		c.unknown = append(c.unknown, now.Gate)
	}
}

// count holds the numbers of tests against each other where no report gives ids.
// Code under test that ends the process with 0 leaves a runner that tells of fewer
// tests, or of none: that is no judgement, whatever may be changed in tests. It is
// false where the numbers say nothing.
func (c *comparison) count(before, now Result) bool {
	then, left := before.Passed+before.Failed, now.Passed+now.Failed
	if len(before.Tests)+len(now.Tests) > 0 || left >= then {
		return false
	}
	name := fmt.Sprintf("%s (%d tests then, %d now)", now.Gate, then, left)
	if left == 0 {
		c.broken = append(c.broken, name)
		return true
	}
	c.missing = append(c.missing, name)
	return true
}

// silenced: tests passed before, and now the gate passes and reports none. Whatever
// may be changed in tests, that is no judgement.
func (r Result) silenced(now Result) bool {
	if now.Status != Pass || len(now.Tests) > 0 {
		return false
	}
	for _, s := range r.Tests {
		if s == Pass {
			return true
		}
	}
	return false
}

// parentPassed: the test is one case of another, which passed. Names of cases are
// often made while the test runs (a port, a time), and a case that was deleted
// from a test file is found by the run with the originals.
func (r Result) parentPassed(id string) bool {
	for _, sep := range []string{"/", " > "} {
		if i := strings.LastIndex(id, sep); i > 0 && r.Tests[id[:i]] == Pass {
			return true
		}
	}
	return false
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
func shows(control, seen Result) bool {
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
