package loop

import (
	"slices"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/plan"
)

// startTask runs the gates on the tree the task starts from: the baseline that
// its work is judged against.
func (m *machine) startTask() {
	if m.s.Policy.Gates {
		m.runGates(ForBaseline)
		return
	}
	m.firstTurn()
}

// firstTurn begins the turns of a task.
func (m *machine) firstTurn() {
	if !m.restoreSavedWork() {
		m.beginTurn()
	}
}

func (m *machine) baselineFinished(g Gates) {
	if g.CannotStart && m.s.Turns == 0 {
		m.finish(Errored, "a gate cannot be run: "+g.Reason, "install what it needs, or fix the gate's command; no turn was begun")
		return
	}
	if g.ChangesTrackedFiles && m.s.Turns == 0 {
		m.finish(Errored, "a gate changes the work that it judges: "+g.Reason,
			"have the gate write to a file that git ignores (.gitignore; git rm --cached FILE where git tracks it); no turn was begun")
		return
	}
	if g.Status == gate.Unknown && m.rerun(g) {
		return
	}
	m.s.UnknownResults = 0
	if g.Status == gate.Unknown {
		m.notify(Warning, "the gates could not tell how things stand before the work: "+g.Reason)
	}
	m.recordGates(g)
	if m.s.Turns == 0 && g.Status == gate.Fail {
		m.recordRedAtStart(g)
	}
	m.s.Ladder.SeenRed = m.s.Ladder.SeenRed || !g.Green && g.Status != gate.Unknown
	m.firstTurn()
}

// redHint says what a user can do about a gate that is red for reasons of its own.
const redHint = "fix it first, or allow it (baseline = \"allow\" for the gate in pawl.toml), or leave the gate out"

// stillRedHint is the same of a loop that has ended.
const stillRedHint = "pawl resume . makes it part of the work; if it is not: " + redHint

// redAtStart keeps what failed before any work, and tells the user, who alone knows
// whether it is part of the goal. Where green is the goal it is; in a session the
// gates are shown when the loop begins. What the user wants green is let go nowhere.
func (m *machine) recordRedAtStart(g Gates) {
	if g.RedIsGoal {
		return
	}
	m.s.RedAtStart = redGates(g)
	if m.s.Policy.Verify || m.s.Attended || m.s.StopCause != "" {
		return
	}
	what := m.s.RedReason
	if red := g.Red(); len(red) > 0 {
		what = plan.Few(red, 4)
	}
	m.notify(Warning, "failing before the first turn: "+what+". That is fine if this work is to make it pass. If not, stop and "+redHint)
}

// provenBeside reports whether something else proves work beside which gates are
// still red that name no tests, and these were failing before any work: what they say has
// perhaps nothing to do with it, and the last word is the user's. They may be the goal
// as well: one claim is refused over them, if the agent has a turn left.
func (m *machine) provenDespiteRed(g Gates) bool {
	return (m.s.Ladder.RefusedStillRed || m.limit() != "") && g.Evidence == gate.Proven && !slices.ContainsFunc(g.StillRed, func(name string) bool {
		then, red := m.gateRedAtStart(name)
		return !red || len(then.Tests) > 0
	})
}

func (m *machine) gateRedAtStart(name string) (RedGate, bool) {
	i := slices.IndexFunc(m.s.RedAtStart, func(r RedGate) bool { return r.Gate == name })
	if i < 0 {
		return RedGate{}, false
	}
	return m.s.RedAtStart[i], true
}

// unrelatedRed is what fails in the end and failed before any work, where the tasks are
// done as wanted and none of them turned a test of such a gate green: what was red has
// nothing to do with them. It is nil if anything else is red.
func (m *machine) redUnrelatedToTasks(g Gates) []string {
	if m.lessThanWanted() != "" {
		return nil
	}
	var names []string
	for _, now := range redGates(g) {
		then, red := m.gateRedAtStart(now.Gate)
		isOther := func(test string) bool { return !slices.Contains(then.Tests, test) }
		if !red || (len(now.Tests) == 0) != (len(then.Tests) == 0) || slices.ContainsFunc(now.Tests, isOther) {
			return nil
		}
		for _, t := range m.s.Tasks {
			if slices.ContainsFunc(t.Flipped, func(test string) bool { return !isOther(test) }) {
				return nil
			}
		}
		if names = append(names, now.Tests...); len(now.Tests) == 0 {
			names = append(names, now.Gate)
		}
	}
	return names
}

// redGates are the gates that fail; nil if a gate could not tell, or its tests cannot
// all be named.
func redGates(g Gates) []RedGate {
	var red []RedGate
	for _, r := range g.Results {
		switch {
		case r.Status == gate.Pass || r.Kind == gate.ByReview:
		case r.Status != gate.Fail || r.Failed > len(r.Failing):
			return nil
		default:
			red = append(red, RedGate{Gate: r.Gate, Tests: r.Failing})
		}
	}
	return red
}
