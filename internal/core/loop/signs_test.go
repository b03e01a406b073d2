package loop_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
)

// The agent is told of a sign only once, with the refusal of its claim.
func TestSignsAreReportedToAgentOnce(t *testing.T) {
	t.Parallel()
	const exit, date = "a.py:3 ends the process with success", "a.py:9 decides by the date"
	sc := begin(t, loop.Policy{Gates: true})
	sc.checkpointed("gates baseline")
	sc.gates(green, "turn 1 fresh first")
	told := func(want ...string) {
		t.Helper()
		if diff := cmp.Diff(want, sc.s.Failing.Signs); diff != "" {
			t.Error(diff)
		}
	}
	sc.turn("done", "gates claim")
	sc.gates(loop.Gates{Status: gate.Pass, WorkResult: loop.WorkResult{Evidence: gate.Unproven}, Proof: loop.Proof{Signs: []string{exit}}}, "turn 2 continue claim_refused")
	told(exit)
	sc.turn("done", "gates claim")
	failed := red("x")
	failed.Signs = []string{exit, date}
	sc.gates(failed, "turn 3 continue gates_failed")
	told(date)
	sc.turn("done", "gates claim")
	failed.Fingerprint = "y"
	sc.gates(failed, "turn 4 continue gates_failed")
	told()
}
