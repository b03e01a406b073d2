package term

import "testing"

// Work that a review passed carries no mark of a failure, and what nothing proves is not
// marked as what is.
func TestTheMarkOfATask(t *testing.T) {
	t.Parallel()
	for result, want := range map[string]span{
		"proven": {green, " ✓ "}, "reviewed": {green, " ✓ "}, "unproven": {yellow, " ✓ "}, "unknown": {yellow, " ? "}, "stuck": {red, " ✗ "},
	} {
		if got := taskEnded(TaskEnded{Title: "Tidy", Result: result})[0]; got != want {
			t.Errorf("%s: got %+v, want %+v", result, got, want)
		}
	}
}
