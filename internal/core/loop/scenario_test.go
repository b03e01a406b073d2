package loop_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
)

// scenario feeds events to a loop and checks its actions.
type scenario struct {
	t   *testing.T
	s   loop.State
	now time.Time
}

func begin(t *testing.T, p loop.Policy, tasks ...loop.Task) *scenario {
	t.Helper()
	if p.Kind == "" {
		p.Kind = loop.Change
	}
	if p.Limits.Iterations == 0 {
		p.Limits.Iterations = 25
	}
	if len(tasks) == 0 {
		tasks = []loop.Task{{ID: "a", Status: loop.Open}}
	}
	sc := &scenario{t: t, now: time.Date(2026, 11, 20, 20, 0, 0, 0, time.UTC)}
	sc.feed(loop.Event{Payload: loop.Started{Policy: p, Tasks: tasks}}, "checkpoint")
	return sc
}

// feed steps the loop with an event and checks its actions, as describeAction writes them.
func (sc *scenario) feed(e loop.Event, want string) {
	sc.t.Helper()
	sc.now = sc.now.Add(time.Minute)
	e.At = sc.now
	var acts []loop.Action
	sc.s, acts = loop.Step(sc.s, e)
	var words []string
	for _, a := range acts {
		words = append(words, describeAction(a))
	}
	got := strings.Join(words, "; ")
	if sc.s.Phase == loop.Finishing {
		sc.s, _ = loop.Step(sc.s, loop.Event{At: sc.now, Payload: loop.Concluded{}})
		got = strings.Replace(got, "finish", "finish "+string(sc.s.Outcome), 1)
	}
	if got != want {
		sc.t.Fatalf("on %s: %q, want %q (reason %q)", e.Kind(), got, want, sc.s.Reason)
	}
}

func describeAction(a loop.Action) string {
	switch p := a.Payload.(type) {
	case loop.EditPlan:
		return "edit"
	case loop.BeginTurn:
		fresh := "continue"
		if p.Fresh {
			fresh = "fresh"
		}
		return fmt.Sprintf("turn %d %s %s", p.Iteration, fresh, p.Situation)
	case loop.RunGates:
		return "gates " + string(p.Purpose)
	case loop.Commit:
		return "commit " + strings.Join(p.Tasks, "+")
	case loop.Inspect:
		if p.Deep {
			return "inspect deep"
		}
	}
	return string(a.Kind())
}

// pending returns the action of a type that the machine waits for.
func pending[P loop.ActionPayload](sc *scenario) P {
	sc.t.Helper()
	p, ok := loop.FindAction[P](sc.s.Pending)
	if !ok {
		sc.t.Fatalf("no %T is pending: %+v", p, sc.s.Pending)
	}
	return p
}

// checkNotes checks the notes in the prompt of the turn that has begun.
func (sc *scenario) checkNotes(want ...string) {
	sc.t.Helper()
	if diff := cmp.Diff(want, pending[loop.BeginTurn](sc).Notes); diff != "" {
		sc.t.Fatal(diff)
	}
}

// notes returns those notes as one text.
func (sc *scenario) notes() string {
	sc.t.Helper()
	return strings.Join(pending[loop.BeginTurn](sc).Notes, "|")
}

func hasAnomaly(acts []loop.Action) bool {
	return slices.ContainsFunc(acts, func(a loop.Action) bool {
		n, _ := a.Payload.(loop.Note)
		return n.Level == loop.Anomaly
	})
}

func (sc *scenario) checkpointed(want string) {
	sc.t.Helper()
	sc.feed(loop.Event{Payload: loop.Checkpointed{Tree: "base"}}, want)
}

// turn ends a turn with the claim done, blocked or none, and feeds the inspection that follows.
func (sc *scenario) turn(claim, want string) {
	sc.t.Helper()
	sc.turnWithInspection(claim, loop.Inspection{Changed: true}, want)
}

func (sc *scenario) turnWithInspection(claim string, seen loop.Inspection, want string) {
	sc.t.Helper()
	t := &loop.Turn{ToolCalls: 2, Usage: loop.Usage{Input: 100, CostUSD: 0.1}, ContextPercent: 10}
	look := "inspect"
	switch {
	case claim == "done":
		t.Claim, look = &loop.Claim{}, "inspect deep"
	case claim == "no-behaviour-change":
		t.Claim, look = &loop.Claim{NoBehaviourChange: true}, "inspect deep"
	case strings.HasPrefix(claim, "done "):
		t.Claim, look = &loop.Claim{Tasks: strings.Fields(claim)[1:]}, "inspect deep"
	case claim == "blocked":
		t.Claim = &loop.Claim{Blocked: true, Reason: "no key"}
	}
	if l := sc.s.Policy.Limits.Iterations; sc.s.Iteration >= l && claim != "done" {
		look = "inspect deep"
	}
	sc.feed(loop.Event{Payload: loop.TurnEnded{Turn: *t}}, look)
	sc.feed(loop.Event{Payload: loop.TreeInspected{Inspection: seen}}, want)
}

