package verifyactive_test

import (
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/foreign/freshness"
	"github.com/pawl-dev/pawl/internal/foreign/verifyactive"
)

// TestAdoptChecksTheFile has a case for each row of the table "Whose file it is" in
// docs/reference/verify-loop.md, by the row's name.
func TestAdoptChecksTheFile(t *testing.T) {
	t.Parallel()
	began := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	now := began.Add(3 * time.Hour)
	const old = "is too old to start by itself; to start it:  BEGIN"
	tests := []struct {
		name string
		in   freshness.FileContext
		max  int
		want string
	}{
		{"written in this session", freshness.FileContext{Modified: began.Add(time.Minute)}, 5, ""},
		{"written by a script that then started the client", freshness.FileContext{Modified: began.Add(-time.Minute)}, 5, ""},
		{"older than the session", freshness.FileContext{Modified: began.Add(-time.Minute - 1)}, 5, old},
		{"session of unknown age", freshness.FileContext{SessionStarted: time.Unix(0, 0), Modified: now.Add(-2 * time.Hour)}, 5, old},
		{"session of unknown age, fresh", freshness.FileContext{SessionStarted: time.Unix(0, 0), Modified: now.Add(-50 * time.Minute)}, 5, ""},
		{"future", freshness.FileContext{Modified: now.Add(time.Hour)}, 5, "has a time that lies in the future"},
		{"its own hook is there", freshness.FileContext{Modified: now, Followed: true}, 5, "is left to the Stop hook of claude-prompts, which is in effect: disable that plugin or hook to have pawl follow it"},
		{"used up", freshness.FileContext{Modified: now}, 3, "says that all of its 3 iterations are used up"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := tt.in
			c.Now, c.StartCommand = now, "BEGIN"
			switch {
			case c.SessionStarted.IsZero():
				c.SessionStarted = began
			case c.SessionStarted.Unix() == 0:
				c.SessionStarted = time.Time{}
			}
			if got := verifyactive.WhyNotFollow(&verifyactive.File{Iteration: 3, MaxIterations: tt.max}, c); got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}
