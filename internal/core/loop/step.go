package loop

import (
	"fmt"
	"slices"
)

// machine is one Step in progress: the new state and the actions so far.
type machine struct {
	s     State
	id    string // of the event
	acts  []Action
	owned bool // s.Tasks is this step's own copy and may be changed
}

// Step returns the state after e and the actions to perform now. It handles every pair of phase and
// event: an impossible one changes nothing and is reported as an anomaly. It modifies neither s nor
// e.
func Step(s State, e Event) (State, []Action) {
	m := &machine{s: s, id: e.ID}
	m.clock(e)
	m.handle(e)
	if i := slices.IndexFunc(m.acts, Action.EndsInEvent); i >= 0 {
		if m.acts[i].ID == 0 { // a repeated action keeps its ID, so that its end is handled once
			m.s.LastAction++
			m.acts[i].ID = m.s.LastAction
		}
		m.s.Pending = m.acts
	}
	return m.s, m.acts
}

// clock advances the loop's time, which never goes back. Time without a living owner counts against
// no limit.
func (m *machine) clock(e Event) {
	if !e.At.After(m.s.Now) {
		return
	}
	away := false
	switch e.Payload.(type) {
	case OwnerChanged, HandedOver:
		away = true
	case CheckpointRestored:
		away = m.s.Phase != Ended
	}
	if away && m.s.AwayFrom.IsZero() && !m.s.Now.IsZero() {
		m.s.Away += e.At.Sub(m.s.Now)
	}
	m.s.Now = e.At
}

func (m *machine) handle(e Event) {
	if m.s.Phase == "" {
		m.s.Phase = New
	}
	if _, starts := e.Payload.(Started); starts && m.s.Phase == Ended && m.s.StartedAt.IsZero() {
		m.forgetEnd() // it could not be set up, and is tried again
		m.s.Phase = New
	}
	if m.endOvertook(e.Payload) || !m.s.IsNew(e) {
		return
	}
	if e.ID != "" {
		m.s.ReceivedIDs = lastOf(append(slices.Clip(m.s.ReceivedIDs), e.ID), maxReceivedIDs)
	}
	m.queueInboxEdits(e.QueuedEdits)
	m.dispatch(e)
}

// endOvertook reports whether the event came too late to change a loop that ends or has ended.
func (m *machine) endOvertook(p EventPayload) bool {
	switch p.(type) {
	case Reopened, Approved, Rejected, CheckpointRestored, LessonLearned, LessonForgotten:
		return false
	}
	return m.s.Phase == Ended
}

// dispatch handles the events that may come in any phase.
func (m *machine) dispatch(e Event) {
	switch p := e.Payload.(type) {
	case PlanEditRequested:
		m.queuePlanEdits(p.Edits)
		m.endAnswerWait()
	case Reopened:
		m.reopen(p)
	case Cancelled:
		m.cancel(p)
	case PauseRequested:
		m.pause()
	case Resumed:
		m.resume(p)
	case LessonLearned:
		m.learn(Lesson{Instead: p.Lesson, ByUser: p.ByUser})
	case LessonForgotten:
		m.forget(p.Lesson)
	case LimitHit:
		m.limitHit(p.Limit)
	case LimitsChanged:
		m.limitsChanged(p.Limits)
	case OwnerChanged:
		m.ownerChanged()
	case TestChangeRequested:
		m.testChangeRequested(p)
	case Approved:
		m.applyApproval(p)
	case Rejected:
		m.rejectTests(p.Paths, p.Why)
	case HandoverRequested:
		m.handoverRequested(p.To, p.Why)
	case HandedOver:
		m.handedOver(p)
	case MessageArrived:
		m.messageArrived(p)
	case Delivered:
		m.delivered(p.MessageIDs)
	case QuestionAsked:
		m.questionAsked(&p.Question)
	case Answered:
		m.questionAnswered(p)
	case MergeRequested:
		m.mergeRequested(p.Summary)
	case CheckpointRestored:
		m.checkpointRestored(p)
	case Faulted:
		m.faulted(p)
	default:
		m.actionEnded(e)
	}
}

