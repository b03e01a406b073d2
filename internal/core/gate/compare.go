package gate

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// comparison is a run compared with the baseline.
type comparison struct {
	regressed []string // passed before; fails now, or its group did not finish
	missing   []string // tests that passed before and did not run now
	stillRed  []string // fails now and did not pass before
	unknown   []string // gates whose result is unknown
}

// compareRuns compares each gate of now with its result before.
func compareRuns(before, now []Result) comparison {
	var c comparison
	for _, n := range now {
		c.add(resultOf(before, n.Gate), n)
	}
	return c
}

// compareWithBaseline compares a run with the baseline. Without the ratchet, tests may disappear.
func (o Observation) compareWithBaseline(run []Result) comparison {
	c := compareRuns(o.Baseline, run)
	if o.NoRatchet {
		c.missing = nil
	}
	return c
}

func (c *comparison) add(before, now Result) {
	named := len(c.regressed)
	stopped := before.stoppedReporting(now)
	if now.Status == Unknown && !stopped {
		if now.ExitCode != 0 || !c.addMissingCount(before, now) {
			c.unknown = append(c.unknown, now.Gate)
		}
		return
	}
	for _, id := range slices.Sorted(maps.Keys(before.Tests)) {
		if before.Tests[id] != Pass {
			continue
		}
		switch after, ran := now.Tests[id]; {
		case stopped, ran && after != Pass, !ran && now.inIncompleteGroup(id):
			c.regressed = append(c.regressed, id)
		case !ran && !now.parentPassed(id):
			c.missing = append(c.missing, id)
		}
	}
	switch {
	case stopped:
		if len(c.regressed) == named {
			c.regressed = append(c.regressed, now.Gate)
		}
	case now.Status == Pass:
		c.addMissingCount(before, now)
	case before.Status == Pass:
		if len(c.regressed) == named {
			c.regressed = append(c.regressed, now.Gate)
		}
	case before.Status == Fail:
		c.addStillRed(before, now)
	default: // the baseline is unknown
		c.unknown = append(c.unknown, now.Gate)
	}
}

// stoppedReporting reports whether a gate reported tests before and now exits well without any.
// Code under test that exits with 0 causes this, so no approved test change excuses it. An
// unreadable report proves nothing about the tests that it would name.
func (r Result) stoppedReporting(now Result) bool {
	left := len(now.Tests)
	if len(r.Tests) == 0 {
		left += now.Passed + now.Failed
	}
	endsWell := now.Status == Pass || now.Status == Unknown && now.ExitCode == 0 && len(r.Tests) == 0
	return endsWell && left == 0 && r.testCount() > 0
}

// testCount returns the number of passing test IDs or, without IDs, of all tests counted. Failed
// IDs do not count: only a passing test can go missing.
func (r Result) testCount() int {
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

// addMissingCount records fewer tests than before, where no report gives IDs. It reports whether it
// did.
func (c *comparison) addMissingCount(before, now Result) bool {
	then, left := before.testCount(), now.testCount()
	if before.MultipleRuns || now.MultipleRuns { // a failed run may prevent the next one
		then = min(then, 1)
	}
	if len(before.Tests)+len(now.Tests) > 0 || left >= then {
		return false
	}
	c.missing = append(c.missing, fmt.Sprintf("%s (%d tests then, %d now)", now.Gate, then, left))
	return true
}

// parentPassed reports whether the test is a case of a test that passed. Case names often vary (a
// port, a time). The run with the originals finds deleted cases.
func (r Result) parentPassed(id string) bool {
	return slices.ContainsFunc([]string{"/", " > "}, func(separator string) bool {
		i := strings.LastIndex(id, separator)
		return i > 0 && r.Tests[id[:i]] == Pass
	})
}

func (c *comparison) addStillRed(before, now Result) {
	named := len(c.stillRed)
	for _, id := range slices.Sorted(maps.Keys(now.Tests)) {
		if now.Tests[id] == Fail && before.Tests[id] != Pass {
			c.stillRed = append(c.stillRed, id)
		}
	}
	if len(c.stillRed) == named {
		c.stillRed = append(c.stillRed, now.Gate)
	}
}

// unchanged reports whether everything that passed before passes now.
func (c comparison) unchanged() bool { return len(c.regressed)+len(c.missing)+len(c.unknown) == 0 }

// Reproduces reports whether a control run agrees with an earlier run of the same tree, gate and
// tests alike. If not, its checkout lacks something and its results mean nothing.
func Reproduces(control, seen Result) bool {
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
