package loop

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/plan"
)

// Approval is a point at which the loop stops for the user's approval (Policy.Approve). It is asked
// as a Question and waits without turns or cost. A missing answer never approves.
type Approval string

// The approval points.
const (
	ApprovePlan  Approval = "plan"  // before the first task
	ApproveClaim Approval = "claim" // before the gates run on a claim
	ApproveTask  Approval = "task"  // before work that the gates accept is committed
	ApproveEnd   Approval = "end"   // before the loop ends with nothing left to do
)

// Approvals lists all approval points.
func Approvals() []Approval { return []Approval{ApprovePlan, ApproveClaim, ApproveTask, ApproveEnd} }

// yes is the answer that approves. Any other answer is given to the agent as the reason.
const yes = "yes"

// Approves reports whether an answer to an approval question is a yes.
func Approves(answer string) bool {
	return slices.Contains([]string{yes, "y", "approve", "approved", "ok"}, strings.ToLower(strings.TrimSpace(answer)))
}

// askApproval stops the loop for approval if the policy asks for it at this point, and reports
// whether it did, or ended the loop instead. tree is what would be accepted, "" for the current work
// tree.
func (m *machine) askApproval(at Approval, tree string) bool {
	if !slices.Contains(m.s.Policy.Approve, at) {
		return false
	}
	if m.stopped() {
		return true
	}
	q := Question{Approve: at, Task: m.s.Current, Iteration: m.s.Iteration, At: m.s.Now, Base: m.s.Start.Tree, Tree: tree}
	switch at {
	case ApprovePlan:
		q.Task, q.Text = string(at), "start with this plan?"
		for _, t := range m.s.Tasks {
			q.Details = append(q.Details, string(t.Status)+": "+t.label())
		}
	case ApproveClaim:
		q.Text = "check the claim: " + m.labels(m.claimed())
		q.Details = []string{"the agent says: " + cmp.Or(m.s.LastAgentLine, "nothing")}
	case ApproveTask:
		q.Text = "accept the work: " + m.labels(m.claimed())
		q.Details = m.evidenceShown()
	case ApproveEnd:
		o, why, _ := m.outcome()
		q.Task, q.Base, q.Text = string(at), "", fmt.Sprintf("end %s?", strings.TrimSuffix(string(o)+": "+why, ": "))
		for _, t := range m.s.Tasks {
			q.Details = append(q.Details, strings.TrimSuffix(fmt.Sprintf("%s: %s %s", t.label(), t.Status, t.Evidence), " "))
		}
	}
	q.Details = q.Details[:min(len(q.Details), maxDetails)]
	m.dropQuestion(q.Task)
	m.s.Questions = append(slices.Clip(m.s.Questions), q)
	m.awaitApproval(q)
	return true
}

// maxDetails bounds the lines that describe what would be accepted.
const maxDetails = 20

// evidenceShown describes the evidence for the work that would be accepted.
func (m *machine) evidenceShown() []string {
	f := m.s.Claim.Gates
	lines := []string{strings.TrimSuffix(fmt.Sprintf("evidence: %s; %s", f.Evidence, plan.OneLine(f.Reason, maxWhyBytes)), "; ")}
	if len(f.Flipped) > 0 {
		lines = append(lines, "failed before, passes now: "+plan.Few(f.Flipped, 4))
	}
	if len(f.TestsChanged) > 0 {
		lines = append(lines, "only with changed tests: "+plan.Few(f.TestsChanged, 4))
	}
	for _, sign := range f.Signs {
		lines = append(lines, "look at: "+sign)
	}
	return lines
}

func (m *machine) awaitApproval(q Question) {
	q.Until = m.s.Now.Add(maxAnswerWait)
	m.changeQuestion(q.Task, func(kept *Question) { kept.Until = q.Until })
	m.waitForAnswer(q, ThenApproved)
}

// resumeApproval continues once the user has answered, and waits until then.
func (m *machine) resumeApproval() {
	i := slices.IndexFunc(m.s.Questions, func(q Question) bool { return q.Approve != "" })
	if i < 0 {
		m.next()
		return
	}
	q := m.s.Questions[i]
	if q.Answer == "" {
		m.awaitApproval(q)
		return
	}
	m.dropQuestion(q.Task)
	if q.Answer != yes {
		m.approvalDeclined(q)
		return
	}
	m.remember("approved by the user: " + q.Text)
	switch q.Approve {
	case ApprovePlan:
		m.s.PlanApproved = true
		m.next()
	case ApproveClaim:
		m.runGates(ForClaim)
	case ApproveTask:
		claim, gates := *m.s.Claim, *m.s.Claim.Gates
		gates.Accepted = true
		claim.Gates = &gates
		m.s.Claim = &claim
		m.commitAccepted()
	case ApproveEnd:
		if len(m.rejectedWork()) > 0 || m.openForMessage() { // meanwhile
			m.next()
			return
		}
		m.finish(m.outcome())
	}
}

// approvalDeclined queues a message to the agent that the user declined, with the reason, and continues.
func (m *machine) approvalDeclined(q Question) {
	why := ""
	if q.Answer != no {
		why = ": " + q.Answer
	}
	m.remember("not approved by the user" + why)
	m.s.Claim = nil
	switch q.Approve {
	case ApprovePlan:
		m.finish(CancelledEnd, "the user did not approve the plan"+why, "edit the plan file;  pawl resume  asks again")
		return
	case ApproveEnd:
		m.tellAgent("The user does not accept that everything is done" + why)
		m.finalTask("the user named what is missing")
		m.next()
		return
	}
	m.tellAgent("The user does not accept your work on this task" + why)
	m.s.Refusals++
	m.s.Ladder.ReviewFailures = 0 // the next work is reviewed as usual
	m.s.Failing = nil
	m.beginTurnFor(NoClaim)
}

// no is a declining answer without a reason.
const no = "no"

// makeGatesPass is the title of the final task if a gate fails.
const makeGatesPass = "make the final gates pass"

// finalTask opens the task that runs after all others.
func (m *machine) finalTask(title string) {
	if _, opened := m.s.Task(FinalTask); opened {
		m.updateTask(FinalTask, func(t *Task) { t.Status, t.Title = Open, title })
		return
	}
	m.s.Tasks = append(m.tasks(), Task{ID: FinalTask, Title: title, Status: Open, Wanted: gate.Unproven})
}
