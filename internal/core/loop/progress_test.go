package loop_test

import (
	"testing"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
)

func TestProgressCountsTasks(t *testing.T) {
	t.Parallel()
	proven := loop.Task{Status: loop.Done, WorkResult: loop.WorkResult{Evidence: gate.Proven}}
	unproven := loop.Task{Status: loop.Done, WorkResult: loop.WorkResult{Evidence: gate.Unproven}}
	ticked := loop.Task{Status: loop.Done, DoneEarlier: true}
	skipped, blocked, open := loop.Task{Status: loop.Skipped}, loop.Task{Status: loop.Blocked}, loop.Task{Status: loop.Open}
	for _, c := range []struct {
		name  string
		tasks []loop.Task
		want  string
	}{
		{"one goal", []loop.Task{skipped}, "brisk-otter ended STUCK"},
		{"all", []loop.Task{proven, ticked}, "brisk-otter · 2 of 2 tasks done · ended STUCK"},
		{"needs you", []loop.Task{proven, skipped, blocked}, "brisk-otter · 1 of 3 tasks done, 2 need you · ended STUCK"},
		{"less evidence", []loop.Task{proven, unproven, {Status: loop.Unchanged}}, "brisk-otter · 2 of 3 tasks done (1 not proven), 1 needs you · ended STUCK"},
		{"not begun", []loop.Task{proven, open, open}, "brisk-otter · 1 of 3 tasks done, 2 open · ended STUCK"},
	} {
		if got := (loop.State{Tasks: c.tasks, End: loop.End{Outcome: loop.Stuck}}).Headline("brisk-otter"); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
