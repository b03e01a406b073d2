package term

import "testing"

// Goals that do not change the tree end with other words.
func TestEndsOfOtherKinds(t *testing.T) {
	t.Parallel()
	for kind, want := range map[string]string{
		"": "when the goal is reached, or after 2 iterations", "answer": "with the answer, or after 2 iterations",
		"explore": "when you stop it, or after 2 iterations", "periodic": "when you stop it, or after 2 iterations",
	} {
		if got := endText(LoopStarted{Kind: kind, MaxIterations: 2}); got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", kind, got, want)
		}
	}
}
