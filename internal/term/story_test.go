package term

import "testing"

// Work that a review passed carries no mark of a failure, and what nothing proves is not
// marked as what is.
func TestTheMarkOfATask(t *testing.T) {
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
