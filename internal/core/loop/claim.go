package loop

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/plan"
)

const (
	maxUnknowns = 3 // reruns of gates with an unknown result
	maxOutages  = 8 // the same before a task if nothing of a gate can run: a service may be back within an hour
	unknownWait = 10 * time.Second
	outageWait  = 2 * time.Minute // the first wait after maxUnknowns; each is twice as long as the one before
)

func (m *machine) runGates(p Purpose) {
	m.s.Gates.Purpose = p
	run, phase := RunGates{Purpose: p, Task: m.s.Current, Claimed: m.claimed()}, Judging
	switch p {
	case ForReview:
		run.ReviewTree = m.s.Claim.Gates.Tree
	case ForBaseline:
		before, _ := m.s.Task(m.s.PreviousTask)
		run.UnfinishedTree, run.Again, phase = m.s.Start.UnfinishedTree, before.Status == Skipped && !before.LeftOut, Baseline
	}
	m.await(phase, run)
}

// recordGates keeps whether the gates pass. An unknown result is neither green nor red.
func (m *machine) recordGates(g Gates) {
	m.s.Gates.Green, m.s.Gates.RedReason = g.Green && g.Status != gate.Unknown, ""
	if !g.Green && g.Status != gate.Unknown {
		m.s.Gates.RedReason = plan.OneLine(cmp.Or(g.Reason, "it does not pass in full"), maxWhyBytes)
	}
	m.s.Gates.StillRed = m.redSinceStart(g)
}

// rerun retries unknown results a bounded number of times.
func (m *machine) rerun(g Gates) bool {
	n := m.s.Trouble.UnknownResults
	if n >= m.s.MaxReruns(g) {
		return false
	}
	m.s.Trouble.UnknownResults++
	wait := time.Duration(n+1) * unknownWait
	if n >= maxUnknowns {
		wait = outageWait << (n - maxUnknowns)
	}
	m.wait(m.s.Now.Add(wait), ThenGates, "the result of a gate is not clear; it runs again: "+g.Reason)
	return true
}

// MaxReruns returns how often gates run again while their result is unknown.
func (s State) MaxReruns(g Gates) int {
	if s.Gates.Purpose == ForBaseline && g.CannotStart {
		return maxOutages
	}
	return maxUnknowns
}

// claimTasks returns the unfinished tasks that the claim names, else the current one.
func (m *machine) claimTasks(c Claim) []string {
	var ids []string
	for _, id := range c.Tasks {
		if t, ok := m.s.Task(id); ok && t.Status != Done && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		ids = []string{m.s.Current}
	}
	return ids
}

// claimed returns the claimed tasks, the current one first.
func (m *machine) claimed() []string {
	if m.s.Claim == nil {
		return nil
	}
	ids := m.claimTasks(m.s.Claim.Claim)
	slices.SortStableFunc(ids, func(a, b string) int {
		switch m.s.Current {
		case a:
			return -1
		case b:
			return 1
		}
		return 0
	})
	return ids
}

// routeClaim runs the gates on a claim, or decides it if gates cannot.
func (m *machine) routeClaim(seen Inspection) {
	switch {
	case m.s.TreeReplaced:
		m.restartTask()
	case m.s.Policy.Kind == Answer:
		m.reviewOrAccept(Gates{Status: gate.Pass, Reason: "an answer that nothing checked", WorkResult: WorkResult{Evidence: gate.EvidenceUnknown}})
	case !seen.Changed && !seen.Shallow && m.atMessage():
		m.messageChangedNothing()
	case !seen.Changed && !seen.Shallow && !m.s.Policy.Verify:
		m.claimWithoutChange(seen.OutsideChanges)
	case m.askApproval(ApproveClaim, ""):
	default:
		m.runGates(ForClaim)
	}
}

// claimWithoutChange refuses a claim without changes once, then skips the task as Unchanged.
// Without gates, a user's session is not refused: the request may have needed no change, and the
// user watches.
func (m *machine) claimWithoutChange(beside []string) {
	m.s.OutsideChanges = beside
	if (m.s.Policy.Gates || !m.s.InSession) && m.refuseOnce(LacksEvidence) {
		f := Failing{Reason: "no file changed since the task started" + m.outsideChangesNote()}
		if m.s.Gates.RedReason != "" {
			f.Remedy = "a change that makes this pass: " + m.s.Gates.RedReason
		}
		m.returnClaim(f)
		return
	}
	for _, id := range m.claimed() {
		m.updateTask(id, func(t *Task) {
			t.Status, t.Why = Unchanged, "claimed done, but changed no files"+m.outsideChangesNote()
		})
	}
	m.remember("claimed done, but changed no files: skipped")
	m.next()
}

// outsideChangesNote names uncommittable changes that may have made a gate pass.
func (m *machine) outsideChangesNote() string {
	if len(m.s.OutsideChanges) == 0 {
		return ""
	}
	return " (changed, but in no commit: " + plan.Few(m.s.OutsideChanges, 4) + ")"
}

