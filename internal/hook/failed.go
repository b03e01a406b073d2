package hook

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/session"
)

// failed answers the end of a turn that an error of the API cut off. The client
// takes no answer to this event but a sequence for the terminal; the waker, which
// was started with us, wakes the session when it is time.
func (h *hook) failed(ctx context.Context, b session.Binding) (reply, error) {
	s, err := h.sit(ctx, b)
	if busy(err) || errors.Is(err, errGone) {
		return reply{}, nil
	}
	if err != nil {
		return reply{}, err
	}
	f := classed(h.p.Error, h.lastMessage())
	if f.Class == loop.UsageLimit {
		f.Until = h.limitEnds(s.mem.State.Limited, h.Env.Session.Unattended)
	}
	if !h.heard(s) {
		err = s.step(loop.Event{Kind: loop.AgentFailed, ID: h.ID, Failure: &f, Turn: &loop.Turn{
			ToolCalls: toolCalls(s.loop, b.Tools), Context: -1, SessionID: h.p.Session, ByPerson: h.byPerson(b),
		}})
	}
	if err != nil {
		return reply{}, errors.Join(err, s.owner.Close())
	}
	if err := s.rise(); err != nil {
		return reply{}, err
	}
	text := b.Loop + ": " + f.Message
	if s.mem.State.Phase == loop.Waiting {
		text = b.Loop + ": " + waits(s.mem.State)
	}
	r, err := h.leave(ctx, b, text)
	r.Sound = fmt.Sprintf("\x1b]9;%s\x07", oneLine(text)) // a notification, where the terminal knows them
	return r, err
}

const (
	limitLongest = 8 * 24 * time.Hour // of any usage limit: a week, and clocks that differ
	ownStart     = 2 * time.Minute    // after the reset, in which the client continues by itself: 30 to 90 s, if at all
	ownRestart   = 6 * time.Minute    // after a turn that met the limit again: it waits one minute, then five
)

// limitEnds is when the session is to be woken after a usage limit, zero where the
// transcript names no reset. A client that continues by itself comes first, so
// that only one of the two does; with -p none does (alone). limited counts the limits
// met one after another.
func (h *hook) limitEnds(limited int, alone bool) time.Time {
	var reset time.Time
	h.behind(func() string {
		reset = h.limitReset()
		if reset.IsZero() {
			return ""
		}
		return "known"
	})
	if reset.IsZero() || reset.After(h.now.Add(limitLongest)) {
		return time.Time{}
	}
	if alone {
		return reset
	}
	until := reset.Add(ownStart)
	if again := h.now.Add(ownRestart); limited > 0 && until.Before(again) {
		return again
	}
	return until
}

// classed sorts the client's class of an error into the machine's. Only the
// class is read, never the text.
func classed(class, message string) loop.Failure {
	f := loop.Failure{Class: loop.Network, Message: cut(oneLine(message), 300)}
	switch class {
	case "rate_limit":
		f.Class = loop.UsageLimit
	case "overloaded":
		f.Class = loop.Overloaded
	case "authentication_failed", "oauth_org_not_allowed", "account_on_hold", "verification_required", "cloud_credential_error":
		f.Class, f.Hint = loop.Login, "log in (/login), then say anything to go on"
	case "billing_error":
		f.Class, f.Hint = loop.Billing, "see to the account's credit, then say anything to go on"
	case "invalid_request", "model_not_found":
		f.Class, f.Hint = loop.Refused, "read the error; /model and /compact may help"
	case "max_output_tokens":
		f.Class = loop.Crashed
	}
	if f.Message == "" {
		f.Message = class
	}
	return f
}