// awaits reports whether the loop waits for this event.
func (s State) awaits(p EventPayload) bool {
	switch p := p.(type) {
	case Started:
		return s.Phase == New
	case Checkpointed:
		return s.Phase == Checkpointing
	case GatesFinished:
		return s.Phase == Baseline || s.Phase == Judging
	case TurnEnded:
		return s.Phase == Turning || s.Phase == TurningIsolated && p.Isolated
	case AgentFailed:
		return s.Phase == Turning || s.Phase == TurningIsolated && p.Isolated
	case TreeInspected:
		return s.Phase == Inspecting
	case Committed:
		return s.Phase == Committing
	case PlanEdited:
		return s.Phase == Editing
	case Concluded:
		return s.Phase == Finishing
	case Restored, WorkReapplied:
		return s.Phase == Restoring
	case TimerFired:
		return s.Phase == Waiting
	}
	return false
}

// actionEnded handles the event that the loop waits for.
func (m *machine) actionEnded(e Event) {
	if !m.s.awaits(e.Payload) {
		if !m.s.InSession || !m.unrequestedTurn(e) {
			m.note(Anomaly, fmt.Sprintf("event %s while %s: ignored", e.Kind(), m.s.Phase))
		}
		return
	}
	switch p := e.Payload.(type) {
	case Started:
		m.start(p)
	case Checkpointed:
		m.checkpointed(p)
	case GatesFinished:
		if m.s.Phase == Baseline {
			m.baselineFinished(p.Gates)
			return
		}
		m.gatesFinished(p.Gates)
	case TurnEnded:
		if m.s.Phase == TurningIsolated {
			m.isolatedEnded(p.Turn)
			return
		}
		m.turnEnded(p.Turn)
	case AgentFailed:
		if m.s.Phase == TurningIsolated {
			m.isolatedFailed(p.Turn, p.Failure)
			return
		}
		m.agentFailed(p.Turn, p.Failure)
	case TreeInspected:
		m.treeInspected(p.Inspection)
	case Committed:
		m.committed(p)
	case PlanEdited:
		m.planEdited(p)
	case Concluded:
		m.s.Phase, m.s.Tested = Ended, p.Tested
	case Restored:
		m.restored(p)
	case WorkReapplied:
		m.workReapplied(p)
	case TimerFired:
		m.waited()
	}
}

func (m *machine) start(st Started) {
	early := m.s.Policy.Limits // changed before the loop started
	m.s.Policy = st.Policy
	m.s.Policy.Limits = st.Policy.Limits.With(early)
	m.s.Policy.Verify = st.Policy.Verify && st.Policy.Kind == Change // of a tree, not of an answer
	m.s.Tasks = slices.Clone(st.Tasks)
	m.s.InSession = st.Policy.InSession
	m.s.FirstTask = st.FirstTask
	m.s.Iteration = st.Policy.IterationsBefore
	m.s.StartedAt = m.s.Now
	m.s.Next.Fresh = !m.s.InSession
	if len(m.s.Tasks) == 0 {
		m.finish(Errored, "the goal has no task", "give a prompt, or a plan with at least one task")
		return
	}
	if !slices.ContainsFunc(m.s.Tasks, func(t Task) bool { return t.Status != Done }) {
		m.allDoneBefore()
		return
	}
	m.next()
}

