package hook

import (
	"context"
	"fmt"
	"time"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/session"
	"github.com/pawl-dev/pawl/internal/store"
)

// handOverAtStopCap requests a handover if the client is about to end the session
// regardless of hooks, and the user allowed handovers.
func (h *handler) handOverAtStopCap(s *lease, b session.Binding) error {
	if !s.spec.Policy.Handover || s.mem.State.Handover.Failed || h.userTurn {
		return nil
	}
	limit := h.stopCap()
	if limit == 0 || consecutiveStops(b, s) < limit {
		return nil
	}
	return s.step(loop.Event{
		Payload: loop.HandoverRequested{To: loop.OwnerRunner, Why: fmt.Sprintf("the client ends a turn after %d stops without a tool call", limit)},
	})
}

// consecutiveStops returns how many stops in a row were answered with more work, without
// a tool call between them.
func consecutiveStops(b session.Binding, s *lease) int {
	if toolCallLogSize(s.loop) > b.ToolsSize {
		return 0
	}
	return b.ConsecutiveBlocks
}

// replyNotOwner answers for a loop that another owner has taken. If that owner died
// before its first record, the driver runs again and may give the loop back to the
// session, with a newer binding.
func (h *handler) replyNotOwner(ctx context.Context, b session.Binding, cause error) (reply, error) {
	l := store.Open(h.Env.PawlHome).Loop(b.Loop)
	_, m, err := record.Read(l)
	if _, alive, holderErr := l.Holder(); err == nil && holderErr == nil && !alive && m.State.Phase == loop.HandingOver {
		waited, cancel := context.WithDeadline(ctx, h.now.Add(interactiveTimeout))
		defer cancel()
		if err := h.runDriver(waited, b.Loop, nil); err != nil {
			return reply{}, err
		}
	}
	if now, err := h.bindings.Find(b.Session); err == nil && now.Loop == b.Loop && now.Epoch > b.Epoch {
		s, err := h.acquire(ctx, now)
		if err != nil && !store.IsHeld(err) {
			return reply{}, err
		}
		return h.finishStop(ctx, now, s)
	}
	return h.replyLoopMoved(ctx, b, cause)
}

// isOwnedByRunner reports whether a runner owns the loop, or is about to.
func isOwnedByRunner(m memory.Memory) bool {
	return m.State.Phase != loop.Ended && (!m.State.InSession || m.State.Phase == loop.HandingOver)
}

// isolatedTryText says that an isolated try runs beside the session, and why.
func (h *handler) isolatedTryText(b session.Binding) string {
	_, m, err := record.Read(store.Open(h.Env.PawlHome).Loop(b.Loop))
	if err != nil || m.State.Failing == nil {
		return b.Loop + ": this try runs in a separate session"
	}
	return fmt.Sprintf("⟲ %s %s · not done: %s · this try runs in a separate session. You can use this session meanwhile; it gets the result",
		b.Loop, iterationText(m.State, "/"), plan.OneLine(m.State.Failing.Reason, 160))
}

// isIsolatedTryRunning reports whether an isolated try is running. The session need not
// wait for it: the waker delivers the result.
func (h *handler) isIsolatedTryRunning(b session.Binding) bool {
	if b.Unattended {
		return false
	}
	m, _, err := record.Load(store.Open(h.Env.PawlHome).Loop(b.Loop))
	return err == nil && m.State.Phase == loop.TurningIsolated
}

// handoverOffer returns what to type to continue in a fresh session, if the context is full
// and the user has not allowed handovers.
func handoverOffer(s *lease) string {
	st := s.mem.State
	if st.Handover.Failed && st.Policy.Handover {
		return " · the handover failed: " + plan.OneLine(st.Handover.Why, 200)
	}
	if !st.ContextFull() || st.Policy.Handover {
		return ""
	}
	return fmt.Sprintf(" · the context is %d %% full: Esc, then ! pawl handover continues in fresh sessions", st.ContextPercent)
}

// contextFillTries bounds the attempts to read an answer that the client has not written
// yet. Under load the client took half a second.
const contextFillTries = 40

// contextPercent returns how full the context is, in percent, or -1: the input tokens of the
// last answer, relative to the model's window. With wait it waits until the client has
// written the answer that ended this turn.
func (h *handler) contextPercent(wait bool) int {
	fill, now := h.event.ContextFill(h.Env.Session.Window)
	for tries := 0; wait && !now && tries < contextFillTries && fileExists(h.event.Transcript); tries++ {
		time.Sleep(transcriptPollInterval)
		fill, now = h.event.ContextFill(h.Env.Session.Window)
	}
	return fill
}
