package loop

import (
	"slices"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/plan"
)

// startTask runs the gates on the task's start tree. The result is the baseline for its claims.
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
		m.finish(Errored, "a gate cannot run: "+g.Reason, "install what it needs, or fix the gate's command; no turn was started")
		return
	}
	if g.ChangesTrackedFiles && m.s.Turns == 0 {
		m.finish(Errored, "a gate changes the work that it checks: "+g.Reason,
			"let the gate write to a file that git ignores (.gitignore; git rm --cached FILE where git tracks it); no turn was started")
		return
	}
	if g.Status == gate.Unknown && m.rerun(g) {
		return
	}
	if g.CannotStart { // nor can it at the claim that a turn would be paid for
		m.giveUp("a gate cannot run: "+g.Reason, "the work is kept; fix what the gate needs, then  pawl resume")
		return
	}
	m.s.Trouble.UnknownResults = 0
	if g.Status == gate.Unknown {
		m.note(Warning, "no clear gate results before the work: "+g.Reason)
	}
	m.recordGates(g)
	if m.s.Turns == 0 && g.Status == gate.Fail {
		m.recordRedAtStart(g)
	}
	m.s.Ladder.SeenRed = m.s.Ladder.SeenRed || !g.Green && g.Status != gate.Unknown
	m.s.Start.UnfinishedTree = "" // it is in the work tree again
	m.firstTurn()
}

// redHint says what a user can do about a gate that fails for unrelated reasons.
const redHint = "fix it first, or allow it (baseline = \"allow\" for the gate in pawl.toml), or leave the gate out"

// stillRedHint is redHint for a loop that has ended.
const stillRedHint = "pawl resume . makes it part of the work; if it is not part of it: " + redHint

// recordRedAtStart keeps what failed before any work and warns the user, who alone knows whether it
// belongs to the goal. A verify loop and a session already show it. If the user wants the gates
// green, nothing is excused.
func (m *machine) recordRedAtStart(g Gates) {
	if g.RedIsGoal {
		return
	}
	m.s.Gates.RedAtStart = redGates(g)
	if m.s.Policy.Verify || m.s.InSession || m.s.Stop.Cause != "" {
		return
	}
	what := m.s.Gates.RedReason
	if red := g.Red(); len(red) > 0 {
		what = plan.Few(red, 4)
	}
	m.note(Warning, "failing before the first turn: "+what+". That is fine if this work is to make it pass. If not, stop and "+redHint)
}

// provenDespiteRed reports whether a claim is proven although gates without test IDs still fail.
// Those gates must have failed before any work. They may also be the goal, so one claim is refused
// over them if a turn is left.
func (m *machine) provenDespiteRed(g Gates) bool {
	return (m.s.Ladder.HasRefused(StaysRed) || m.limit() != "") && g.Evidence == gate.Proven && !slices.ContainsFunc(g.StillRed, func(name string) bool {
		then, red := m.gateRedAtStart(name)
		return !red || len(then.Tests) > 0
	})
}

func (m *machine) gateRedAtStart(name string) (RedGate, bool) {
	i := slices.IndexFunc(m.s.Gates.RedAtStart, func(r RedGate) bool { return r.Gate == name })
	if i < 0 {
		return RedGate{}, false
	}
	return m.s.Gates.RedAtStart[i], true
}

// redUnrelatedToTasks returns the final failures if all of them are older than the loop and no task
// flipped a test of their gates. It returns nil if a task lacks evidence or anything else fails.
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

// redSinceStart returns the tests that failed before the first turn and in this run, and the gates
// without test IDs.
func (m *machine) redSinceStart(g Gates) []string {
	var names []string
	for _, now := range redGates(g) {
		then, red := m.gateRedAtStart(now.Gate)
		switch {
		case !red:
		case len(now.Tests)+len(then.Tests) == 0:
			names = append(names, now.Gate)
		default:
			names = append(names, slices.DeleteFunc(slices.Clone(now.Tests), func(test string) bool { return !slices.Contains(then.Tests, test) })...)
		}
	}
	return names
}

// stuckHint says that a gate failed before the loop started, so no task of the plan may fix it.
func (m *machine) stuckHint() string {
	if len(m.s.Gates.StillRed) == 0 {
		return ""
	}
	return "already failing before this loop started: " + plan.Few(m.s.Gates.StillRed, 4) + ". If this plan should not fix it: " + redHint
}

// redGates returns the failing gates. It returns nil if a gate is unknown or does not name all its
// failing tests.
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
