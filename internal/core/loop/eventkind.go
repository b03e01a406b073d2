package loop

import "encoding/json"

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

// eventKind pairs a kind with the decoder of its payload.
type eventKind struct {
	kind   EventKind
	decode func(data []byte) (Payload, error)
}

// eventKinds lists all kinds.
func eventKinds() []eventKind {
	return []eventKind{
		{KindStarted, decode[Started]},
		{KindReopened, decode[Reopened]},
		{KindOwnerLost, decode[OwnerLost]},
		{KindHandoverRequested, decode[HandoverRequested]},
		{KindHandedOver, decode[HandedOver]},
		{KindCheckpointed, decode[Checkpointed]},
		{KindGatesFinished, decode[GatesFinished]},
		{KindTurnEnded, decode[TurnEnded]},
		{KindAgentFailed, decode[AgentFailed]},
		{KindTreeInspected, decode[TreeInspected]},
		{KindCommitted, decode[Committed]},
		{KindRestored, decode[Restored]},
		{KindTimerFired, decode[TimerFired]},
		{KindPlanEdited, decode[PlanEdited]},
		{KindConcluded, decode[Concluded]},
		{KindFaulted, decode[Faulted]},
		{KindLimitHit, decode[LimitHit]},
		{KindLimitsChanged, decode[LimitsChanged]},
		{KindPauseRequested, decode[PauseRequested]},
		{KindResumed, decode[Resumed]},
		{KindCancelled, decode[Cancelled]},
		{KindMessageArrived, decode[MessageArrived]},
		{KindDelivered, decode[Delivered]},
		{KindQuestionAsked, decode[QuestionAsked]},
		{KindAnswered, decode[Answered]},
		{KindMergeRequested, decode[MergeRequested]},
		{KindTestChangeRequested, decode[TestChangeRequested]},
		{KindApproved, decode[Approved]},
		{KindRejected, decode[Rejected]},
		{KindLessonLearned, decode[LessonLearned]},
		{KindLessonForgotten, decode[LessonForgotten]},
		{KindPlanEditRequested, decode[PlanEditRequested]},
		{KindCheckpointRestored, decode[CheckpointRestored]},
	}
}

func decode[P Payload](data []byte) (Payload, error) {
	var p P
	err := json.Unmarshal(data, &p)
	return p, err
}

// EventKinds lists all kinds.
func EventKinds() []EventKind {
	var kinds []EventKind
	for _, k := range eventKinds() {
		kinds = append(kinds, k.kind)
	}
	return kinds
}

// Kind returns KindStarted.
func (Started) Kind() EventKind { return KindStarted }

// Kind returns KindReopened.
func (Reopened) Kind() EventKind { return KindReopened }

// Kind returns KindOwnerLost.
func (OwnerLost) Kind() EventKind { return KindOwnerLost }

// Kind returns KindHandoverRequested.
func (HandoverRequested) Kind() EventKind { return KindHandoverRequested }

// Kind returns KindHandedOver.
func (HandedOver) Kind() EventKind { return KindHandedOver }

// Kind returns KindCheckpointed.
func (Checkpointed) Kind() EventKind { return KindCheckpointed }

// Kind returns KindGatesFinished.
func (GatesFinished) Kind() EventKind { return KindGatesFinished }

// Kind returns KindTurnEnded.
func (TurnEnded) Kind() EventKind { return KindTurnEnded }

// Kind returns KindAgentFailed.
func (AgentFailed) Kind() EventKind { return KindAgentFailed }

// Kind returns KindTreeInspected.
func (TreeInspected) Kind() EventKind { return KindTreeInspected }

// Kind returns KindCommitted.
func (Committed) Kind() EventKind { return KindCommitted }

// Kind returns KindRestored.
func (Restored) Kind() EventKind { return KindRestored }

// Kind returns KindTimerFired.
func (TimerFired) Kind() EventKind { return KindTimerFired }

// Kind returns KindPlanEdited.
func (PlanEdited) Kind() EventKind { return KindPlanEdited }

// Kind returns KindConcluded.
func (Concluded) Kind() EventKind { return KindConcluded }

// Kind returns KindFaulted.
func (Faulted) Kind() EventKind { return KindFaulted }

// Kind returns KindLimitHit.
func (LimitHit) Kind() EventKind { return KindLimitHit }

// Kind returns KindLimitsChanged.
func (LimitsChanged) Kind() EventKind { return KindLimitsChanged }

// Kind returns KindPauseRequested.
func (PauseRequested) Kind() EventKind { return KindPauseRequested }

// Kind returns KindResumed.
func (Resumed) Kind() EventKind { return KindResumed }

// Kind returns KindCancelled.
func (Cancelled) Kind() EventKind { return KindCancelled }

// Kind returns KindMessageArrived.
func (MessageArrived) Kind() EventKind { return KindMessageArrived }

// Kind returns KindDelivered.
func (Delivered) Kind() EventKind { return KindDelivered }

// Kind returns KindQuestionAsked.
func (QuestionAsked) Kind() EventKind { return KindQuestionAsked }

// Kind returns KindAnswered.
func (Answered) Kind() EventKind { return KindAnswered }

// Kind returns KindMergeRequested.
func (MergeRequested) Kind() EventKind { return KindMergeRequested }

// Kind returns KindTestChangeRequested.
func (TestChangeRequested) Kind() EventKind { return KindTestChangeRequested }

// Kind returns KindApproved.
func (Approved) Kind() EventKind { return KindApproved }

// Kind returns KindRejected.
func (Rejected) Kind() EventKind { return KindRejected }

// Kind returns KindLessonLearned.
func (LessonLearned) Kind() EventKind { return KindLessonLearned }

// Kind returns KindLessonForgotten.
func (LessonForgotten) Kind() EventKind { return KindLessonForgotten }

// Kind returns KindPlanEditRequested.
func (PlanEditRequested) Kind() EventKind { return KindPlanEditRequested }

// Kind returns KindCheckpointRestored.
func (CheckpointRestored) Kind() EventKind { return KindCheckpointRestored }

// Kind returns its name.
func (u Unrecognized) Kind() EventKind { return u.Name }
