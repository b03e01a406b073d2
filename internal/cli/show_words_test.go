package cli

import (
	"testing"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
)

// A gate that failed before and still fails is not called passing in the summary.
func TestSummaryNamesGateThatStillFails(t *testing.T) {
	t.Parallel()
	const said = "nothing new fails; what failed before still fails (TestA): please review"
	task := loop.Task{ID: "1", Status: loop.Done, WorkResult: loop.WorkResult{Evidence: gate.Unproven}, StillRed: []string{"TestA"}}
	sums := tallies(loop.State{Tasks: []loop.Task{{ID: "0", Status: loop.Done, WorkResult: loop.WorkResult{Evidence: gate.Unproven}}, task}})
	if len(sums) != 1 || len(sums[0].Tasks) != 2 || sums[0].Each[1] != "1: "+said {
		t.Errorf("%+v", sums)
	}
}

// Work that the user accepted needs no review.
func TestSummaryOfAcceptedWorkAsksForNoReview(t *testing.T) {
	t.Parallel()
	sums := tallies(loop.State{Tasks: []loop.Task{{ID: "1", Status: loop.Done, WorkResult: loop.WorkResult{Evidence: gate.EvidenceUnknown, Accepted: true}, Why: "there is no gate"}}})
	if len(sums) != 1 || sums[0].Each[0] != "1: no test proves it; accepted by pawl approve" {
		t.Errorf("%+v", sums)
	}
}
