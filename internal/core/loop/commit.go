package loop

import (
	"slices"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/plan"
)

// commitWork commits the gated work. It may be a retry.
func (m *machine) commitWork() {
	ids := m.claimed()
	evidence := m.s.Claim.Gates.EvidenceFor(len(ids) - 1) // of one commit for all: the weakest
	m.await(Committing, Commit{Tasks: ids, Undoes: m.undoneBy(ids), Tree: m.s.Claim.Gates.Tree, Evidence: evidence, Receipt: m.s.Claim.Gates.Receipt})
}

func (m *machine) committed(c Committed) {
	for _, id := range m.undoneBy(m.claimed()) {
		m.updateTask(id, func(t *Task) { t.Commit = "" })
	}
	m.markDone(c.Commit, c.Receipt)
	m.commitsLost(c.LostTasks)
	m.addTasks(c.Added)
	m.recordUnapplied(c.UnappliedEditFile)
	m.s.Start, m.s.After = TaskStart{Task: m.s.Current, Tree: c.Tree}, ""
	if c.IndexError != "" {
		m.s.Trouble.StaleIndexCommit = c.Commit
		m.finish(Errored, c.IndexError, c.Hint)
		return
	}
	if m.stopped() {
		return
	}
	m.next()
}

// markDone marks the claimed tasks done.
func (m *machine) markDone(commit, receipt string) {
	ids, gates := m.claimed(), *m.s.Claim.Gates
	took := m.s.Elapsed() - m.s.TaskElapsed
	for i, id := range ids {
		m.updateTask(id, func(t *Task) {
			t.Status, t.Undone, t.Commit, t.Receipt = Done, false, commit, receipt
			t.WorkResult, t.Why, t.StillRed = gates.WorkResult, gates.Reason, gates.redAsBefore()
			if own := gates.EvidenceFor(i); own != gates.Evidence {
				t.Evidence, t.Why = own, notItsOwn(gates, id)
			}
			t.Accepted = gates.Accepted && !t.meets(t.Evidence)
			t.Took += took
		})
	}
	m.creditFlippedGates(gates.FlippedGates)
	m.remember("done: " + string(gates.Evidence))
	m.s.Claim = nil
	m.s.Gates.TurnSince = false
}

// redAsBefore returns the tests and gates that fail but did not regress.
func (g Gates) redAsBefore() []string {
	if g.Status != gate.Pass {
		return nil
	}
	red := slices.Concat(g.StillRed, g.Failing)
	slices.Sort(red)
	return slices.Compact(red)
}

// UnprovenSummary describes the gates of unproven tasks: whether all passed, or nothing regressed.
func UnprovenSummary(tasks ...Task) string {
	var red, notRun []string
	onlyText := len(tasks) > 0
	for _, t := range tasks {
		onlyText = onlyText && t.OnlyText
		notRun = append(notRun, t.TestsNotRun...)
		for _, name := range t.StillRed {
			if !slices.Contains(red, name) {
				red = append(red, name)
			}
		}
	}
	switch {
	case len(red) == 0 && len(notRun) > 0:
		return "all gates pass, but none of them runs " + plan.Few(notRun, 3)
	case len(red) == 0 && onlyText:
		return "all gates pass, and only documents and comments changed"
	case len(red) == 0:
		return "all gates pass, but no test proves it"
	}
	return "nothing new fails; what failed before still fails (" + plan.Few(red, 3) + ")"
}

// creditFlippedGates upgrades earlier tasks during which a flipped gate failed. Without test IDs,
// it proves all of them.
func (m *machine) creditFlippedGates(gates []string) {
	for i, t := range m.s.Tasks {
		if t.Status != Done || t.DoneEarlier || len(t.TestsChanged)+len(t.Approved) > 0 || t.Evidence.Satisfies(gate.Proven) {
			continue
		}
		for _, g := range gates {
			if slices.Contains(t.StillRed, g) {
				now := &m.tasks()[i]
				now.Evidence = gate.Proven
				now.Flipped = []string{g}
				now.Why = g + " failed until a later task, and passes now"
			}
		}
	}
}