func (sc *scenario) gates(g loop.Gates, want string) {
	sc.t.Helper()
	g.Green = g.Green || g.Status == gate.Pass
	sc.feed(loop.Event{Payload: loop.GatesFinished{Gates: g}}, want)
}

func (sc *scenario) committed(want string) {
	sc.t.Helper()
	sc.feed(loop.Event{Payload: loop.Committed{Commit: "c1", Tree: "t1"}}, want)
}

func (sc *scenario) agentFails(class loop.Class, want string) {
	sc.t.Helper()
	sc.feed(loop.Event{Payload: loop.AgentFailed{Failure: loop.Failure{Class: class, Message: "m", Hint: "h"}}}, want)
}

var (
	green         = loop.Gates{Status: gate.Pass, WorkResult: loop.WorkResult{Evidence: gate.Unproven}}
	proven        = loop.Gates{Status: gate.Pass, WorkResult: loop.WorkResult{Evidence: gate.Proven}}
	unknownResult = loop.Gates{Status: gate.Unknown, Reason: "sh: not found"}
)

func red(fingerprint string) loop.Gates {
	return loop.Gates{Status: gate.Fail, Reason: "TestX fails", Failures: loop.Failures{Fingerprint: fingerprint, Failing: []string{"TestX"}}}
}

func open(ids ...string) []loop.Task {
	var ts []loop.Task
	for _, id := range ids {
		ts = append(ts, loop.Task{ID: id, Status: loop.Open})
	}
	return ts
}

func TestTwoProvenTasksEndVerified(t *testing.T) {
	t.Parallel()
	sc := begin(t, loop.Policy{Gates: true}, open("a", "b")...)
	sc.checkpointed("gates baseline")
	sc.gates(green, "turn 1 fresh first")
	sc.turn("", "turn 2 continue no_claim")
	sc.turn("done", "gates claim")
	sc.gates(proven, "commit a")
	sc.committed("checkpoint")
	sc.checkpointed("gates baseline")
	sc.gates(green, "turn 3 fresh next_task")
	sc.turn("done", "gates claim")
	sc.gates(proven, "commit b")
	sc.committed("gates final")
	sc.gates(green, "finish verified")
}

func TestClaimMayNameSeveralTasks(t *testing.T) {
	t.Parallel()
	sc := begin(t, loop.Policy{Gates: true}, open("a", "b", "c")...)
	sc.checkpointed("gates baseline")
	sc.gates(green, "turn 1 fresh first")
	sc.turn("done b a unheard-of", "gates claim")
	both := proven
	both.Flipped = []string{"TestA", "TestB"}
	sc.gates(both, "commit a+b")
	sc.committed("checkpoint")
	if got, _ := sc.s.Task("b"); got.Status != loop.Done || got.Commit != "c1" || got.Evidence != gate.Proven {
		t.Errorf("task b: %+v", got)
	}
}

// One flipped test proves one task, but not which. So the claim of the others is refused once, and
// then kept as unproven.
func TestOneFlippedTestProvesOnlyOneTask(t *testing.T) {
	t.Parallel()
	sc := begin(t, loop.Policy{Gates: true}, open("a", "b")...)
	sc.checkpointed("gates baseline")
	sc.gates(green, "turn 1 fresh first")
	one := proven
	one.Flipped = []string{"TestA"}
	sc.turn("done b a", "gates claim")
	sc.gates(one, "turn 2 continue claim_refused")
	if want := "newly passing: 1 (TestA), which proves only as many tasks: no test proves b"; sc.s.Failing.Reason != want {
		t.Errorf("told %q", sc.s.Failing.Reason)
	}
	sc.turn("done a b", "gates claim")
	sc.gates(one, "commit a+b")
	sc.committed("gates final")
	sc.gates(green, "finish unverified")
	a, _ := sc.s.Task("a")
	b, _ := sc.s.Task("b")
	if a.Evidence != gate.Proven || b.Evidence != gate.Unproven {
		t.Errorf("a %s, b %s", a.Evidence, b.Evidence)
	}
}

// A flipped gate without test IDs proves all claimed tasks.
func TestFlippedGateWithoutTestIDsProvesAllClaimedTasks(t *testing.T) {
	t.Parallel()
	sc := begin(t, loop.Policy{Gates: true}, open("a", "b")...)
	sc.checkpointed("gates baseline")
	sc.gates(green, "turn 1 fresh first")
	whole := proven
	whole.Flipped, whole.FlippedGates = []string{"check.sh"}, []string{"check.sh"}
	sc.turn("done a b", "gates claim")
	sc.gates(whole, "commit a+b")
	sc.committed("gates final")
	sc.gates(green, "finish verified")
}

func TestCheckboxTickedByAgentIsAClaim(t *testing.T) {
	t.Parallel()
	sc := begin(t, loop.Policy{Gates: true}, open("a", "b")...)
	sc.checkpointed("gates baseline")
	sc.gates(green, "turn 1 fresh first")
	sc.turnWithInspection("", loop.Inspection{Shallow: true, TickedByAgent: []string{"b"}}, "inspect deep")
	sc.feed(loop.Event{Payload: loop.TreeInspected{Inspection: loop.Inspection{Changed: true}}}, "gates claim")
	sc.gates(proven, "commit b")
}

