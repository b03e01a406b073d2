package claude

import (
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/core/loop"
)

func TestErrorsOfTheClientAreClassified(t *testing.T) {
	t.Parallel()
	cases := []struct {
		kind    string
		status  int
		want    loop.Class
		message string
	}{
		{"authentication_failed", 401, loop.Login, "the API answers 401 (authentication failed)"},
		{"oauth_org_not_allowed", 403, loop.Login, "the API answers 403 (oauth org not allowed)"},
		{"verification_required", 0, loop.Login, "verification required"},
		{"cloud_credential_error", 0, loop.Login, "cloud credential error"},
		{"billing_error", 400, loop.Billing, "the API answers 400 (billing error)"},
		{"account_on_hold", 403, loop.Billing, "the API answers 403 (account on hold)"},
		{"rate_limit", 429, loop.UsageLimit, "the API answers 429 (rate limit)"},
		{"overloaded", 529, loop.Overloaded, "the API answers 529 (overloaded)"},
		{"server_error", 500, loop.Overloaded, "the API answers 500 (server error)"},
		{"server_error", 0, loop.Network, "server error"},
		{"unknown", 0, loop.Network, "the API cannot be reached"},
		{"model_not_found", 404, loop.Crashed, "the API answers 404 (model not found)"},
		{"invalid_request", 400, loop.Crashed, "the API answers 400 (invalid request)"},
		{"max_output_tokens", 0, loop.Crashed, "max output tokens"},
		{"a word of next year", 401, loop.Login, "the API answers 401 (a word of next year)"},
		{"", 403, loop.Login, "the API answers 403"},
		{"", 402, loop.Billing, "the API answers 402"},
		{"", 429, loop.UsageLimit, "the API answers 429"},
		{"", 503, loop.Overloaded, "the API answers 503"},
	}
	for _, c := range cases {
		f := requestError{kind: c.kind, status: c.status}.failure()
		if f.Class != c.want || f.Message != c.message || f.Status != c.status {
			t.Errorf("%q %d = %s %q, want %s %q", c.kind, c.status, f.Class, f.Message, c.want, c.message)
		}
	}
}

func TestHopelessRetriesAreGivenUp(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_000_000, 0)
	cases := []struct {
		name   string
		l      line
		want   loop.Class
		until  time.Time
		giveUp bool
	}{
		{"login, at once", line{Attempt: 1, ErrorStatus: 401, Error: "authentication_failed"}, loop.Login, time.Time{}, true},
		{"no credit, at once", line{Attempt: 1, ErrorStatus: 400, Error: "billing_error"}, loop.Billing, time.Time{}, true},
		{"a limit with its reset, at once", line{Attempt: 1, ErrorStatus: 429, Error: "rate_limit", RetryDelayMS: 3_600_000}, loop.UsageLimit, now.Add(time.Hour), true},
		{"a short limit is waited out by the client", line{Attempt: 3, ErrorStatus: 429, Error: "rate_limit", RetryDelayMS: 2_000}, loop.UsageLimit, time.Time{}, false},
		{"but not for ever", line{Attempt: 4, ErrorStatus: 429, Error: "rate_limit", RetryDelayMS: 2_000}, loop.UsageLimit, time.Time{}, true},
		{"overloaded, a while", line{Attempt: 3, ErrorStatus: 529, Error: "overloaded"}, loop.Overloaded, time.Time{}, false},
		{"overloaded, too long", line{Attempt: 4, ErrorStatus: 529, Error: "overloaded"}, loop.Overloaded, time.Time{}, true},
		{"a dropped stream", line{Attempt: 1, Error: "unknown"}, loop.Network, time.Time{}, false},
	}
	for _, c := range cases {
		f, giveUp := retryFailure(c.l, now)
		if f.Class != c.want || !f.Until.Equal(c.until) || giveUp != c.giveUp {
			t.Errorf("%s: %s until %v, give up %v", c.name, f.Class, f.Until, giveUp)
		}
	}
}
