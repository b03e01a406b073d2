package cli

import (
	"testing"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
)

// What was red before and is red now is not called passing where the tasks are summed up.
func TestTalliesOfATaskThatStandsOnRed(t *testing.T) {
	t.Parallel()
	const said = "nothing new fails; what failed before still fails (TestA): please review"
	task := loop.Task{ID: "1", Status: loop.Done, Evidence: gate.Unproven, StillRed: []string{"TestA"}}
	sums := tallies(loop.State{Tasks: []loop.Task{{ID: "0", Status: loop.Done, Evidence: gate.Unproven}, task}})
	if len(sums) != 1 || len(sums[0].Tasks) != 2 || sums[0].Each[1] != "1: "+said {
		t.Errorf("%+v", sums)
	}
}