// refuseOnce reports whether a claim may be refused for a reason, and records that it is.
func (m *machine) refuseOnce(reason RefusalReason) bool {
	if m.s.Ladder.HasRefused(reason) {
		return false
	}
	m.s.Ladder.Asked = append(slices.Clip(m.s.Ladder.Asked), reason)
	return true
}

// returnClaim begins a turn whose prompt says why the claim does not count.
func (m *machine) returnClaim(f Failing) {
	m.s.Refusals++
	m.remember("claim refused: " + f.Reason)
	m.s.Failing, m.s.Claim = &f, nil
	m.beginTurnFor(ClaimRefused)
}

// newSigns returns the signs that were not reported to the agent yet, and marks them as reported.
func (m *machine) newSigns(g Gates) []string {
	fresh := exclude(g.Signs, func(s string) bool { return slices.Contains(m.s.Ladder.ReportedSigns, s) })
	m.s.Ladder.ReportedSigns = slices.Concat(m.s.Ladder.ReportedSigns, fresh)
	return fresh
}

// gatesFinished decides after a gate run on the agent's work.
func (m *machine) gatesFinished(g Gates) {
	m.addGateCost(g)
	if m.stopped() {
		return
	}
	if len(g.Tampered) > 0 && (m.s.Gates.Purpose == ForClaim || m.s.Gates.Purpose == ForTurn) {
		m.violation(g.Tampered)
		return
	}
	m.s.Gates.TurnSince = false
	switch m.s.Gates.Purpose {
	case ForLimit:
		if m.s.Stop.Limit == "" { // it was raised since
			m.turnGatesFinished(g)
			return
		}
		m.recordGates(g)
		m.remember("the gates at the end: " + string(g.Status) + " " + g.Reason)
		why := m.limitAndFailure(m.s.Stop.Limit)
		if g.Green { // a gate that fails as it did before has status pass, too
			why += "; the gates pass now, but the agent has not claimed to be done"
		}
		m.finish(m.s.Stop.Limit, why, "")
	case ForFinal:
		m.finalGates(g)
	case ForTurn:
		m.turnGatesFinished(g)
	case ForReview:
		m.reviewed(g)
	case ForClaim, ForBaseline:
		m.claimGatesFinished(g)
	}
}

// turnGatesFinished reports failures to the agent after a turn without a claim. It counts no failed
// attempt.
func (m *machine) turnGatesFinished(g Gates) {
	m.recordGates(g)
	m.s.Failing = nil
	if g.Status == gate.Fail {
		m.s.Ladder.SeenRed = true
		m.s.Failing = &Failing{Reason: g.Reason, Tests: g.Failing, FirstError: g.FirstError}
	}
	m.beginTurnFor(NoClaim)
}

// claimGatesFinished decides about a claim by its gate results.
func (m *machine) claimGatesFinished(g Gates) {
	if g.Status == gate.Unknown {
		if !m.rerun(g) {
			m.neverClear(g)
		}
		return
	}
	m.s.Trouble.UnknownResults = 0
	m.recordGates(g)
	if !m.passes(g) {
		m.claimFailed(g)
		return
	}
	m.limitEvidence(&g)
	if f, refused := m.refusal(g); refused {
		m.s.Ladder.RefusedClaim = m.s.Claim
		f.Signs = m.newSigns(g)
		m.returnClaim(f)
		return
	}
	g.requireEarlierChanges()
	m.reviewOrAccept(g)
}

// neverClear refuses a claim once if a gate cannot start that could when the task began: the agent
// may have removed what it needs. Otherwise only the user can fix it.
func (m *machine) neverClear(g Gates) {
	if g.CannotStart && !m.s.Policy.Verify && m.limit() == "" && m.refuseOnce(GateCannotStart) {
		m.returnClaim(Failing{Reason: g.Reason + cannotStartHint, Remedy: "that it can start. If you removed nothing that it needs, claim again: then the user is asked"})
		return
	}
	m.giveUp("a gate could not run: "+g.Reason, "the work is kept; fix what the gate needs, then  pawl resume")
}

const cannotStartHint = ". It could when the task started: if you removed or changed something that it needs (a program, a package, a file that git ignores), put it back"

// refusal returns what a claim lacks although the gates pass, if it is refused for that.
func (m *machine) refusal(g Gates) (f Failing, refused bool) {
	if m.needsUnaskedInputs(g) && m.refuseOnce(NeedsInputs) {
		return Failing{Reason: g.Reason, NeededInputs: g.NeededInputs}, true
	}
	why := m.missingEvidence(g)
	return Failing{Reason: why, Remedy: g.Remedy, OnlyText: g.OnlyText}, why != "" && m.refuseOnce(LacksEvidence)
}