func TestUnprovenClaimIsRefusedOnce(t *testing.T) {
	t.Parallel()
	sc := begin(t, loop.Policy{Gates: true})
	sc.checkpointed("gates baseline")
	sc.gates(green, "turn 1 fresh first")
	sc.turn("done", "gates claim")
	sc.gates(green, "turn 2 continue claim_refused")
	sc.turn("done", "gates claim")
	sc.gates(green, "commit a")
	sc.committed("gates final")
	sc.gates(green, "finish unverified")
}

func TestUnprovenClaimIsVerifiedIfTaskWantsNoMore(t *testing.T) {
	t.Parallel()
	sc := begin(t, loop.Policy{Gates: true}, loop.Task{ID: "a", Status: loop.Open, Wanted: gate.Unproven})
	sc.checkpointed("gates baseline")
	sc.gates(green, "turn 1 fresh first")
	sc.turn("done", "gates claim")
	sc.gates(green, "commit a")
	sc.committed("gates final")
	sc.gates(green, "finish verified")
}

func TestNoBehaviourChangeClaimIsNotRefusedButUnverified(t *testing.T) {
	t.Parallel()
	sc := begin(t, loop.Policy{Gates: true})
	sc.checkpointed("gates baseline")
	sc.gates(green, "turn 1 fresh first")
	sc.turn("no-behaviour-change", "gates claim")
	sc.gates(green, "commit a")
	sc.committed("gates final")
	sc.gates(green, "finish unverified")
}

func TestUnknownEvidenceDoesNotRefuseClaim(t *testing.T) {
	t.Parallel()
	sc := begin(t, loop.Policy{Gates: true})
	sc.checkpointed("gates baseline")
	sc.gates(green, "turn 1 fresh first")
	sc.turn("done", "gates claim")
	sc.gates(loop.Gates{Status: gate.Pass, WorkResult: loop.WorkResult{Evidence: gate.EvidenceUnknown}}, "commit a")
	sc.committed("gates final")
	sc.gates(green, "finish unverified")
}

func TestChangedTestsEndUnverified(t *testing.T) {
	t.Parallel()
	sc := begin(t, loop.Policy{Gates: true}, loop.Task{ID: "a", Status: loop.Open, Wanted: gate.Unproven})
	sc.checkpointed("gates baseline")
	sc.gates(green, "turn 1 fresh first")
	sc.turn("done", "gates claim")
	g := proven
	g.TestsChanged = []string{"a_test.go"}
	sc.gates(g, "commit a")
	sc.committed("gates final")
	sc.gates(green, "finish unverified")
}

func TestRepeatedClaimWithoutChangesEndsUnverified(t *testing.T) {
	t.Parallel()
	sc := begin(t, loop.Policy{Gates: true})
	sc.checkpointed("gates baseline")
	sc.gates(green, "turn 1 fresh first")
	sc.turnWithInspection("done", loop.Inspection{}, "turn 2 continue claim_refused")
	sc.turnWithInspection("done", loop.Inspection{}, "finish unverified")
}

func TestRepeatedClaimWithoutChangesAndFailingGateEndsStuck(t *testing.T) {
	t.Parallel()
	sc := begin(t, loop.Policy{Gates: true})
	sc.checkpointed("gates baseline")
	sc.gates(red("x"), "note; turn 1 fresh first")
	sc.turnWithInspection("done", loop.Inspection{}, "turn 2 continue claim_refused")
	if got, want := sc.s.Failing.Remedy, "a change that makes this pass: TestX fails"; got != want {
		t.Errorf("the agent is told %q, want %q", got, want)
	}
	sc.turnWithInspection("done", loop.Inspection{}, "finish stuck")
	if want := "claimed done, but changed no files, and a gate failed when it last ran: TestX fails"; sc.s.Reason != want {
		t.Errorf("reason %q", sc.s.Reason)
	}
	// What could not tell is not red.
	sc = begin(t, loop.Policy{Gates: true})
	sc.checkpointed("gates baseline")
	sc.s.Trouble.UnknownResults = 3
	sc.gates(loop.Gates{Status: gate.Unknown, Reason: "killed"}, "note; turn 1 fresh first")
	sc.turnWithInspection("done", loop.Inspection{}, "turn 2 continue claim_refused")
	sc.turnWithInspection("done", loop.Inspection{}, "finish unverified")
}

func TestWithoutGatesFirstClaimEndsTask(t *testing.T) {
	t.Parallel()
	sc := begin(t, loop.Policy{})
	sc.checkpointed("turn 1 fresh first")
	sc.turn("done", "gates claim") // these gates are the user's commit hooks
	sc.gates(loop.Gates{Status: gate.Pass, WorkResult: loop.WorkResult{Evidence: gate.EvidenceUnknown}}, "commit a")
	sc.committed("finish unverified")
}
