package record_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/record"
)

// The machine's clock is set while five minutes pass, and an owner told a time before.
func TestClockSurvivesClockChanges(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		before, set time.Duration // what an owner told, and the clock is set by, against the right time
		want        time.Duration // that passes
		resets      time.Duration // a usage limit that resets in an hour: when by the loop's time
	}{
		"nobody sets it":                           {0, 0, 5 * time.Minute, 65 * time.Minute},
		"set back":                                 {0, -time.Hour, 5 * time.Minute, 2*time.Hour + 5*time.Minute}, // which clock is right cannot be told: the machine's counts
		"set ahead":                                {0, time.Hour, 65 * time.Minute, 65 * time.Minute},
		"an owner was before, when it was ahead":   {24 * time.Hour, 0, 24*time.Hour + 5*time.Minute, 25*time.Hour + 5*time.Minute},
		"an owner was before, and died long ago":   {-time.Hour, 0, 5 * time.Minute, 65 * time.Minute},
		"ahead, and set ahead further":             {time.Hour, 2 * time.Hour, 2*time.Hour + 5*time.Minute, 65 * time.Minute},
		"an owner was before it, and it goes back": {time.Minute, -time.Hour, 6 * time.Minute, 2*time.Hour + 6*time.Minute},
	} {
		synctest.Test(t, func(t *testing.T) {
			began, set := time.Now().Round(0), time.Duration(0)
			c := record.Clock{Machine: func() time.Time { return time.Now().Add(set) }}
			c.AdvanceTo(began.Add(tt.before))
			c.Now()
			set = tt.set
			time.Sleep(5 * time.Minute)
			e := c.Stamp(loop.Event{Payload: loop.AgentFailed{Failure: loop.Failure{Until: time.Now().Round(0).Add(time.Hour)}}})
			if got := e.At.Sub(began); got != tt.want {
				t.Errorf("%s: after %s, want %s", name, got, tt.want)
			}
			if got := e.Payload.(loop.AgentFailed).Failure.Until.Sub(began); got != tt.resets {
				t.Errorf("%s: resets after %s, want %s", name, got, tt.resets)
			}
			if c.AdvanceTo(began); c.Now().Before(e.At) {
				t.Errorf("%s: time goes back to what was told before", name)
			}
		})
	}
}
