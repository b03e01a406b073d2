package loop

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/plan"
)

// rejectTests keeps these tests at their originals. Changes are restored after the current turn;
// only a repeated change is a violation, since the agent did not know. Done tasks that need such a
// change are reopened, also after the end.
func (m *machine) rejectTests(paths []string, why string) {
	affected, why := paths, plan.OneLine(why, maxWhyBytes)
	if slices.Contains(paths, AllTests) {
		affected = m.s.Unapproved()
	}
	reopened := m.reopenRejected(affected, why)
	if len(paths) == 0 || m.s.Phase == Ended && !reopened {
		return
	}
	m.dropAnsweredRequests(paths)
	m.s.Approved = exclude(m.s.Approved, func(p string) bool {
		return slices.Contains(paths, p) || slices.Contains(paths, AllTests)
	})
	for _, p := range paths {
		if !m.s.RejectsByName(p) {
			m.s.Rejected = append(slices.Clip(m.s.Rejected), Rejection{Path: p})
		}
	}
	if m.s.Outcome == Unverified || reopened && (m.s.Outcome == Verified || m.s.Outcome == Finished) {
		m.s.Outcome, m.s.Reason, m.s.Hint = m.outcome()
	}
	if why != "" {
		why = " The user says: " + why
	}
	if m.s.Phase != Ended {
		m.tellAgent("The user rejected your changes to these tests: " + joinPaths(paths) + ". Make the work pass with the original tests." + why)
	}
}

// reopenRejected reopens the tasks that need a change of these tests. It reports whether there are
// any.
func (m *machine) reopenRejected(paths []string, why string) bool {
	reopened := false
	for i, t := range m.tasks() {
		if t.Status != Done || t.IfApproved == nil || t.Accepted {
			continue
		}
		rejected := exclude(t.IfApproved.Paths, func(p string) bool { return !slices.Contains(paths, p) })
		if len(rejected) == 0 {
			continue
		}
		reopened = true
		m.s.Tasks[i] = t.reopened()
		m.s.Tasks[i].Rejected, m.s.Tasks[i].Why = rejected, strings.TrimSuffix("its change of "+strings.Join(rejected, ", ")+" was rejected: "+why, ": ")
		if t.ID != GoalTask && !t.IsOwn() { // the plan has it ticked
			m.s.Edits = append(slices.Clip(m.s.Edits), plan.Edit{ID: fmt.Sprintf("rejected-%s-%d", t.ID, m.s.Iteration), Do: plan.Reopen, Task: t.ID})
		}
	}
	return reopened
}

// reopened returns the task without its results, but with its turns, time and cost, and its commit,
// which stays on the branch.
func (t Task) reopened() Task {
	return Task{
		ID: t.ID, Title: t.Title, Priority: t.Priority, Optional: t.Optional, DependsOn: t.DependsOn, Wanted: t.Wanted,
		Status: Open, Turns: t.Turns, Took: t.Took, CostUSD: t.CostUSD, Commit: t.Commit, Rejected: t.Rejected, ForMessage: t.ForMessage, SavedWork: t.SavedWork,
	}
}

// restoreRejected restores a task's rejected files before the task starts again.
func (m *machine) restoreRejected(id string) {
	t, _ := m.s.Task(id)
	if len(t.Rejected) == 0 {
		return
	}
	m.do(RestoreFiles{Paths: t.Rejected})
	m.tellAgent("This task was done, and is open again: " + t.Why + ". The work is still there; these files are as before. Make the work pass with them.")
	m.remember("open again: " + t.Why)
	m.updateTask(id, func(t *Task) { t.Rejected, t.Why = nil, "" })
}

// rejectedWork returns the open tasks whose test changes were rejected.
func (m *machine) rejectedWork() []string {
	return m.s.Tasks.IDs(func(t Task) bool { return t.Status == Open && len(t.Rejected) > 0 })
}

// rejectedTestsChanged restores rejected tests that were changed. A repeated change is a violation.
func (m *machine) rejectedTestsChanged(paths []string) {
	of := func(d Rejection) bool { return d.Path == AllTests || slices.Contains(paths, d.Path) }
	again := slices.ContainsFunc(m.s.Rejected, func(d Rejection) bool { return d.Reported && of(d) })
	m.s.Rejected = slices.Clone(m.s.Rejected)
	for i, d := range m.s.Rejected {
		m.s.Rejected[i].Reported = d.Reported || of(d)
	}
	if again {
		m.violation(paths)
		return
	}
	what := strings.Join(paths, ", ")
	m.s.Claim = nil
	m.do(RestoreFiles{Paths: paths})
	m.remember("changed tests although the user rejected that: " + what)
	m.s.Failing = &Failing{Reason: "the user rejected changes to these tests; they are restored: " + what}
	if m.s.InSession {
		m.s.Failing.Reason = "the user rejected your changes to these tests; restore them: " + what
	}
	m.beginTurnFor(NoClaim)
}
