package claude

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/plan"
)

const (
	// retriesLeft is how often the client may retry a failure that may be temporary (a dropped
	// stream, one 500) before the turn is given up: about four seconds.
	retriesLeft = 3
	// longRetry is a delay that only a limit's reset needs.
	longRetry = 10 * time.Second
)

const (
	loginHint    = "log in with `claude /login`, or set ANTHROPIC_API_KEY"
	billingHint  = "add credit at https://platform.claude.com/settings/billing, or use another login"
	networkHint  = "check the network and ANTHROPIC_BASE_URL"
	notFoundHint = "name another model with --model"
)

// requestError is what the client reports about a failed request, in fields.
type requestError struct {
	kind   string // the client's word: authentication_failed, rate_limit, …
	status int    // HTTP status, 0 = no answer
	text   string
	until  time.Time
}

// failure maps the client's word, or else the HTTP status, to a class.
func (t requestError) failure() *loop.Failure {
	class, hint := t.class()
	message := plan.OneLine(t.text, maxMessage)
	if message == "" {
		message = t.describe()
	}
	f := &loop.Failure{Class: class, Message: message, Hint: hint, Status: t.status}
	if class == loop.UsageLimit {
		f.Until = t.until
	}
	return f
}

func (t requestError) class() (loop.Class, string) {
	switch t.kind {
	case "authentication_failed", "oauth_org_not_allowed", "verification_required", "cloud_credential_error":
		return loop.Login, loginHint
	case "billing_error", "account_on_hold":
		return loop.Billing, billingHint
	case "rate_limit":
		return loop.UsageLimit, ""
	case "overloaded":
		return loop.Overloaded, ""
	case "model_not_found":
		return loop.Crashed, notFoundHint
	}
	switch {
	case t.status == http.StatusUnauthorized || t.status == http.StatusForbidden:
		return loop.Login, loginHint
	case t.status == http.StatusPaymentRequired:
		return loop.Billing, billingHint
	case t.status == http.StatusTooManyRequests:
		return loop.UsageLimit, ""
	case t.status >= http.StatusInternalServerError:
		return loop.Overloaded, ""
	case t.status == 0 && (t.kind == "unknown" || t.kind == "server_error"):
		return loop.Network, networkHint
	}
	return loop.Crashed, ""
}

// describe returns a text for a retry, which comes without one.
func (t requestError) describe() string {
	what := strings.ReplaceAll(t.kind, "_", " ")
	switch {
	case t.status != 0 && what != "":
		return fmt.Sprintf("the API answers %d (%s)", t.status, what)
	case t.status != 0:
		return fmt.Sprintf("the API answers %d", t.status)
	case what == "unknown" || what == "":
		return "the API cannot be reached"
	}
	return what
}

// retryFailure returns the failure in a retry notice, and whether to give up at once.
func retryFailure(l line, now time.Time) (f *loop.Failure, giveUp bool) {
	delay := time.Duration(l.RetryDelayMS) * time.Millisecond
	t := requestError{kind: l.Error, status: l.ErrorStatus}
	if delay >= longRetry {
		t.until = now.Add(delay)
	}
	f = t.failure()
	switch f.Class {
	case loop.Login, loop.Billing:
		return f, true
	case loop.UsageLimit:
		return f, !f.Until.IsZero() || l.Attempt > retriesLeft
	}
	return f, l.Attempt > retriesLeft
}

// resultFailure returns the failure in a result line, nil for a turn that ended normally. last is the
// trouble that the client reported just before, in an assistant line.
func resultFailure(l line, last requestError) *loop.Failure {
	if !l.IsError || l.TerminalReason == "max_turns" {
		return nil
	}
	text := l.Result
	if text == "" && len(l.Errors) > 0 {
		text = l.Errors[len(l.Errors)-1]
	}
	if l.StopReason == "refusal" {
		return &loop.Failure{Class: loop.Refused, Message: plan.OneLine(text, maxMessage)}
	}
	switch l.TerminalReason {
	case "budget_exhausted":
		return &loop.Failure{Class: loop.OverBudget, Message: plan.OneLine(text, maxMessage)}
	case "aborted_streaming", "aborted_tools":
		return &loop.Failure{Class: loop.Interrupted, Message: "the turn was interrupted"}
	case "api_error", "blocking_limit", "model_error", "turn_setup_failed":
		t := requestError{kind: last.kind, status: l.APIErrorStatus, text: text, until: last.until}
		// A session limit ends a turn as a "blocking limit", a full context too:
		// only the first came with a rejection.
		if l.TerminalReason == "blocking_limit" && !last.until.IsZero() {
			t.kind = "rate_limit"
		}
		f := t.failure()
		if f.Class == loop.UsageLimit && f.Until.IsZero() {
			f.Until, _ = resetTime(text, time.Now())
		}
		return f
	}
	return &loop.Failure{Class: loop.Crashed, Message: plan.OneLine(text, maxMessage)}
}
