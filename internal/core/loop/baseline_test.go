package loop_test

import (
	"testing"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
)

// Failures from before the loop that no task touched are the user's: the loop does not pay for fixing
// them.
func TestBaselineFailureOutsideThePlanAddsNoTask(t *testing.T) {
	t.Parallel()
	failing := func(tests ...string) loop.Gates {
		return loop.Gates{Status: gate.Fail, Reason: "test: fails", Results: []gate.Result{{Gate: "test", Status: gate.Fail, Failing: tests, Failed: len(tests)}}}
	}
	cases := []struct {
		name    string
		end     loop.Gates
		flipped string
		want    string
	}{
		{"as it was", failing("TestRoot"), "TestNew", "finish unverified"},
		{"another test is red", failing("TestRoot", "TestOther"), "TestNew", "checkpoint"},
		{"a gate that names no test", loop.Gates{Status: gate.Fail, Results: []gate.Result{{Gate: "test", Status: gate.Fail}}}, "TestNew", "checkpoint"},
		{"red tests are the plan's", failing("TestRoot"), "TestRoot", "checkpoint"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			sc := begin(t, loop.Policy{Gates: true})
			sc.checkpointed("gates baseline")
			sc.gates(failing("TestRoot"), "note; turn 1 fresh first")
			sc.turn("done", "gates claim")
			sc.feed(loop.Event{Payload: loop.GatesFinished{Gates: loop.Gates{Status: gate.Pass, WorkResult: loop.WorkResult{Evidence: gate.Proven, Flipped: []string{c.flipped}}}}}, "commit a")
			sc.committed("gates final")
			sc.gates(c.end, c.want)
			if c.want == "finish unverified" && sc.s.Reason != "failed before this loop started and still fails: TestRoot" {
				t.Error(sc.s.Reason)
			}
		})
	}
}

// The same holds for a gate that names no tests: work that another gate proves is refused once over
// it, with the gate's name. Resuming the loop makes it part of the work.
func TestBaselineFailureOfGateWithoutTestIDsRefusesClaimOnce(t *testing.T) {
	t.Parallel()
	red := gate.Result{Gate: "lint", Status: gate.Fail}
	start := loop.Gates{Status: gate.Fail, Reason: "lint: exit 1", Results: []gate.Result{{Gate: "test", Status: gate.Pass, Passed: 1}, red}}
	for name, c := range map[string]struct {
		evidence gate.Evidence
		stillRed []string
		again    string // what comes of a second claim
	}{
		"proven by another gate":    {gate.Proven, []string{"lint"}, "commit a"},
		"nothing else proves it":    {gate.Unproven, []string{"lint"}, "turn 3 continue gates_failed"},
		"another gate is red, too":  {gate.Proven, []string{"lint", "build"}, "turn 3 continue gates_failed"},
		"it was green at the start": {gate.Proven, []string{"test"}, "turn 3 continue gates_failed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sc := begin(t, loop.Policy{Gates: true})
			sc.checkpointed("gates baseline")
			sc.gates(start, "note; turn 1 fresh first")
			sc.turn("done", "gates claim")
			claim := loop.Gates{Status: gate.Pass, Reason: "lint: exit 1", Results: []gate.Result{red}, WorkResult: loop.WorkResult{Evidence: c.evidence}, Failures: loop.Failures{StillRed: c.stillRed}}
			sc.gates(claim, "turn 2 continue gates_failed")
			if f := sc.s.Failing; f == nil || f.Reason != "lint: exit 1" {
				t.Errorf("the agent is told %+v", f)
			}
			sc.turn("done", "gates claim")
			sc.gates(claim, c.again)
			if c.again != "commit a" {
				return
			}
			sc.committed("gates final")
			sc.gates(loop.Gates{Status: gate.Fail, Reason: "lint: exit 1", Results: []gate.Result{red}}, "finish unverified")
			if sc.s.Reason != "failed before this loop started and still fails: lint" || !sc.s.HasWorkLeft() {
				t.Error(sc.s.Reason, sc.s.HasWorkLeft())
			}
			sc.feed(loop.Event{Payload: loop.Reopened{Limits: sc.s.Policy.Limits}}, "gates final")
			sc.gates(loop.Gates{Status: gate.Fail, Reason: "lint: exit 1", Results: []gate.Result{red}}, "checkpoint")
			if sc.s.Current != loop.FinalTask {
				t.Errorf("continues with %q", sc.s.Current)
			}
		})
	}
}

// A failure that the user calls part of the work must be fixed.
func TestBaselineFailureThatIsTheGoalMustBeFixed(t *testing.T) {
	t.Parallel()
	accept := gate.Result{Gate: "accept", Status: gate.Fail}
	sc := begin(t, loop.Policy{Gates: true, Restore: true})
	sc.checkpointed("gates baseline")
	sc.gates(loop.Gates{Status: gate.Fail, RedIsGoal: true, Results: []gate.Result{accept}}, "turn 1 fresh first")
	claim := loop.Gates{Status: gate.Pass, Results: []gate.Result{accept}, WorkResult: loop.WorkResult{Evidence: gate.Proven}, Failures: loop.Failures{StillRed: []string{"accept"}}}
	for _, want := range []string{"turn 2 continue gates_failed", "turn 3 continue gates_failed", "turn 4 fresh fresh", "restore"} {
		sc.turn("done", "gates claim")
		sc.gates(claim, want)
	}

	// At the end, where a task turned the claim's gates green, it is the last task.
	sc = begin(t, loop.Policy{Gates: true})
	sc.checkpointed("gates baseline")
	sc.gates(loop.Gates{Status: gate.Fail, RedIsGoal: true, Results: []gate.Result{accept}}, "turn 1 fresh first")
	sc.turn("done", "gates claim")
	sc.gates(loop.Gates{Status: gate.Pass, WorkResult: loop.WorkResult{Evidence: gate.Proven, Flipped: []string{"TestNew"}}}, "commit a")
	sc.committed("gates final")
	sc.gates(loop.Gates{Status: gate.Fail, Results: []gate.Result{accept}}, "checkpoint")
	if sc.s.Current != loop.FinalTask {
		t.Errorf("continues with %q", sc.s.Current)
	}
}
