package loop

// EventKind names what happened, in the journal and on screens.
type EventKind string

// The kinds, each the name of its payload's type.
const (
	KindStarted             EventKind = "started"
	KindReopened            EventKind = "reopened"
	KindOwnerLost           EventKind = "owner_lost"
	KindHandoverRequested   EventKind = "handover_requested"
	KindHandedOver          EventKind = "handed_over"
	KindCheckpointed        EventKind = "checkpointed"
	KindGatesFinished       EventKind = "gates_finished"
	KindTurnEnded           EventKind = "turn_ended"
	KindAgentFailed         EventKind = "agent_failed"
	KindTreeInspected       EventKind = "tree_inspected"
	KindCommitted           EventKind = "committed"
	KindRestored            EventKind = "restored"
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
func eventTypes() []variant[EventPayload] {
	return []variant[EventPayload]{
		eventType[Started](), eventType[Reopened](), eventType[OwnerLost](), eventType[HandoverRequested](),
		eventType[HandedOver](), eventType[Checkpointed](), eventType[GatesFinished](), eventType[TurnEnded](),
		eventType[AgentFailed](), eventType[TreeInspected](), eventType[Committed](), eventType[Restored](),
		eventType[TimerFired](), eventType[PlanEdited](), eventType[Concluded](), eventType[Faulted](),
		eventType[LimitHit](), eventType[LimitsChanged](), eventType[PauseRequested](), eventType[Resumed](),
		eventType[Cancelled](), eventType[MessageArrived](), eventType[Delivered](), eventType[QuestionAsked](),
		eventType[Answered](), eventType[MergeRequested](), eventType[TestChangeRequested](), eventType[Approved](),
		eventType[Rejected](), eventType[LessonLearned](), eventType[LessonForgotten](), eventType[PlanEditRequested](),
		eventType[CheckpointRestored](),
	}
}

func eventType[T EventPayload]() variant[EventPayload] {
	var zero T
	return variant[EventPayload]{zero, func(data []byte) (EventPayload, error) { return decodeAs[T](data) }}
}

// EventKinds lists all kinds.
func EventKinds() []EventKind {
	var kinds []EventKind
	for _, v := range eventTypes() {
		kinds = append(kinds, v.zero.kind())
	}
	return kinds
}

func (Started) kind() EventKind             { return KindStarted }
func (Reopened) kind() EventKind            { return KindReopened }
func (OwnerLost) kind() EventKind           { return KindOwnerLost }
func (HandoverRequested) kind() EventKind   { return KindHandoverRequested }
func (HandedOver) kind() EventKind          { return KindHandedOver }
func (Checkpointed) kind() EventKind        { return KindCheckpointed }
func (GatesFinished) kind() EventKind       { return KindGatesFinished }
func (TurnEnded) kind() EventKind           { return KindTurnEnded }
func (AgentFailed) kind() EventKind         { return KindAgentFailed }
func (TreeInspected) kind() EventKind       { return KindTreeInspected }
func (Committed) kind() EventKind           { return KindCommitted }
func (Restored) kind() EventKind            { return KindRestored }
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
