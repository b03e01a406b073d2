package loop_test

import (
	"time"

	"github.com/pawl-dev/pawl/internal/core/loop"
)

// sendUnexpectedEvent returns an event that the loop did not ask for.
func (w *randomWalk) sendUnexpectedEvent() {
	switch w.r.IntN(70) {
	case 0:
		w.feed(loop.Event{Payload: loop.PauseRequested{}})
	case 1:
		w.feed(loop.Event{Payload: loop.LessonLearned{Lesson: "lesson", ByUser: true}})
		w.askQuestion()
	case 2: // kill -9, and a new owner some time later
		w.s = roundTrip(w.t, w.s)
		w.nextEvent = nil
		w.now = w.now.Add(time.Duration(w.r.IntN(5)) * time.Hour)
		w.maybeRestoreCheckpoint()
		if w.oneIn(2) {
			w.feed(loop.Event{Payload: loop.OwnerChanged{}})
			break
		}
		w.feed(loop.Event{Payload: loop.HandedOver{To: w.randomOwner()}})
	case 3, 10, 11: // nonsense
		kinds := loop.EventKinds()
		if k := kinds[w.r.IntN(len(kinds))]; w.isUnexpected(k) {
			w.feed(loop.Event{Payload: w.filled(emptyEvent(k).Payload)})
		}
	case 4:
		if w.oneIn(20) {
			w.feed(loop.Event{Payload: w.filled(loop.Cancelled{Cause: loop.ByInterrupt})})
		}
	case 5:
		if w.oneIn(20) {
			w.feed(loop.Event{Payload: w.filled(loop.Faulted{Error: "disk full"})})
		}
	case 6:
		if w.s.Phase == loop.Turning && w.s.Policy.Limits.Duration > 0 && w.oneIn(10) {
			w.feed(loop.Event{Payload: loop.LimitHit{Limit: loop.Duration}})
		}
	case 7: // the user types, or the client wakes the session
		if w.s.InSession && w.s.Phase != loop.Turning && w.s.Phase != loop.New {
			w.feed(loop.Event{Payload: w.randomTurn()})
		}
	case 9:
		w.feed(w.randomTestDecision())
		w.feed(w.randomPlanEdit())
		w.feed(loop.Event{Payload: w.filled(loop.PlanEditRequested{})})
	case 8:
		w.feed(loop.Event{Payload: loop.HandoverRequested{To: w.randomOwner(), Why: "asked"}})
	}
}

// isUnexpected reports whether an event of this kind means nothing in the current phase.
func (w *randomWalk) isUnexpected(k loop.EventKind) bool {
	switch k {
	case loop.KindReopened, loop.KindCancelled, loop.KindLimitHit, loop.KindFaulted, loop.KindOwnerChanged, loop.KindHandedOver, loop.KindCheckpointRestored:
		return false
	case loop.KindTurnEnded, loop.KindAgentFailed:
		return !w.s.InSession && w.s.Phase != loop.Turning
	case loop.KindGatesFinished:
		return w.s.Phase != loop.Baseline && w.s.Phase != loop.Judging
	case loop.KindTreeInspected:
		return w.s.Phase != loop.Inspecting
	}
	return true
}
