package hook

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pawl-dev/pawl/internal/agent/claude/codec"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/proc"
	"github.com/pawl-dev/pawl/internal/session"
	"github.com/pawl-dev/pawl/internal/store"
)

// answerStopFailure answers the end of a turn that an API error cut off. The client
// accepts no answer to this event but a terminal sequence. The waker, which started with
// this hook, wakes the session when it may continue.
func (h *handler) answerStopFailure(ctx context.Context, b session.Binding) (reply, error) {
	s, err := h.acquire(ctx, b)
	if store.IsHeld(err) || errors.Is(err, errNotOwner) {
		return reply{}, nil
	}
	if err != nil {
		return reply{}, err
	}
	if h.isClosedByClient(s) { // SessionEnd came first, and told of it
		return reply{}, s.owner.Close()
	}
	f := codec.Failure(h.event.Error, h.event.Answer())
	if !h.alreadyReceived(s) {
		err = h.recordFailure(s, b, f)
	}
	if err != nil {
		return reply{}, errors.Join(err, s.owner.Close())
	}
	if err := s.release(); err != nil {
		return reply{}, err
	}
	text := b.Loop + ": " + f.Message
	if s.mem.State.Phase == loop.Waiting {
		text = b.Loop + ": " + waitText(s.mem.State)
	}
	r, err := h.letSessionEnd(ctx, b, text)
	r.TerminalSequence = fmt.Sprintf("\x1b]9;%s\x07", plan.OneLine(text, 0)) // a notification, where the terminal knows them
	return r, err
}

// recordFailure passes an API error that ended a turn to the state machine.
func (h *handler) recordFailure(s *lease, b session.Binding, f loop.Failure) error {
	if f.Class == loop.UsageLimit {
		f.Until = h.usageLimitEnd(s.mem.State.Trouble.UsageLimits, h.Env.Session.Unattended)
	}
	calls, _ := turnCalls(s.loop, b.ToolsSize)
	return s.step(loop.Event{ID: h.ID, Payload: loop.AgentFailed{Failure: f, Turn: &loop.Turn{
		ToolCalls: calls, ContextPercent: -1, SessionID: h.event.Session, ByUser: h.isUserTurn(b),
	}}})
}

// recordFailureAtEnd records the API error that ended claude -p if the StopFailure hook
// did not. The client starts that hook and does not wait for it (in two of five runs of
// 2.1.332 SessionEnd came first). The transcript names the same error class.
func (h *handler) recordFailureAtEnd(s *lease, b session.Binding) error {
	if !h.Env.Session.Unattended || s.mem.State.Phase != loop.Turning {
		return nil
	}
	var class, message string
	h.pollTranscript(func() string {
		class, message = h.event.LastError(proc.StartTime(h.client()))
		return class
	})
	if class == "" {
		return nil
	}
	return h.recordFailure(s, b, codec.Failure(class, message))
}

// isClosedByClient reports whether this client process has already closed the loop's
// session.
func (h *handler) isClosedByClient(s *lease) bool {
	return s.mem.Bound.Closed && s.mem.Bound.Session == h.event.Session && s.mem.Bound.Client == h.client()
}

const (
	maxUsageLimitWait = 8 * 24 * time.Hour // of any usage limit: a week, and clock differences
	clientResumeTime  = 2 * time.Minute    // after the reset, in which the client may resume by itself: it takes 30 to 90 s
	clientRetryTime   = 6 * time.Minute    // after a turn that met the limit again: the client waits one minute, then five
)

// usageLimitEnd returns when to wake the session after a usage limit, or zero if the
// transcript names no reset time. The client gets time to resume by itself first, so that
// only one of the two does; claude -p never does (alone). limited counts consecutive
// usage limits.
func (h *handler) usageLimitEnd(consecutiveLimits int, unattended bool) time.Time {
	var reset time.Time
	h.pollTranscript(func() string {
		reset = h.event.LimitReset()
		if reset.IsZero() {
			return ""
		}
		return "known"
	})
	if reset.IsZero() || reset.After(h.now.Add(maxUsageLimitWait)) {
		return time.Time{}
	}
	if unattended {
		return reset
	}
	until := reset.Add(clientResumeTime)
	if reset.Before(h.now) {
		until = h.now.Add(clientResumeTime)
	}
	if earliest := h.now.Add(clientRetryTime); consecutiveLimits > 0 && until.Before(earliest) {
		return earliest
	}
	return until
}
