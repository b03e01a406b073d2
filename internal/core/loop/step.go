package loop

import (
	"fmt"
	"slices"
	"time"
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
	if i := slices.IndexFunc(m.acts, func(a Action) bool { return a.Do.EndsInEvent() }); i >= 0 {
		if m.acts[i].ID == 0 { // one that is done again keeps its ID: it has one end
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
	if (e.Kind == OwnerLost || e.Kind == HandedOver || e.Kind == CheckpointRestored && m.s.Phase != Ended) && m.s.AwayFrom.IsZero() && !m.s.Now.IsZero() {
		m.s.Away += e.At.Sub(m.s.Now)
	}
	m.s.Now = e.At
}

func (m *machine) handle(e Event) {
	if m.s.Phase == "" {
		m.s.Phase = New
	}
	if m.s.Phase == Finishing && e.Kind == Cancelled {
		return // it ends already
	}
	if m.s.Phase == Ended && e.Kind == Started && e.Start != nil && m.s.StartedAt.IsZero() {
		m.forgetEnd() // it could not be set up, and is tried again
		m.s.Phase = New
	}
	if m.s.Phase == Ended && !slices.Contains([]EventKind{Reopened, Approved, Rejected, CheckpointRestored, LessonLearned, LessonForgotten}, e.Kind) {
		return // late answers to actions that the end overtook
	}
	if !m.s.IsNew(e) {
		return
	}
	if e.ID != "" {
		m.s.ReceivedIDs = lastOf(append(slices.Clip(m.s.ReceivedIDs), e.ID), maxReceivedIDs)
	}
	m.queuePlanEdits(e)
	switch e.Kind {
	case PlanEditRequested:
		m.endAnswerWait()
	case Reopened:
		m.reopen(e)
	case Cancelled:
		m.cancel(e.Text, e.Hint)
	case PauseRequested:
		m.pause()
	case Resumed:
		m.resume(e.Added)
	case LessonLearned:
		m.learn(Lesson{Instead: e.Text, ByUser: e.ByUser})
	case LessonForgotten:
		m.forget(e.Text)
	case LimitHit, LimitsChanged:
		m.limitEvent(e)
	case OwnerLost:
		m.ownerLost()
	case TestChangeRequested:
		m.testsAsked(e.Paths, e.Text)
	case Approved:
		m.applyApproval(e)
	case Rejected:
		m.rejectTests(e.Paths, e.Text)
	case HandoverRequested:
		m.handoverAsked(e.Owner, e.Text)
	case HandedOver:
		m.handedOver(e)
	case MessageArrived, Delivered, QuestionAsked, Answered:
		m.conversationEvent(e)
	case MergeRequested:
		m.mergeAsked(e.Text)
	case CheckpointRestored:
		m.checkpointRestored(e.Tasks)
	case Faulted:
		m.faulted(e)
	default:
		m.actionEnded(e)
	}
}

// actionEnded handles the events that end an action, each in its phase.
func (m *machine) actionEnded(e Event) {
	switch {
	case m.s.Phase == New && e.Kind == Started && e.Start != nil:
		m.start(*e.Start)
	case m.s.Phase == Checkpointing && e.Kind == Checkpointed:
		m.checkpointed(e)
	case m.s.Phase == Baseline && e.Kind == GatesFinished && e.Gates != nil:
		m.baselineFinished(*e.Gates)
	case m.s.Phase == Turning && e.Kind == TurnEnded && e.Turn != nil:
		m.turnEnded(*e.Turn)
	case m.s.Phase == Turning && e.Kind == AgentFailed && e.Failure != nil:
		m.agentFailed(e.Turn, *e.Failure)
	case m.s.Phase == TurningIsolated && e.Isolated && e.Kind == TurnEnded && e.Turn != nil:
		m.isolatedEnded(*e.Turn)
	case m.s.Phase == TurningIsolated && e.Isolated && e.Kind == AgentFailed && e.Failure != nil:
		m.isolatedFailed(e.Turn, *e.Failure)
	case m.s.Phase == Inspecting && e.Kind == TreeInspected && e.Inspection != nil:
		m.treeInspected(*e.Inspection)
	case m.s.Phase == Judging && e.Kind == GatesFinished && e.Gates != nil:
		m.gatesFinished(*e.Gates)
	case m.s.Phase == Committing && e.Kind == Committed:
		m.committed(e)
	case m.s.Phase == Editing && e.Kind == PlanEdited:
		m.planEdited(e)
	case m.s.Phase == Finishing && e.Kind == Concluded:
		m.s.Phase, m.s.Tested = Ended, e.Tested
	case m.s.Phase == Restoring && e.Kind == Restored:
		m.restored(e)
	case m.s.Phase == Waiting && e.Kind == TimerFired:
		m.waited()
	case m.s.Attended && m.unrequestedTurn(e):
		// a turn that the machine did not begin
	default:
		m.notify(Anomaly, fmt.Sprintf("event %s while %s: ignored", e.Kind, m.s.Phase))
	}
}

func (m *machine) start(st Start) {
	early := m.s.Policy.Limits // changed before the loop began
	m.s.Policy = st.Policy
	m.s.Policy.Limits = st.Policy.Limits.With(early)
	m.s.Policy.Verify = st.Policy.Verify && st.Policy.Kind == Change // of a tree, not of an answer
	m.s.Tasks = slices.Clone(st.Tasks)
	m.s.Attended = st.Policy.Attended
	m.s.FirstTask = st.FirstTask
	m.s.Iteration = st.Policy.IterationsBefore
	m.s.StartedAt = m.s.Now
	m.s.Fresh = !m.s.Attended
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
		if m.s.Purpose == ForBaseline && m.s.ReachedLimit != "" {
			m.limitReached(m.s.ReachedLimit)
			return
		}
		m.runGates(m.s.Purpose)
	case ThenTurn:
		m.beginTurn()
	case ThenCommit:
		m.commitFound()
	case ThenApproved:
		m.resumeApproval()
	case ThenSaveWork: // see checkpointed
	}
}

// faulted ends the loop because an action could not be performed. A failed commit is retried
// without another turn when the loop is reopened.
func (m *machine) faulted(e Event) {
	switch m.s.Phase {
	case Finishing: // the outcome is decided
		m.notify(Warning, e.Text)
		m.s.Phase = Ended
		return
	case Committing:
		m.s.After = ThenCommit
	}
	m.finish(Errored, e.Text, e.Hint)
}

func (m *machine) checkpointed(e Event) {
	if m.s.After == ThenBaseline {
		m.s.StartTree, m.s.WithEdits, m.s.UnfinishedTree = e.Tree, e.WithEdits, e.UnfinishedTree
	}
	if m.s.After == ThenSaveWork {
		m.restoreBeforeTask(e.Tree)
		return
	}
	m.follow(m.s.After)
}

// pause takes effect at once in a wait, otherwise before the next turn or task. It does not
// interrupt a turn.
func (m *machine) pause() {
	m.s.Pause = true
	if m.s.Phase == Waiting {
		m.hold(m.s.After)
	}
}

func (m *machine) hold(then After) {
	m.s.After = then
	m.s.Phase = Paused
	m.s.Pending = nil
	m.startClock() // ends the time of a wait; the pause starts its own
	m.stopClock()
}

// resume continues a paused loop with the tasks that were added to its plan.
func (m *machine) resume(tasks []Task) {
	m.addTasks(tasks)
	m.s.Pause = false
	if m.s.Phase == Paused {
		m.s.HoldReason = ""
		m.startClock()
		m.follow(m.s.After)
	}
}

// stopClock starts time that counts against no limit.
func (m *machine) stopClock() {
	if m.s.AwayFrom.IsZero() {
		m.s.AwayFrom = m.s.Now
	}
}

// startClock ends time that counts against no limit.
func (m *machine) startClock() {
	if !m.s.AwayFrom.IsZero() {
		m.s.Away += m.s.Now.Sub(m.s.AwayFrom)
		m.s.AwayFrom = time.Time{}
	}
}

// ownerLost makes the new owner repeat what the old one had not finished. A turn is retried in its
// session as the same iteration.
func (m *machine) ownerLost() {
	if m.s.TreeReplaced && m.s.Phase.OwnerActs() && m.s.Phase != Finishing {
		m.restartTask()
		return
	}
	switch m.s.Phase {
	case Turning:
		if m.stopped() {
			return
		}
		// What went before the turn (a PutBack, say) may not have been done.
		for _, a := range m.s.Pending {
			if !a.Do.EndsInEvent() && a.Do != Notify && a.Do != Interrupt {
				m.do(a)
			}
		}
		m.s.Retry = true
		m.s.Situation = Interruption
		m.beginTurn()
	case TurningIsolated:
		switch {
		case m.stopped():
		case m.s.ReachedLimit != "":
			m.isolatedFailed(nil, Failure{Class: Interrupted, Message: "a limit was reached"})
		default:
			m.acts = slices.Clone(m.s.Pending)
		}
	case New, Paused:
	default:
		if !m.resumeOtherWork() {
			m.acts = slices.Clone(m.s.Pending)
		}
	}
}

// reopen continues a loop that ended with work left. Skipped tasks are open again. A limit that
// comes with it counts from the current usage; the others keep what remains.
func (m *machine) reopen(e Event) {
	if m.s.Phase != Ended || e.Start == nil || m.s.StartedAt.IsZero() || !m.s.HasWorkLeft() {
		m.notify(Anomaly, "there is nothing to reopen")
		return
	}
	s := &m.s
	s.Away += s.Now.Sub(s.EndedAt)
	if s.endedRed() { // the user wants it green
		s.RedAtStart = nil
	}
	m.forgetEnd()
	m.addTasks(e.Added)
	if e.Owner != "" {
		s.Attended = e.Owner == OwnerSession
	}
	s.Handover, s.Trouble, s.Violations, s.Pause = Handover{}, Trouble{}, 0, false
	*s = s.Extended(e.Start.Policy.Limits)
	if s.After == ThenCommit {
		m.follow(ThenCommit)
		return
	}
	if m.startedDone() && s.RedReason != "" { // the user wants the gates of a plan that is done green
		m.finalTask(makeGatesPass)
	}
	if s.BeforeFirstTurn() { // what the gates said then may be fixed
		s.Current, s.StartTree, s.WithEdits = "", "", ""
	}
	if t, ok := s.Task(s.Current); ok && t.Status == Open && s.StartTree != "" && !s.TreeReplaced {
		s.Ladder, s.Claim, s.Retry, s.Fresh = Ladder{}, nil, false, !s.Attended
		s.Situation = Interruption
		m.beginTurn()
		return
	}
	m.next()
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

func (m *machine) do(a Action) { m.acts = append(m.acts, a) }

// await performs an action and waits for its end in phase p.
func (m *machine) await(p Phase, a Action) {
	m.s.Phase = p
	m.do(a)
}

func (m *machine) notify(l Level, text string) { m.do(Action{Do: Notify, Level: l, Text: text}) }

// wait waits until a time. If a pause is requested, the loop pauses instead.
func (m *machine) wait(until time.Time, then After, why string) {
	m.waitFor(Action{Until: until, Text: why}, then)
}

func (m *machine) waitFor(a Action, then After) {
	if m.s.Pause {
		m.notify(Info, "paused in place of a wait ("+a.Text+")")
		m.hold(then)
		return
	}
	m.s.After, a.Do = then, Wait
	m.await(Waiting, a)
}

func (m *machine) finish(o Outcome, reason, hint string) {
	m.startClock()
	m.s.EndedAt, m.s.Outcome, m.s.Reason, m.s.Hint = m.s.Now, o, reason, hint
	m.warnPendingEdits()
	m.warnUnread()
	m.await(Finishing, Action{Do: Finish, Text: reason})
}
