package narrate_test

import (
	"testing"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/narrate"
)

// Work that the user accepted is described so, and no longer as waiting for them.
func TestApprovedTaskIsNotWaiting(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		task loop.Task
		want string
		why  string
	}{
		{loop.Task{WorkResult: loop.WorkResult{TestsChanged: []string{"t/greet.sh"}, Evidence: gate.EvidenceUnknown}}, "done, to approve", "passes only with its changes of t/greet.sh"},
		{loop.Task{WorkResult: loop.WorkResult{TestsChanged: []string{"t/greet.sh"}, Evidence: gate.EvidenceUnknown, Accepted: true}}, "done, approved", "passes only with its changes of t/greet.sh; accepted by pawl approve"},
		{loop.Task{WorkResult: loop.WorkResult{Evidence: gate.Unproven, Accepted: true}}, "done, unproven, approved", "no test proves it; accepted by pawl approve"},
	} {
		c.task.Status = loop.Done
		if got := narrate.Task(c.task); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
		if got := narrate.Evidence(c.task); got != c.why {
			t.Errorf("%q, want %q", got, c.why)
		}
	}
}
