package loop

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/plan"
)

// Outcome is how a loop ended.
type Outcome string

// The outcomes.
const (
	Verified     Outcome = "verified"
	Finished     Outcome = "finished"
	Errored      Outcome = "error"
	Unverified   Outcome = "unverified"
	Iterations   Outcome = "iterations"
	Duration     Outcome = "duration"
	Budget       Outcome = "budget"
	Stuck        Outcome = "stuck"
	BlockedEnd   Outcome = "blocked"
	Tampered     Outcome = "tampered"
	CancelledEnd Outcome = "cancelled"
)

// Outcomes lists all outcomes.
func Outcomes() []Outcome {
	return []Outcome{
		Verified, Finished, Errored, Unverified, Iterations, Duration, Budget,
		Stuck, BlockedEnd, Tampered, CancelledEnd,
	}
}

// Causes of a cancellation, of Cancelled.
const (
	ByInterrupt = "int"
	ByStop      = "stop"
	ByTerm      = "term"
	ByHangup    = "hup"
	ByPipe      = "pipe" // the reader of the process's output is gone
)

// ExitCode returns the exit code for this outcome. cause matters for cancellations only.
func (o Outcome) ExitCode(cause string) int {
	switch o {
	case Verified, Finished:
		return 0
	case Errored:
		return 1
	case Unverified:
		return 3
	case Iterations:
		return 10
	case Duration:
		return 11
	case Budget:
		return 12
	case Stuck:
		return 13
	case BlockedEnd:
		return 14
	case Tampered:
		return 15
	case CancelledEnd:
		switch cause {
		case ByTerm:
			return 143
		case ByHangup:
			return 129
		case ByPipe:
			return 141
		}
		return 130
	}
	return 1
}

// Abandoned returns the state as ended, though its journal does not say so.
func (s State) Abandoned(at time.Time, why string) State {
	if s.Phase != Ended {
		s.Phase, s.Outcome, s.Reason, s.EndedAt = Ended, CancelledEnd, why, at
	}
	return s
}

// allDoneReason is why a loop without open tasks ends.
const allDoneReason = "every task was done before"

// allDoneBefore ends a loop whose plan had nothing open, after a gate run.
func (m *machine) allDoneBefore() {
	if m.s.Policy.Gates && m.claimable() && m.s.Policy.Kind != Answer {
		m.runGates(ForFinal)
		return
	}
	m.endDoneBefore(allDoneReason)
}

// endDoneBefore ends such a loop if no gate fails. Tasks that an earlier loop left without enough
// evidence keep it unverified.
func (m *machine) endDoneBefore(reason string) {
	if why := m.lessThanWanted(); why != "" {
		m.finish(Unverified, allDoneReason+", but "+why, "")
		return
	}
	m.finish(Finished, reason, "")
}

// startedDone reports whether the loop had no open task and has done nothing.
func (m *machine) startedDone() bool { return m.s.Current == "" && m.s.BeforeFirstTurn() }

// endDonePlanByGates ends a loop whose plan had nothing open, by its gates. A failing gate starts no
// turn unless the user resumes: nobody asked for that work.
func (m *machine) endDonePlanByGates(g Gates) {
	switch {
	case m.s.Gates.Green:
		m.endDoneBefore(allDoneReason + ", and the gates pass")
	case g.Status == gate.Unknown:
		m.finish(Unverified, allDoneReason+", but a gate gave no clear result: "+g.Reason, "")
	default:
		m.finish(Errored, allDoneReason+", but a gate fails: "+m.finalFailure(), "pawl resume . lets the agent make the gates pass")
	}
}

// lessThanWanted names the done tasks without the wanted evidence.
func (m *machine) lessThanWanted() string {
	ids := m.s.UnprovenTasks()
	switch {
	case len(ids) == 0:
		return ""
	case m.s.Policy.Kind == Answer && !m.s.Policy.Reviews:
		return "no gate or review checked the answer"
	case !slices.ContainsFunc(ids, func(id string) bool { t, _ := m.s.Task(id); return len(t.TestsChanged) == 0 }):
		return m.withTasks("the gates pass only with changed tests or other gate inputs", ids)
	case m.s.Policy.Verify:
		if t, _ := m.s.Task(ids[0]); t.Evidence == gate.EvidenceUnknown && t.Why != "" {
			return t.Why
		}
		return "the command did not fail before the work"
	}
	return m.withTasks("not enough evidence", ids)
}

// endByTasks ends a loop with nothing left to do: stuck > blocked > unverified > verified.
func (m *machine) endByTasks() {
	o, _, _ := m.outcome()
	if done := o == Verified || o == Unverified || o == Finished; !done || !m.askApproval(ApproveEnd, "") {
		m.finish(m.outcome())
	}
}

