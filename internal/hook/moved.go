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

// replyLoopMoved answers for a loop that now runs elsewhere. The binding stays while a
// runner has the loop, so that the user is told when it ends. An unattended session waits
// for the end instead, since nobody else would watch the loop.
func (h *handler) replyLoopMoved(ctx context.Context, b session.Binding, cause error) (reply, error) {
	l := store.Open(h.Env.PawlHome).Loop(b.Loop)
	m, _, err := readLoop(l)
	if b.Unattended && err == nil {
		m, err = h.waitForEnd(ctx, l, m)
	}
	if err == nil && hasMoved(m) && !b.Unattended {
		return h.announceMove(ctx, b, m)
	}
	released, releaseErr := h.bindings.ReleaseLost(ctx, b)
	switch {
	case releaseErr != nil:
		return reply{}, releaseErr
	case !released && !b.Unattended: // another hook has reported it
		return reply{}, nil
	case err != nil:
		return reply{Message: fmt.Sprintf("pawl: %s: %v", b.Loop, cause)}, nil //nolint:nilerr // the cause says more: its folder is gone
	case hasMoved(m):
		return reply{Message: locationText(l, m)}, nil
	}
	return stateReply(l)
}

// waitForEnd waits until a loop that a runner owns has ended, for as long as that runner
// lives.
func (h *handler) waitForEnd(ctx context.Context, l *store.Loop, m record.Memory) (_ record.Memory, err error) {
	driven := time.Now()
	for deadline := h.now.Add(unattendedTimeout); err == nil && hasMoved(m) && time.Now().Before(deadline) && ctx.Err() == nil; {
		sleep(ctx, slowPollInterval)
		if _, alive, holderErr := l.Holder(); alive || holderErr != nil {
			driven = time.Now()
		} else if time.Since(driven) > driverTimeout {
			break
		}
		m, _, err = readLoop(l)
	}
	return m, err
}

// announceMove says once where the loop went.
func (h *handler) announceMove(ctx context.Context, b session.Binding, m record.Memory) (reply, error) {
	first := false
	_, err := h.bindings.Change(ctx, b.Session, func(now *session.Binding) bool {
		first = now.Loop == b.Loop && now.Epoch == b.Epoch && !now.Moved
		now.Moved = now.Moved || first
		return first
	})
	if err != nil || !first {
		return reply{}, err
	}
	text := locationText(store.Open(h.Env.PawlHome).Loop(b.Loop), m)
	return reply{Message: fmt.Sprintf("%s. Bring it back: ! pawl start --take %s", text, b.Loop)}, nil
}

// locationText says whether a runner has the loop, or nobody.
func locationText(l *store.Loop, m record.Memory) string {
	if _, alive, err := l.Holder(); err == nil && !alive {
		return fmt.Sprintf("%s left for fresh sessions, but is not running: pawl resume %[1]s continues it", l.ID)
	}
	why := ""
	if m.State.HandWhy != "" {
		why = ", since " + m.State.HandWhy
	}
	return fmt.Sprintf("%s continues in fresh sessions%s. Watch it: pawl status %[1]s, pawl log %[1]s --follow", l.ID, why)
}

// replyAfterMove answers an event of a session that its loop has left. At the user's next
// prompt it reports the loop's end, if it has ended.
func (h *handler) replyAfterMove(ctx context.Context, b session.Binding) (reply, error) {
	l := store.Open(h.Env.PawlHome).Loop(b.Loop)
	m, _, err := readLoop(l)
	switch h.p.Event {
	case stop, userPromptSubmit, sessionStart:
		if err == nil && hasMoved(m) {
			return h.moveReminder(l, m), nil
		}
	case sessionEnd:
	default:
		return reply{}, nil
	}
	released, forgetErr := h.bindings.ReleaseLost(ctx, b)
	if !released || err != nil || h.p.Event == sessionEnd { // an error: the loop's folder is gone
		return reply{}, forgetErr
	}
	return stateReply(l)
}

// moveReminder says where the loop is when the session is resumed.
func (h *handler) moveReminder(l *store.Loop, m record.Memory) reply {
	if h.p.Event != sessionStart {
		return reply{}
	}
	return reply{Message: fmt.Sprintf("%s. Bring it back: ! pawl start --take %s", locationText(l, m), l.ID)}
}

// stateReply tells the user the state of a loop that has left the session.
func stateReply(l *store.Loop) (reply, error) {
	m, spec, err := readLoop(l)
	if err != nil {
		return reply{}, err
	}
	if m.State.Phase == loop.Ended {
		return reply{Message: endSummary(&lease{loop: l, mem: m, spec: spec})}, nil
	}
	return reply{Message: fmt.Sprintf("%s lives in another session now; pawl status %[1]s shows it", l.ID)}, nil
}
