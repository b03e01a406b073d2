package hook

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pawl-dev/pawl/internal/agent/claude/codec"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/session"
	"github.com/pawl-dev/pawl/internal/store"
)

// replyLoopMoved answers for a loop that a runner or another session has. The binding stays,
// so that the session is told of the end. An unattended session waits for the end, since
// nobody else watches the loop.
func (h *handler) replyLoopMoved(ctx context.Context, b session.Binding, cause error) (reply, error) {
	l := store.Open(h.Env.PawlHome).Loop(b.Loop)
	_, m, err := record.Read(l)
	if b.Unattended && err == nil {
		m, err = h.waitForEnd(ctx, l, m)
	}
	switch {
	case err != nil:
		released, releaseErr := h.bindings.ReleaseLost(ctx, b)
		if releaseErr != nil || !released && !b.Unattended { // another hook has reported it
			return reply{}, releaseErr
		}
		return reply{Message: fmt.Sprintf("pawl: %s: %v", b.Loop, cause)}, nil // the cause says more: its folder is gone
	case isOwnedByRunner(m):
		text := locationText(l, m)
		if !b.Unattended {
			text += ". Bring it back: ! pawl start --take " + b.Loop
		}
		return h.showMoveOnce(ctx, b, text, false)
	}
	return h.showEnd(ctx, b, l)
}

// waitForEnd waits until a loop that a runner owns has ended, for as long as that runner
// lives.
func (h *handler) waitForEnd(ctx context.Context, l *store.Loop, m memory.Memory) (_ memory.Memory, err error) {
	driven := time.Now()
	for deadline := h.now.Add(unattendedTimeout); err == nil && isOwnedByRunner(m) && time.Now().Before(deadline) && ctx.Err() == nil; {
		sleep(ctx, slowPollInterval)
		if _, alive, holderErr := l.Holder(); alive || holderErr != nil {
			driven = time.Now()
		} else if time.Since(driven) > driverTimeout {
			break
		}
		_, m, err = record.Read(l)
	}
	return m, err
}

// showEnd shows the user the state of a loop that no runner has any more. The agent is
// told at the next prompt: at a stop this would cost a turn.
func (h *handler) showEnd(ctx context.Context, b session.Binding, l *store.Loop) (reply, error) {
	text, err := stateText(l)
	if err != nil {
		return reply{}, err
	}
	return h.showMoveOnce(ctx, b, text, true)
}

// showMoveOnce shows the user once that another owner has the loop, and once that it has ended.
func (h *handler) showMoveOnce(ctx context.Context, b session.Binding, text string, end bool) (reply, error) {
	first := false
	_, err := h.bindings.Change(ctx, b.Session, func(now *session.Binding) bool {
		first = now.Loop == b.Loop && now.Epoch == b.Epoch && (!now.LoopMoved || end && !now.EndShown)
		now.LoopMoved, now.EndShown = now.LoopMoved || first, now.EndShown || first && end
		return first
	})
	if errors.Is(err, session.ErrNone) {
		err = nil
	}
	if !first && !b.Unattended { // another hook has reported it
		return reply{}, err
	}
	return reply{Message: text}, err
}

// locationText reports whether a runner drives the loop or it is not running.
func locationText(l *store.Loop, m memory.Memory) string {
	if _, alive, err := l.Holder(); err == nil && !alive {
		return fmt.Sprintf("%s was handed over to fresh sessions, but is not running: pawl resume %[1]s continues it", l.ID)
	}
	why := ""
	if m.State.Handover.Why != "" {
		why = ", since " + m.State.Handover.Why
	}
	return fmt.Sprintf("%s continues in fresh sessions%s. Watch it: pawl status %[1]s, pawl log %[1]s --follow", l.ID, why)
}

// replyAfterMove answers an event of a session that its loop has left. Once the loop has
// ended, the user is shown the end at the next stop or prompt, and the agent is told at
// the next prompt.
func (h *handler) replyAfterMove(ctx context.Context, b session.Binding) (reply, error) {
	l := store.Open(h.Env.PawlHome).Loop(b.Loop)
	_, m, err := record.Read(l)
	prompted := h.event.Event == codec.UserPromptSubmit || h.event.Event == codec.SessionStart
	switch {
	case err != nil: // the loop's folder is gone
	case prompted && isOwnedByRunner(m):
		return h.moveReminder(l, m), nil
	case h.event.Event == codec.Stop && !isOwnedByRunner(m):
		return h.showEnd(ctx, b, l)
	case h.event.Event == codec.SessionEnd && h.event.Reason == "clear": // the context that knows of the loop is gone
	case !prompted:
		return reply{}, nil
	}
	released, releaseErr := h.bindings.ReleaseLost(ctx, b)
	if !released || err != nil || !prompted {
		return reply{}, releaseErr
	}
	text, err := stateText(l)
	if err != nil {
		return reply{}, err
	}
	r := reply{Message: text, Context: "[Pawl] The loop that was in this session: " + text + "\n"}
	if b.EndShown {
		r.Message = ""
	}
	return r, nil
}

// moveReminder returns a reply that says where the loop is: to the agent, and on resume to the user.
func (h *handler) moveReminder(l *store.Loop, m memory.Memory) reply {
	text := locationText(l, m)
	r := reply{Context: fmt.Sprintf("[Pawl] %s. Do not work on it here: change its files only if the user asks.\n", text)}
	if h.event.Event == codec.SessionStart {
		r.Message = fmt.Sprintf("%s. Bring it back: ! pawl start --take %s", text, l.ID)
	}
	return r
}

// stateText says how a loop that has left this session ended, or that another session has it.
func stateText(l *store.Loop) (string, error) {
	spec, m, err := record.Read(l)
	if err != nil {
		return "", err
	}
	if m.State.Phase == loop.Ended {
		return endSummary(&lease{loop: l, mem: m, spec: spec}), nil
	}
	return fmt.Sprintf("%s now runs in another session: pawl status %[1]s", l.ID), nil
}
