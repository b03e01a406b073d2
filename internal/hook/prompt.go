package hook

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/foreign/verifyactive"
	"github.com/pawl-dev/pawl/internal/notify"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/session"
	"github.com/pawl-dev/pawl/internal/statefile"
	"github.com/pawl-dev/pawl/internal/store"
)

// answerPrompt records a prompt. A prompt that is typed during a turn comes with the id
// of the turn's first prompt.
func (h *handler) answerPrompt(ctx context.Context, b session.Binding) (reply, error) {
	if _, found, _ := verifyactive.ParsePrompt(h.event.Prompt); found && !h.event.IsNotification() {
		return h.answerSecondLoop(ctx, b)
	}
	wasWaiting := b.WaitingForTurn
	if b.Capped {
		err := h.withLease(ctx, b, func(s *lease) error {
			s.recordBinding(b, memory.BoundSession{})
			return nil
		})
		if err != nil {
			return reply{}, err
		}
	}
	_, err := h.bindings.Change(ctx, b.Session, func(b *session.Binding) bool {
		isNew := b.RecordPrompt(session.Prompt{ID: h.event.PromptID, FromClient: h.event.IsNotification()})
		switch {
		case h.event.PromptID == "" || !isNew && h.event.IsNotification():
			return false
		case !isNew || h.event.PromptID == b.LoopPrompt: // the id of the turn that runs
			b.TypedAtSize = 1 + toolCallLogSize(store.Open(h.Env.PawlHome).Loop(b.Loop))
		default:
			b.TypedAtSize = 0
		}
		b.Busy, b.Capped = b.Busy || isNew, false
		return true
	})
	if err != nil || !wasWaiting || h.event.IsNotification() {
		return reply{}, err
	}
	m, _, err := record.Load(store.Open(h.Env.PawlHome).Loop(b.Loop))
	if err == nil && m.State.Phase == loop.Waiting {
		return reply{Message: b.Loop + ": " + waitText(m.State)}, nil
	}
	return reply{}, nil // the stop reports it
}

// answerSecondLoop answers a prompt that asks for a loop in a session that has one. A
// loop that has ended since the last stop is reported and makes room.
func (h *handler) answerSecondLoop(ctx context.Context, b session.Binding) (reply, error) {
	refused := reply{Refuse: fmt.Sprintf("pawl: error: %s already runs in this session\npawl: hint: ! pawl stop %[1]s ends it", b.Loop)}
	s, err := h.acquire(ctx, b)
	switch {
	case store.IsHeld(err):
		return refused, nil
	case errors.Is(err, errNotOwner):
		return h.replyNotOwner(ctx, b, err)
	case err != nil:
		return reply{}, err
	case s.mem.State.Phase != loop.Ended:
		return refused, s.release()
	}
	before, err := h.replyForState(ctx, b, s)
	if err != nil {
		return reply{}, err
	}
	h.startMessage = before.Message
	r, _ := h.requestPromptLoop(ctx)
	return r, nil
}

// answerSessionStart answers the start of a context. The loop stays with a session that
// is resumed; after /clear and compaction the agent is told the goal again; a fork is
// another session, without the loop.
func (h *handler) answerSessionStart(ctx context.Context, b session.Binding) (reply, error) {
	_, err := h.bindings.Change(ctx, b.Session, func(b *session.Binding) bool {
		b.Client = h.client()
		if h.event.Source != "compact" {
			b.Responder, b.PassedAt = "", time.Time{} // whoever comes first in this process
			b.ConsecutiveBlocks = 0
		}
		return true
	})
	if err != nil {
		return reply{}, err
	}
	switch h.event.Source {
	case "compact":
		return h.replyNewContext(b), nil
	case "clear":
		err := h.withLease(ctx, b, func(s *lease) error { // for the waker, and for pawl list
			s.recordBinding(b, memory.BoundSession{})
			return nil
		})
		return h.replyNewContext(b), err
	}
	if s, err := h.acquire(ctx, b); err == nil && s.mem.State.Phase == loop.Ended {
		return h.replyForState(ctx, b, s) // it ended while the session was closed
	} else if err == nil {
		if err := s.release(); err != nil {
			return reply{}, err
		}
	}
	// The session was closed meanwhile: that time does not count against a limit, and
	// interrupted work starts again.
	var outbox *notify.Outbox
	err = h.withLease(ctx, b, func(s *lease) error {
		b.Client = h.client()
		s.recordBinding(b, memory.BoundSession{})
		if s.mem.State.AsksUser() {
			outbox = s.outbox
		}
		return s.step(loop.Event{Payload: loop.OwnerChanged{}})
	})
	if err == nil { // who took replies to what it asks ended with the client
		err = outbox.Listen()
	}
	if err != nil {
		return reply{}, err
	}
	return reply{Message: fmt.Sprintf("%s continues in this session, at the end of your next turn (pawl status; pawl stop %[1]s ends it)", b.Loop)}, nil
}

