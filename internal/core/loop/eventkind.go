package loop

// EventKind names what happened, in the journal and on screens.
type EventKind string

// The kinds, each the name of its payload's type.
const (
	KindStarted             EventKind = "started"
	KindReopened            EventKind = "reopened"
	KindOwnerChanged        EventKind = "owner_changed"
	KindHandoverRequested   EventKind = "handover_requested"
	KindHandedOver          EventKind = "handed_over"
	KindCheckpointed        EventKind = "checkpointed"
	KindGatesFinished       EventKind = "gates_finished"
	KindTurnEnded           EventKind = "turn_ended"
	KindAgentFailed         EventKind = "agent_failed"
	KindTreeInspected       EventKind = "tree_inspected"
	KindCommitted           EventKind = "committed"
	KindRestored            EventKind = "restored"
	KindWorkReapplied       EventKind = "work_reapplied"
	KindTimerFired          EventKind = "timer_fired"
	KindPlanEdited          EventKind = "plan_edited"
	KindConcluded           EventKind = "concluded"
	KindFaulted             EventKind = "faulted"
	KindLimitHit            EventKind = "limit_hit"
	KindLimitsChanged       EventKind = "limits_changed"
	KindPauseRequested      EventKind = "pause_requested"
	KindResumed             EventKind = "resumed"
	KindCancelled           EventKind = "cancelled"
	KindMessageArrived      EventKind = "message_arrived"
	KindDelivered           EventKind = "delivered"
	KindQuestionAsked       EventKind = "question_asked"
	KindAnswered            EventKind = "answered"
	KindMergeRequested      EventKind = "merge_requested"
	KindTestChangeRequested EventKind = "test_change_requested"
	KindApproved            EventKind = "approved"
	KindRejected            EventKind = "rejected"
	KindLessonLearned       EventKind = "lesson_learned"
	KindLessonForgotten     EventKind = "lesson_forgotten"
	KindPlanEditRequested   EventKind = "plan_edit_requested"
	KindCheckpointRestored  EventKind = "checkpoint_restored"
)

// eventTypes lists all types of payloads but Unrecognized.
var eventTypes = []variant[EventPayload]{
	event[Started](), event[Reopened](), event[OwnerChanged](), event[HandoverRequested](), event[HandedOver](),
	event[Checkpointed](), event[GatesFinished](), event[TurnEnded](), event[AgentFailed](),
	event[TreeInspected](), event[Committed](), event[Restored](), event[WorkReapplied](), event[TimerFired](),
	event[PlanEdited](), event[Concluded](), event[Faulted](), event[LimitHit](), event[LimitsChanged](),
	event[PauseRequested](), event[Resumed](), event[Cancelled](), event[MessageArrived](), event[Delivered](),
	event[QuestionAsked](), event[Answered](), event[MergeRequested](), event[TestChangeRequested](),
	event[Approved](), event[Rejected](), event[LessonLearned](), event[LessonForgotten](),
	event[PlanEditRequested](), event[CheckpointRestored](),
}

func event[T EventPayload]() variant[EventPayload] { return variantOf[T, EventPayload]() }

// EventKinds lists all kinds.
func EventKinds() []EventKind {
	var kinds []EventKind
	for _, v := range eventTypes {
		kinds = append(kinds, v.zero.kind())
	}
	return kinds
}

func (Started) kind() EventKind             { return KindStarted }
func (Reopened) kind() EventKind            { return KindReopened }
func (OwnerChanged) kind() EventKind        { return KindOwnerChanged }
func (HandoverRequested) kind() EventKind   { return KindHandoverRequested }
func (HandedOver) kind() EventKind          { return KindHandedOver }
func (Checkpointed) kind() EventKind        { return KindCheckpointed }
func (GatesFinished) kind() EventKind       { return KindGatesFinished }
func (TurnEnded) kind() EventKind           { return KindTurnEnded }
func (AgentFailed) kind() EventKind         { return KindAgentFailed }
func (TreeInspected) kind() EventKind       { return KindTreeInspected }
func (Committed) kind() EventKind           { return KindCommitted }
func (Restored) kind() EventKind            { return KindRestored }
func (WorkReapplied) kind() EventKind       { return KindWorkReapplied }
func (TimerFired) kind() EventKind          { return KindTimerFired }
func (PlanEdited) kind() EventKind          { return KindPlanEdited }
func (Concluded) kind() EventKind           { return KindConcluded }
func (Faulted) kind() EventKind             { return KindFaulted }
func (LimitHit) kind() EventKind            { return KindLimitHit }
func (LimitsChanged) kind() EventKind       { return KindLimitsChanged }
func (PauseRequested) kind() EventKind      { return KindPauseRequested }
func (Resumed) kind() EventKind             { return KindResumed }
func (Cancelled) kind() EventKind           { return KindCancelled }
func (MessageArrived) kind() EventKind      { return KindMessageArrived }
func (Delivered) kind() EventKind           { return KindDelivered }
func (QuestionAsked) kind() EventKind       { return KindQuestionAsked }
func (Answered) kind() EventKind            { return KindAnswered }
func (MergeRequested) kind() EventKind      { return KindMergeRequested }
func (TestChangeRequested) kind() EventKind { return KindTestChangeRequested }
func (Approved) kind() EventKind            { return KindApproved }
func (Rejected) kind() EventKind            { return KindRejected }
func (LessonLearned) kind() EventKind       { return KindLessonLearned }
func (LessonForgotten) kind() EventKind     { return KindLessonForgotten }
func (PlanEditRequested) kind() EventKind   { return KindPlanEditRequested }
func (CheckpointRestored) kind() EventKind  { return KindCheckpointRestored }
func (u Unrecognized) kind() EventKind      { return u.Name }
