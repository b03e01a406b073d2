package featureloop_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/foreign/featureloop"
)

func TestMessageTexts(t *testing.T) {
	t.Parallel()
	var many []string
	for i := range 200 {
		many = append(many, strconv.Itoa(i+1))
	}
	tests := []struct{ name, got, want string }{
		{"an iteration", featureloop.IterationMessage(4, 15, "2", "Two\nof them"), "Ralph Loop iteration 4/15 | NEXT FEATURE (ID 2): Two of them"},
		{"without a limit", featureloop.IterationMessage(4, 0, "auth-1", "Two"), "Ralph Loop iteration 4 | NEXT FEATURE (ID auth-1): Two"},
		{"without a feature", featureloop.IterationMessage(4, 5, "", ""), "Ralph Loop iteration 4/5"},
		{"verified", featureloop.VerifiedMessage(3), "All 3 features verified. Loop complete."},
		{"the limit", featureloop.LimitReachedMessage(5, []string{"2", "auth-1"}), "Max iterations (5) reached. 2 features remaining. remaining_features: 2, auth-1"},
		{"the limit, and nothing left", featureloop.LimitReachedMessage(5, nil), "Max iterations (5) reached. 0 features remaining."},
		{"the limit of a long list", featureloop.LimitReachedMessage(5, many), "Max iterations (5) reached. 200 features remaining. remaining_features: " + strings.Join(many[:30], ", ") + " and 170 more"},
	}
	for _, tt := range tests {
		if tt.got != tt.want {
			t.Errorf("%s:\ngot  %s\nwant %s", tt.name, tt.got, tt.want)
		}
	}
}

// Each outcome has a status, and a loop with it is not begun again by itself.
func TestEachOutcomeHasAStatus(t *testing.T) {
	t.Parallel()
	want := map[loop.Outcome]string{
		"": "IN_PROGRESS", loop.Verified: "COMPLETE", loop.Finished: "COMPLETE", loop.Unverified: "UNVERIFIED",
		loop.Iterations: "REACHED_LIMIT", loop.Duration: "REACHED_LIMIT", loop.Budget: "REACHED_LIMIT", loop.Stuck: "STUCK",
		loop.BlockedEnd: "BLOCKED", loop.CancelledEnd: "CANCELLED", loop.Errored: "ERROR", loop.Tampered: "TAMPERED",
	}
	for _, o := range append(loop.Outcomes(), "") {
		got := featureloop.StatusOf(o)
		if got != want[o] {
			t.Errorf("%q: %s, want %s", o, got, want[o])
		}
		if p := featureloop.New(featureloop.Values{Status: got}); p.Ended() != (o != "") {
			t.Errorf("%s: ended is %v", got, p.Ended())
		}
	}
}
