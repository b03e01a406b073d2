package hook

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/proc"
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
	if h.closedHere(s) { // SessionEnd came first, and told of it
		return reply{}, s.owner.Close()
	}
	f := classed(h.p.Error, h.lastMessage())
	if !h.heard(s) {
		err = h.cutOff(s, b, f)
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

// cutOff tells the machine of a turn that an error of the API ended.
func (h *hook) cutOff(s *seat, b session.Binding, f loop.Failure) error {
	if f.Class == loop.UsageLimit {
		f.Until = h.limitEnds(s.mem.State.Limited, h.Env.Session.Unattended)
	}
	return s.step(loop.Event{Kind: loop.AgentFailed, ID: h.ID, Failure: &f, Turn: &loop.Turn{
		ToolCalls: toolCalls(s.loop, b.Tools), Context: -1, SessionID: h.p.Session, ByPerson: h.byPerson(b),
	}})
}

// errorAtEnd tells the machine of the error that ended claude -p, where its hook of
// StopFailure has not: the client starts that one and does not wait for it (in two of
// five runs of 2.1.328 SessionEnd came first). The transcript names the same class.
func (h *hook) errorAtEnd(s *seat, b session.Binding) error {
	if !h.Env.Session.Unattended || s.mem.State.Phase != loop.Turning {
		return nil
	}
	var class, message string
	h.behind(func() string {
		class, message = h.lastError(proc.Began(h.client()))
		return class
	})
	if class == "" {
		return nil
	}
	return h.cutOff(s, b, classed(class, message))
}

// closedHere tells whether the loop's session was closed by the very process that this
// event comes from.
func (h *hook) closedHere(s *seat) bool {
	return s.mem.Bound.Closed && s.mem.Bound.Session == h.p.Session && s.mem.Bound.Client == h.client()
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