// withLease runs do with the loop's lease. It does nothing if another process holds it.
func (h *handler) withLease(ctx context.Context, b session.Binding, do func(*lease) error) error {
	s, err := h.acquire(ctx, b)
	if store.IsHeld(err) || errors.Is(err, errNotOwner) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := do(s); err != nil {
		return errors.Join(err, s.owner.Close())
	}
	return s.release()
}

// replyNewContext returns a reply for a context that does not know the loop: its goal, and the agent's
// open question. The user's next prompt is the answer.
func (h *handler) replyNewContext(b session.Binding) reply {
	r := reply{Context: h.goalText(b), Message: b.Loop + " continues in this session"}
	m, _, err := record.Load(store.Open(h.Env.PawlHome).Loop(b.Loop))
	if q, asks := m.State.AwaitedAnswer(); err == nil && asks {
		r.Message += "\n" + waitText(m.State)
		if q.Approve == "" {
			r.Context += fmt.Sprintf("\n\nYou asked: %s\nThe user's next prompt is the answer.\n", plan.OneLine(q.Text, 0))
		}
	}
	return r
}

// goalText repeats the goal for a context that has lost it.
func (h *handler) goalText(b session.Binding) string {
	l := store.Open(h.Env.PawlHome).Loop(b.Loop)
	text := fmt.Sprintf("[Pawl] Loop %s runs in this session. These were your instructions:\n\n", b.Loop)
	data, err := os.ReadFile(record.FullPromptPath(l))
	if err != nil {
		data, _ = os.ReadFile(record.ContinuePromptPath(l)) // either will do
	}
	return text + string(data)
}

// answerSessionEnd keeps the loop when its session ends: /clear continues in a session of
// another id in the same process. Otherwise the loop rests until the session is resumed.
func (h *handler) answerSessionEnd(ctx context.Context, b session.Binding) (reply, error) {
	s, err := h.acquireWithRetry(ctx, b) // a hook of StopFailure may be at it
	switch {
	case store.IsHeld(err) || errors.Is(err, errNotOwner):
	case err != nil:
		return reply{}, err
	case s.mem.State.Phase == loop.Ended: // not reported yet
		_, err = h.replyForState(ctx, b, s)
		return reply{}, err
	default:
		if err := errors.Join(h.recordFailureAtEnd(s, b), s.release()); err != nil {
			return reply{}, err
		}
	}
	if h.event.Reason == "clear" {
		return reply{}, errors.Join(h.noteIfFree(ctx, b, "the context was emptied (/clear)"), h.bindings.WaitForSession(ctx, b, []int{h.client()}, h.now))
	}
	var leaveErr error
	var st loop.State
	err = h.withLease(ctx, b, func(s *lease) error {
		s.note(loop.Info, "the session was closed ("+plan.OneLine(h.event.Reason, 0)+"); claude --resume "+b.Session+" continues it")
		s.recordBinding(b, memory.BoundSession{Closed: true})
		st = s.mem.State
		if f, ok := s.files.(statefile.SessionLeaver); ok {
			leaveErr = f.SessionLeft(s.mem, plan.OneLine(h.event.Reason, 0), time.Now())
		}
		return nil
	})
	err = errors.Join(err, leaveErr)
	if st.Phase == "" || !h.Env.Session.Unattended {
		return reply{}, err
	}
	return h.replyLoopOpen(ctx, b, st), err
}

// replyLoopOpen says how to continue a loop that the end of claude -p leaves open. If it
// waits and the user allowed handovers, fresh sessions wait for it and continue.
func (h *handler) replyLoopOpen(ctx context.Context, b session.Binding, st loop.State) reply {
	text := b.Loop + " is not done"
	a, waits := loop.FindAction[loop.Wait](st.Pending)
	waits = waits && st.Phase == loop.Waiting
	switch q, asks := st.AwaitedAnswer(); {
	case asks:
		text += fmt.Sprintf(": %s  Answer with  %s", plan.OneLine(q.Headline(), 300), q.Command(b.Loop))
	case waits:
		text += fmt.Sprintf(" and waits until %s (%s)", a.Until.Local().Format(time.TimeOnly), a.Why)
	}
	if waits && st.Policy.Handover {
		_, err := h.runPawl(ctx, "", "handover", "--", b.Loop)
		if err == nil {
			return reply{ExitMessage: text + fmt.Sprintf("; then it continues by itself, in fresh sessions: pawl status %s, pawl stop %[1]s", b.Loop)}
		}
		text += "; fresh sessions cannot continue: " + plan.OneLine(err.Error(), 0)
	}
	return reply{ExitMessage: text + fmt.Sprintf("; to continue:  pawl handover %s;  or  claude -p --resume %s 'continue'", b.Loop, b.Session)}
}
