package cli

import (
	"testing"

	"github.com/pawl-dev/pawl/internal/failure"
)

// A user who rejects the suggested gate is asked for another. Without an answer, nothing begins.
func TestRejectedGateSuggestionAsksForAnother(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		answers []string
		want    string
		stops   bool
	}{
		{"Enter", []string{""}, "go test ./...", false},
		{"yes", []string{"Y"}, "go test ./...", false},
		{"another", []string{"n", "make Test"}, "make Test", false},
		{"another at once", []string{"make Test"}, "make Test", false},
		{"none", []string{"no", "none"}, "", false},
		{"no answer", []string{"n", ""}, "", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			left := c.answers
			got, err := wantedGate("go test ./...", func(string) (string, error) {
				answer := left[0]
				left = left[1:]
				return answer, nil
			})
			if got != c.want || (err != nil) != c.stops || len(left) > 0 {
				t.Errorf("gate %q, error %v, %d answers left", got, err, len(left))
			}
			if err != nil && failure.CodeOf(err) != failure.Usage {
				t.Errorf("code %d", failure.CodeOf(err))
			}
		})
	}
}
