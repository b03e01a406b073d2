package failure_test

import (
	"testing"

	"github.com/pawl-dev/pawl/internal/failure"
)

func TestNearestWordIsSuggested(t *testing.T) {
	t.Parallel()
	names := []string{"list", "log", "plan", "stop", "status", "max-iterations", "max-duration", "turn-timeout", "plan.md", "TODO.md"}
	for written, want := range map[string]string{
		"lst": "list", "stat": "status", "max_iteration": "max-iterations", "MAX-DURATION": "max-duration", "iterations": "max-iterations",
		"timeout": "turn-timeout", "plna.md": "plan.md", "todo.md": "TODO.md", "foo": "", "clean": "", "x": "", "": "",
	} {
		if got := failure.Nearest(written, names); got != want {
			t.Errorf("nearest to %q: %q, want %q", written, got, want)
		}
	}
}
