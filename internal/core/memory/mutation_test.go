package memory_test

import (
	"testing"

	"github.com/pawl-dev/pawl/internal/core/memory"
)

// The numbers of a line add up: each changed function is tested, named, or not tried.
func TestMutationResultAddsUp(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		result memory.MutationResult
		want   string
	}{
		{memory.MutationResult{Tasks: []string{"2"}, Functions: 3, Tried: 3, Detected: 2, Undetected: []string{"Mul (a.go:5)"}}, "task 2: 2 of 3 changed functions are tested: not Mul (a.go:5)"},
		{memory.MutationResult{Tasks: []string{"goal"}, Functions: 1, Tried: 1, Detected: 1}, "the one changed function is tested"},
		{memory.MutationResult{Tasks: []string{"goal"}, Functions: 2, Tried: 1, Detected: 1, Untried: []string{"Mul"}}, "1 of 2 changed functions are tested; 1 not tried: Mul"},
		{memory.MutationResult{Tasks: []string{"goal"}, Functions: 2, Untried: []string{"Add", "Mul"}}, "no changed function was tried; 2 not tried: Add, Mul"},
	} {
		if got := c.result.String(); got != c.want {
			t.Errorf("%q, not %q", got, c.want)
		}
	}
}
