package term

import "testing"

// Work that a review passed carries no mark of a failure.
func TestTheMarkOfAReviewedTask(t *testing.T) {
	t.Parallel()
	if got := taskEnded(TaskEnded{Title: "Tidy", Result: "reviewed"})[0]; got.text != " ✓ " || got.style != green {
		t.Errorf("got %+v", got)
	}
}
