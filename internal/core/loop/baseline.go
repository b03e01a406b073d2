package loop

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/gate"
)

func (m *machine) baseline(g Gates) {
	if g.CannotStart && m.s.Turns == 0 {
		m.finish(Errored, "a gate cannot be run: "+g.Reason, "install what it needs, or fix the gate's command; no turn was begun")
		return
	}
	if g.Status == gate.Unknown && m.rerun(g) {
		return
	}
	m.s.Unknowns = 0
	if g.Status == gate.Unknown {
		m.notify(Warning, "the gates could not tell how things stand before the work: "+g.Reason)
	}
	m.sawGates(g)
	if m.s.Turns == 0 && g.Status == gate.Fail {
		m.redAtStart(g)
	}
	m.s.Ladder.SeenRed = m.s.Ladder.SeenRed || !g.Green && g.Status != gate.Unknown
	m.beginTurn()
}

// redHint says what a user can do about a gate that is red for reasons of its own.
const redHint = "fix it first, or allow it (baseline = \"allow\" for the gate in pawl.toml), or leave the gate out"

// redAtStart keeps what failed before any work, and tells the user, who alone knows
// whether it is part of the goal. Where green is the goal it is; in a session the
// gates are shown when the loop begins.
func (m *machine) redAtStart(g Gates) {
	m.s.RedAtStart = failingTests(g)
	if m.s.Policy.Verify || m.s.Attended {
		return
	}
	what := m.s.Red
	if red := g.Red(); len(red) > 0 {
		what = firstFew(red)
	}
	m.notify(Warning, "red before any work: "+what+". If that is not part of this work: stop, and "+redHint)
}

// unrelatedRed are the tests that fail in the end and failed before any work, where
// the tasks are done as wanted and none of them turned a test of that time green:
// what was red has nothing to do with them. It is nil if anything else is red.
func (m *machine) unrelatedRed(g Gates) []string {
	now := failingTests(g)
	ofTheStart := func(test string) bool { return slices.Contains(m.s.RedAtStart, test) }
	if len(now) == 0 || m.lessThanWanted() != "" || slices.ContainsFunc(now, func(test string) bool { return !ofTheStart(test) }) {
		return nil
	}
	for _, t := range m.s.Tasks {
		if slices.ContainsFunc(t.Flipped, ofTheStart) {
			return nil
		}
	}
	return now
}

// failingTests are all tests that fail, nil if there are none, or if they cannot all
// be named.
func failingTests(g Gates) []string {
	var tests []string
	for _, r := range g.Results {
		switch {
		case r.Status == gate.Pass || r.Kind == gate.ByReview:
		case r.Status != gate.Fail || len(r.Failing) == 0 || r.Failed > len(r.Failing):
			return nil
		default:
			tests = append(tests, r.Failing...)
		}
	}
	return tests
}

func firstFew(names []string) string {
	const few = 4
	if len(names) <= few {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:few], ", "), len(names)-few)
}
