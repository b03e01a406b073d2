package term

import (
	"testing"
	"time"
)

// Work that passed a review has no mark of a failure. Unproven work has another mark than proven
// work.
func TestMarkOfATask(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		result string
		review bool
		want   span
	}{
		{"proven", false, span{green, " ✓ "}},
		{"reviewed", false, span{green, " ✓ "}},
		{"unproven", false, span{green, " ✓ "}},
		{"unproven", true, span{yellow, " ? "}},
		{"unknown", true, span{yellow, " ? "}},
		{"stuck", false, span{red, " ✗ "}},
	} {
		if got := taskEnded(TaskEnded{Title: "Tidy", Result: c.result, Review: c.review})[0]; got != c.want {
			t.Errorf("%s: got %+v, want %+v", c.result, got, c.want)
		}
	}
}

// A wait past midnight shows the date.
func TestTimeOfAnotherDay(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 29, 21, 57, 0, 0, time.UTC)
	for wait, want := range map[time.Duration]string{time.Hour: "22:57", 24 * time.Hour: "Mon 30 Nov 21:57"} {
		if got := timeOrDay(now.Add(wait), now); got != want {
			t.Errorf("%v: %s", wait, got)
		}
	}
}
