package loop_test

import (
	"testing"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
)

func TestGateWithoutTestIDsMustPassForLastTask(t *testing.T) {
	t.Parallel()
	asBefore := loop.Gates{Status: gate.Pass, WorkResult: loop.WorkResult{Evidence: gate.Unproven}, Failures: loop.Failures{StillRed: []string{"make check"}}}
	sc := begin(t, loop.Policy{Gates: true}, open("a", "b")...)
	sc.checkpointed("gates baseline")
	sc.gates(red("x"), "note; turn 1 fresh first")
	sc.turn("done", "gates claim")
	sc.feed(loop.Event{Payload: loop.GatesFinished{Gates: asBefore}}, "turn 2 continue claim_refused")
	sc.turn("done", "gates claim")
	sc.feed(loop.Event{Payload: loop.GatesFinished{Gates: asBefore}}, "commit a")
	sc.committed("checkpoint")
	sc.checkpointed("gates baseline")
	sc.gates(red("x"), "turn 3 fresh next_task")
	sc.turn("done", "gates claim")
	sc.feed(loop.Event{Payload: loop.GatesFinished{Gates: asBefore}}, "turn 4 continue gates_failed")
}

func TestGateWithoutTestIDsTurningGreenProvesEarlierTasks(t *testing.T) {
	t.Parallel()
	asBefore := loop.Gates{Status: gate.Pass, WorkResult: loop.WorkResult{Evidence: gate.Unproven}, Failures: loop.Failures{StillRed: []string{"make check"}}}
	turned := loop.Gates{Status: gate.Pass, Green: true, WorkResult: loop.WorkResult{Evidence: gate.Proven}, Proof: loop.Proof{FlippedGates: []string{"make check"}}}
	sc := begin(t, loop.Policy{Gates: true}, open("a", "b")...)
	sc.checkpointed("gates baseline")
	sc.gates(red("x"), "note; turn 1 fresh first")
	sc.turn("no-behaviour-change", "gates claim")
	sc.feed(loop.Event{Payload: loop.GatesFinished{Gates: asBefore}}, "commit a")
	sc.committed("checkpoint")
	sc.checkpointed("gates baseline")
	sc.gates(red("x"), "turn 2 fresh next_task")
	sc.turn("done", "gates claim")
	sc.gates(turned, "commit b")
	sc.committed("gates final")
	sc.gates(green, "finish verified")
}

// If only some tests of a gate pass now, it proves no earlier task.
func TestStillFailingGateProvesNoEarlierTask(t *testing.T) {
	t.Parallel()
	asBefore := loop.Gates{Status: gate.Pass, WorkResult: loop.WorkResult{Evidence: gate.EvidenceUnknown}, Failures: loop.Failures{StillRed: []string{"make check"}}}
	some := loop.Gates{
		Status: gate.Pass, WorkResult: loop.WorkResult{Evidence: gate.Proven, Flipped: []string{"b_test"}}, Proof: loop.Proof{FlippedGates: []string{"make check"}},
		Results: []gate.Result{{Gate: "make check", Status: gate.Fail, Failing: []string{"c_test"}}},
	}
	sc := begin(t, loop.Policy{Gates: true}, open("a", "b", "c")...)
	sc.checkpointed("gates baseline")
	sc.gates(red("x"), "note; turn 1 fresh first")
	sc.turn("no-behaviour-change", "gates claim")
	sc.feed(loop.Event{Payload: loop.GatesFinished{Gates: asBefore}}, "commit a")
	sc.committed("checkpoint")
	sc.checkpointed("gates baseline")
	sc.gates(red("x"), "turn 2 fresh next_task")
	sc.turn("done", "gates claim")
	sc.gates(some, "commit b")
	sc.committed("checkpoint")
	if a, _ := sc.s.Task("a"); a.Evidence != gate.EvidenceUnknown {
		t.Errorf("a is %s: %s", a.Evidence, a.Why)
	}
}
