package hook

import (
	"context"
	"fmt"
	"time"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/session"
	"github.com/pawl-dev/pawl/internal/store"
)

// farewell says where a loop went that is not the session's any more. The binding
// stays while a runner has the loop, so that the person is told of its end. Where
// nobody sits in the session there is nobody to look after the loop either: the
// session ends with it, as it would have without the hand-over.
func (h *hook) farewell(ctx context.Context, b session.Binding, cause error) (reply, error) {
	l := store.Open(h.Env.PawlHome).Loop(b.Loop)
	m, _, err := elsewhere(l)
	if b.Unattended && err == nil {
		m, err = h.outlasts(ctx, l, m)
	}
	if err == nil && movedOn(m) && !b.Unattended {
		return h.departs(ctx, b, m)
	}
	released, releaseErr := h.sessions.Forget(ctx, b)
	switch {
	case releaseErr != nil:
		return reply{}, releaseErr
	case !released && !b.Unattended: // somebody else has told of it; of a wait nobody else can
		return reply{}, nil
	case err != nil:
		return reply{Message: fmt.Sprintf("pawl: %s: %v", b.Loop, cause)}, nil //nolint:nilerr // the cause says more: its folder is gone
	case movedOn(m):
		return reply{Message: whereItIs(l, m)}, nil
	}
	return news(l)
}

// outlasts waits for the end of a loop that a runner has, as long as there is a
// runner.
func (h *hook) outlasts(ctx context.Context, l *store.Loop, m record.Memory) (_ record.Memory, err error) {
	driven := time.Now()
	for deadline := h.now.Add(endless); err == nil && movedOn(m) && time.Now().Before(deadline) && ctx.Err() == nil; {
		sleep(ctx, lookLate)
		if _, alive, holderErr := l.Holder(); alive || holderErr != nil {
			driven = time.Now()
		} else if time.Since(driven) > deadDrive {
			break
		}
		m, _, err = elsewhere(l)
	}
	return m, err
}

// departs says where the loop went, once.
func (h *hook) departs(ctx context.Context, b session.Binding, m record.Memory) (reply, error) {
	first := false
	_, err := h.sessions.Change(ctx, b.Session, func(now *session.Binding) bool {
		first = now.Loop == b.Loop && now.Epoch == b.Epoch && !now.Gone
		now.Gone = now.Gone || first
		return first
	})
	if err != nil || !first {
		return reply{}, err
	}
	text := whereItIs(store.Open(h.Env.PawlHome).Loop(b.Loop), m)
	return reply{Message: fmt.Sprintf("%s. Bring it back: ! pawl start --take %s", text, b.Loop)}, nil
}

// whereItIs says that a runner has the loop, or that nobody does.
func whereItIs(l *store.Loop, m record.Memory) string {
	if _, alive, err := l.Holder(); err == nil && !alive {
		return fmt.Sprintf("%s left for fresh sessions, but nobody drives it: pawl resume %[1]s goes on with it", l.ID)
	}
	why := ""
	if m.State.HandWhy != "" {
		why = ", since " + m.State.HandWhy
	}
	return fmt.Sprintf("%s goes on in fresh sessions%s. Watch it: pawl status %[1]s, pawl log %[1]s --follow", l.ID, why)
}

// afterwards answers an event of a session that a loop has left: at the person's
// next word they are told of the end, if that has come.
func (h *hook) afterwards(ctx context.Context, b session.Binding) (reply, error) {
	l := store.Open(h.Env.PawlHome).Loop(b.Loop)
	m, _, err := elsewhere(l)
	switch h.p.Event {
	case stop, userPromptSubmit, sessionStart:
		if err == nil && movedOn(m) {
			return h.reminder(l, m), nil
		}
	case sessionEnd:
	default:
		return reply{}, nil
	}
	released, forgetErr := h.sessions.Forget(ctx, b)
	if !released || err != nil || h.p.Event == sessionEnd { // its folder is gone: there is nothing to tell
		return reply{}, forgetErr
	}
	return news(l)
}

// reminder says where the loop is, to a session that is taken up again.
func (h *hook) reminder(l *store.Loop, m record.Memory) reply {
	if h.p.Event != sessionStart {
		return reply{}
	}
	return reply{Message: fmt.Sprintf("%s. Bring it back: ! pawl start --take %s", whereItIs(l, m), l.ID)}
}

// news is how a loop stands that has left the session, for the person.
func news(l *store.Loop) (reply, error) {
	m, spec, err := elsewhere(l)
	if err != nil {
		return reply{}, err
	}
	if m.State.Phase == loop.Ended {
		return reply{Message: ending(&seat{loop: l, mem: m, spec: spec})}, nil
	}
	return reply{Message: fmt.Sprintf("%s lives in another session now; pawl status %[1]s shows it", l.ID)}, nil
}