func (m *machine) outcome() (o Outcome, reason, hint string) {
	by := map[TaskStatus][]string{}
	for _, t := range m.s.Tasks {
		if !t.LeftOut {
			by[t.Status] = append(by[t.Status], t.ID)
		}
	}
	switch {
	case len(by[Skipped]) > 0:
		return Stuck, m.needsUserReason(Skipped, Blocked), m.stuckHint()
	case m.s.Policy.Gates && len(by[Unchanged]) > 0 && m.s.Gates.RedReason != "": // what should be green is not, and the agent sees nothing to do
		return Stuck, m.withTasks("claimed done, but changed no files", by[Unchanged]) + m.outsideChangesNote() + ", and a gate failed when it last ran: " + m.s.Gates.RedReason, m.stuckHint()
	case len(by[Blocked]) > 0:
		return BlockedEnd, m.needsUserReason(Blocked), ""
	case len(m.tasksTakenAway()) > 0:
		return Unverified, m.withTasks("a restored checkpoint undid the work", m.tasksTakenAway()), ""
	case len(m.rejectedWork()) > 0:
		return Unverified, m.withTasks("you rejected test changes that the work needs", m.rejectedWork()), "pawl resume  works on it again"
	case len(by[Open]) > 0: // they depend on a task that was skipped
		return Unverified, "could not start: " + m.labels(by[Open]), ""
	case len(by[Unchanged]) > 0:
		return Unverified, m.withTasks("claimed done, but changed no files", by[Unchanged]) + m.outsideChangesNote(), m.unchangedHint()
	case m.unreviewedReason() != "":
		return Unverified, m.unreviewedReason(), ""
	case m.lessThanWanted() != "":
		return Unverified, m.lessThanWanted(), m.originalsHint()
	case m.s.Policy.Gates && m.s.Policy.Kind != Answer && !m.s.Gates.Green:
		return Unverified, "a gate does not pass on the final tree: " + m.finalFailure(), ""
	case !slices.ContainsFunc(m.s.Tasks, func(t Task) bool { return !t.DoneEarlier && !t.LeftOut }):
		return Finished, "a user ticked or skipped the remaining tasks", ""
	}
	return Verified, "", ""
}

func (m *machine) finalFailure() string {
	if m.s.Failing == nil {
		return "unknown"
	}
	return m.s.Failing.Reason
}

// withTasks appends the tasks to a reason, unless the loop has only one.
func (m *machine) withTasks(why string, ids []string) string {
	if len(m.s.Tasks) == 1 {
		return why
	}
	return why + ": " + m.labels(ids)
}

// labels names tasks by ID and title, at most four.
func (m *machine) labels(ids []string) string {
	var names []string
	for _, id := range ids {
		t, _ := m.s.Task(id)
		names = append(names, t.label())
	}
	return plan.Few(names, 4)
}

// unchangedHint says what to do if a goal or task needs no change: it asked a question, or other work
// did it already.
func (m *machine) unchangedHint() string {
	switch {
	case len(m.s.Tasks) > 1:
		return "pawl plan skip . ID  leaves out a task that needs no change, such as one that is done already;  then pawl resume"
	case m.s.Policy.Kind != "" && m.s.Policy.Kind != Change:
		return ""
	}
	return "if the goal needs no change (a review, a question), use  --kind answer:  the agent's answer is then the result"
}

// maxTasksNamed bounds the tasks in a reason.
const maxTasksNamed = 3

// needsUserReason says which tasks of these kinds need the user, and why. A single task is not
// named.
func (m *machine) needsUserReason(kinds ...TaskStatus) string {
	words := map[TaskStatus]string{Skipped: "failed: ", Blocked: "is blocked: "}
	if len(m.s.Tasks) == 1 {
		words[Skipped], words[Blocked] = "gave up after all attempts: ", ""
	}
	var parts []string
	more := 0
	for _, kind := range kinds {
		for _, t := range m.s.Tasks {
			switch {
			case t.Status != kind || t.LeftOut:
			case len(m.s.Tasks) == 1:
				parts = append(parts, words[kind]+t.Why)
			case len(parts) == maxTasksNamed:
				more++
			default:
				parts = append(parts, t.label()+" "+words[kind]+t.Why)
			}
		}
	}
	if more > 0 {
		parts = append(parts, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(parts, "; ")
}

// forgetEnd clears the outcome of a loop that continues.
func (m *machine) forgetEnd() {
	m.s.Stop, m.s.End = Stop{}, End{}
}