// follow continues after a checkpoint, a restore, a wait or a pause.
func (m *machine) follow(a After) {
	m.s.After = ""
	if m.s.TreeReplaced {
		m.restartTask()
		return
	}
	switch a {
	case ThenBaseline:
		m.startTask()
	case ThenNext:
		m.next()
	case ThenGates:
		if m.s.Gates.Purpose == ForBaseline && m.s.Stop.Limit != "" {
			m.limitReached(m.s.Stop.Limit)
			return
		}
		m.runGates(m.s.Gates.Purpose)
	case ThenTurn:
		m.beginTurn()
	case ThenCommit:
		if m.claimNeeds(m.s.Rejects) { // rejected since the gates ran
			m.inspect()
			return
		}
		m.commitWork()
	case ThenApproved:
		m.resumeApproval()
	case ThenSaveWork: // see checkpointed
		m.note(Anomaly, fmt.Sprintf("no checkpoint was made to %s: the next task begins", a))
		m.next()
	}
}

// faulted ends the loop because an action could not be performed. A failed commit is retried
// without another turn when the loop is reopened. The loop waits for the user instead if they can do
// at once what it needs.
func (m *machine) faulted(f Faulted) {
	if m.s.Phase == Finishing { // the outcome is decided
		m.note(Warning, f.Error)
		m.s.Phase = Ended
		return
	}
	committing := m.s.Phase == Committing
	if committing && !f.Lost { // otherwise what is in the work tree is checked anew
		m.s.After = ThenCommit
	}
	_, holds := m.resumePoint()
	switch {
	case m.stopped():
	case f.NeedsUser && holds:
		m.holdForUser(f.Error, f.Hint)
	case f.Moved && committing:
		m.branchMoved(f)
	default:
		m.finish(Errored, f.Error, f.Hint)
	}
}

// branchMoved runs the gates again, a bounded number of times, because the branch moved after they
// ran. At a time limit or budget the loop ends instead. When it is reopened, the work is checked
// again without a turn.
func (m *machine) branchMoved(f Faulted) {
	m.s.Trouble.BranchMoves++
	limit := m.limit()
	switch {
	case limit == Duration, limit == Budget, m.s.Stop.Limit != "":
		m.s.Stop.Limit = limit
		m.finish(limit, m.s.limitReason(limit)+"; "+f.Error, "") // resuming needs a higher limit, too
	case m.s.Trouble.BranchMoves > maxUnknowns:
		m.finish(Errored, f.Error, f.Hint)
	default:
		m.note(Info, f.Error+": the work is checked again")
		m.s.After = ""
		m.runGates(ForClaim)
	}
}

func (m *machine) checkpointed(c Checkpointed) {
	if m.s.After == ThenBaseline {
		m.s.Start = TaskStart{Task: m.s.Current, Tree: c.Tree, WithEdits: c.WithEdits, UnfinishedTree: c.UnfinishedTree}
		if m.s.TreeReplaced { // the task starts anew
			m.follow(m.s.After)
			return
		}
		m.s.Start.UnfinishedPaths = m.s.Restored.Of(m.s.Current)
		m.s.Restored = m.s.Restored.Without(m.s.Current)
		if len(c.PutAway) > 0 {
			m.putAway(c)
			return
		}
	}
	if m.s.After == ThenSaveWork {
		m.restoreBeforeTask(c.Tree)
		return
	}
	m.follow(m.s.After)
}

// lastOf returns the last n elements.
func lastOf[T any](all []T, n int) []T {
	if len(all) <= n {
		return all
	}
	return slices.Clone(all[len(all)-n:])
}

// maxReceivedIDs bounds the message IDs kept to dedupe deliveries.
const maxReceivedIDs = 100

func (m *machine) do(p ActionPayload) { m.acts = append(m.acts, Action{Payload: p}) }

// await performs an action and waits for its end in a phase.
func (m *machine) await(in Phase, p ActionPayload) {
	m.s.Phase = in
	m.do(p)
}

func (m *machine) note(l Level, text string) { m.do(Note{Level: l, Text: text}) }

func (m *machine) finish(o Outcome, reason, hint string) {
	m.startClock()
	m.s.EndedAt, m.s.Outcome, m.s.Reason, m.s.Hint = m.s.Now, o, reason, hint
	m.warnPendingEdits()
	m.warnUnread()
	m.await(Finishing, Finish{})
}