// passes reports whether the gates pass as this claim needs: without a regression, and green where
// green is the goal or no task is left to make it so.
func (m *machine) passes(g Gates) bool {
	greenIsTheGoal := m.s.Policy.Verify || m.s.Current == FinalTask
	switch {
	case g.Status == gate.Fail, greenIsTheGoal && !g.Green:
		return false
	case len(g.StillRed) > 0 && m.isLastClaim():
		return m.provenDespiteRed(g)
	}
	return true
}

// claimFailed counts a failed try, or skips the task that an isolated turn reports as blocked.
func (m *machine) claimFailed(g Gates) {
	failedBefore := g.Status == gate.Pass
	m.s.Ladder.SeenRed = true
	if failedBefore && len(g.StillRed) > 0 {
		m.refuseOnce(StaysRed)
	}
	m.s.Claim = nil
	if why := m.isolatedBlocked(); why != "" {
		m.skip(Blocked, why)
		return
	}
	if !m.s.Policy.Verify { // a verify loop has no claims
		m.s.Refusals++
	}
	m.fail(Failing{Reason: g.Reason, Tests: g.Failing, FirstError: g.FirstError, FailedBefore: failedBefore, GateTimedOut: g.timedOut(), Signs: m.newSigns(g)}, g.Fingerprint)
}

// limitEvidence lowers the evidence to what passing gates can prove here.
func (m *machine) limitEvidence(g *Gates) {
	was := g.Evidence
	if g.Evidence = m.greenEvidence(*g, was); was == gate.Unproven && g.Evidence == gate.Proven {
		g.Reason = "the command failed before and passes now"
	}
	if i := g.IfApproved; i != nil {
		g.IfApproved = &IfApproved{Paths: i.Paths, Evidence: m.greenEvidence(*g, i.Evidence), Flipped: i.Flipped, Reason: i.Reason}
	}
	incomplete := len(g.MissingFromCommit) > 0 || !m.s.Policy.Gates
	if incomplete {
		g.IfApproved = nil
	}
	if incomplete || len(g.TestsChanged) > 0 {
		g.Evidence = gate.EvidenceUnknown
	}
}

// timedOut reports whether a gate timed out.
func (g Gates) timedOut() bool {
	return slices.ContainsFunc(g.Results, func(r gate.Result) bool { return r.TimedOut })
}

// greenEvidence returns the evidence of passing gates. In a verify loop, any failure seen before
// proves the work. A commit has to show it elsewhere too.
func (m *machine) greenEvidence(g Gates, e gate.Evidence) gate.Evidence {
	switch {
	case !m.s.Policy.Verify || e == gate.Proven || e == gate.EvidenceUnknown && g.Message != "":
		return e
	case m.s.Ladder.SeenRed:
		return gate.Proven
	}
	return gate.Unproven
}

// isLastClaim reports whether accepting this claim would leave no open task.
func (m *machine) isLastClaim() bool {
	claimed := m.claimed()
	return !slices.ContainsFunc(m.s.Tasks, func(t Task) bool { return t.Status == Open && !slices.Contains(claimed, t.ID) })
}

// missingEvidence says what an unproven claim lacks, if a turn is left and no review could be enough. An unknown result is no fault of the agent's, unless the work passes only
// here: later tasks would not be proven either.
func (m *machine) missingEvidence(g Gates) (why string) {
	if m.s.Policy.Verify || m.s.Claim != nil && m.s.Claim.NoBehaviourChange || m.limit() != "" {
		return ""
	}
	for i, id := range m.claimed() {
		best := g.EvidenceFor(i)
		if best != gate.Unproven && (best != gate.EvidenceUnknown || !g.OnlyInWorkTree) {
			continue
		}
		if m.s.Policy.Reviews && !g.OnlyInWorkTree {
			best = gate.AfterReview(best)
		}
		switch t, _ := m.s.Task(id); {
		case t.meets(best):
		case i > 0 && g.Evidence != gate.Unproven:
			return notItsOwn(g, id)
		default:
			return cmp.Or(g.Reason, "all gates passed before this task too")
		}
	}
	return ""
}

// EvidenceFor returns the evidence of the i-th task claimed together, the current one first. Each
// flipped test proves one task; a gate without test IDs proves all.
func (g Gates) EvidenceFor(i int) gate.Evidence {
	switch {
	case g.Evidence != gate.Proven || i == 0 || i < len(g.Flipped) || len(g.FlippedGates) > 0:
		return g.Evidence
	case g.Reviewed == ReviewPassed:
		return gate.Reviewed
	}
	return gate.Unproven
}

func notItsOwn(g Gates, task string) string {
	return fmt.Sprintf("newly passing: %d (%s), which proves only as many tasks: no test proves %s",
		len(g.Flipped), strings.Join(g.Flipped[:min(len(g.Flipped), 3)], ", "), task)
}
