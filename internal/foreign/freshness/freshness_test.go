package freshness_test

import (
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/foreign/freshness"
)

func TestFilesOfThisSessionAreFresh(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 31, 14, 0, 0, 0, time.UTC)
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	tests := []struct {
		name              string
		modified, started time.Time
		stale, future     bool
	}{
		{"written in the session", ago(time.Hour), ago(2 * time.Hour), false, false},
		{"by a script that then started the client", ago(2 * time.Minute), ago(time.Minute), false, false},
		{"older", ago(2*time.Minute + 1), ago(time.Minute), true, false},
		{"an hour, session not known", ago(time.Hour), time.Time{}, false, false},
		{"more than an hour, session not known", ago(time.Hour + 1), time.Time{}, true, false},
		{"time not known", time.Time{}, time.Time{}, true, false},
		{"a clock that is ahead", ago(-2 * time.Minute), time.Time{}, false, false},
		{"the future", ago(-2*time.Minute - 1), time.Time{}, false, true},
	}
	for _, tt := range tests {
		if stale, future := freshness.IsStale(tt.modified, tt.started, now), freshness.IsInFuture(tt.modified, now); stale != tt.stale || future != tt.future {
			t.Errorf("%s: stale %v, future %v", tt.name, stale, future)
		}
	}
}
