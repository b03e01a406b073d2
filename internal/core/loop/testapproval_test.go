package loop_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
)

// passWithChangedTests returns a claim that passes only with its changes of a test, such as a changed signature.
func passWithChangedTests(paths ...string) loop.Gates {
	return loop.Gates{
		Status:     gate.Pass,
		Tree:       "t",
		Reason:     "only with the changed tests",
		WorkResult: loop.WorkResult{Evidence: gate.EvidenceUnknown, TestsChanged: paths, ChangedTests: []loop.TestChange{{Path: paths[0], Line: 3, Kind: "changed", Name: "TestSum"}}, IfApproved: &loop.IfApproved{Paths: paths, Evidence: gate.Proven, Flipped: []string{"TestSum"}, Reason: "red without"}},
	}
}

func beginFirstTurn(t *testing.T, tasks ...loop.Task) *scenario {
	t.Helper()
	sc := begin(t, loop.Policy{Gates: true}, tasks...)
	sc.checkpointed("gates baseline")
	sc.gates(green, "turn 1 fresh first")
	return sc
}

// A user may accept unproven work that they have read.
func TestUserApprovalVerifiesUnprovenTask(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		tasks []string
		want  loop.Outcome
	}{
		{"it", []string{"a"}, loop.Verified},
		{"another", []string{"b"}, loop.Unverified},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			sc := beginFirstTurn(t)
			sc.turn("done", "gates claim")
			sc.gates(passWithChangedTests("a_test.go"), "commit a")
			sc.committed("gates final")
			sc.gates(green, "finish unverified")
			sc.feed(loop.Event{Payload: loop.Approved{Tasks: c.tasks}}, "")
			task, _ := sc.s.Task("a")
			accepted := c.want == loop.Verified
			got := []any{sc.s.Outcome, task.Accepted, task.Evidence, len(sc.s.Unapproved()) == 0}
			if diff := cmp.Diff([]any{c.want, accepted, gate.EvidenceUnknown, accepted}, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Changes of old tests are not tampering: the work ends unverified, and an approval after the end adds
// its evidence.
func TestTestApprovalAfterEndAddsEvidence(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		paths []string
		want  loop.Outcome
	}{
		{"of all", nil, loop.Verified},
		{"of both", []string{"a_test.go", "b_test.go"}, loop.Verified},
		{"of one", []string{"a_test.go"}, loop.Unverified},
		{"of another", []string{"c_test.go"}, loop.Unverified},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			sc := beginFirstTurn(t)
			sc.turn("done", "gates claim")
			sc.gates(passWithChangedTests("a_test.go", "b_test.go"), "commit a")
			sc.committed("gates final")
			sc.gates(green, "finish unverified")
			if sc.s.Violations != 0 || sc.s.ApproveCommand("x") != "pawl approve x" {
				t.Errorf("%d violations, %q", sc.s.Violations, sc.s.ApproveCommand("x"))
			}
			sc.feed(loop.Event{Payload: loop.Approved{Paths: c.paths}}, "")
			task, _ := sc.s.Task("a")
			// What was approved stays named, also where its structure shows nothing.
			named := slices.ContainsFunc(task.ChangedTests, func(c loop.TestChange) bool { return c.Path == "b_test.go" })
			got := []any{sc.s.Outcome, sc.s.ApproveCommand("x") == "", task.Evidence == gate.Proven, len(task.TestsChanged) == 0, named}
			yes := c.want == loop.Verified
			if diff := cmp.Diff([]any{c.want, yes, yes, yes, yes}, got); diff != "" {
				t.Errorf("-want +got:\n%s\n%+v", diff, task)
			}
			sc.feed(loop.Event{Payload: loop.Rejected{Paths: []string{"a_test.go"}}}, "")
			if sc.s.Outcome != c.want || (len(sc.s.Rejected) > 0) != (c.name == "of another" || c.name == "of one") {
				t.Errorf("rejected after the end: %s %v", sc.s.Outcome, sc.s.Rejected)
			}
		})
	}
}

func TestTestApprovalKeepsBlockedOutcome(t *testing.T) {
	t.Parallel()
	sc := beginFirstTurn(t, open("a", "b")...)
	sc.turn("done", "gates claim")
	sc.gates(passWithChangedTests("a_test.go"), "commit a")
	sc.committed("checkpoint")
	sc.checkpointed("gates baseline")
	sc.gates(green, "turn 2 fresh next_task")
	sc.turn("blocked", "checkpoint")
	sc.checkpointed("gates final")
	sc.gates(green, "finish blocked")
	sc.feed(loop.Event{Payload: loop.Approved{}}, "")
	if task, _ := sc.s.Task("a"); sc.s.Outcome != loop.BlockedEnd || task.Evidence != gate.Proven {
		t.Errorf("%s, %+v", sc.s.Outcome, task)
	}
}

func TestTestApprovalDoesNotOverrideFailedReview(t *testing.T) {
	t.Parallel()
	sc := beginFirstTurn(t)
	sc.turn("done", "gates claim")
	sc.gates(passWithChangedTests("a_test.go"), "commit a")
	sc.committed("gates final")
	sc.gates(green, "finish unverified")
	sc.s.Tasks[0].Reviewed = loop.ReviewDisagreed
	sc.feed(loop.Event{Payload: loop.Approved{}}, "")
	if sc.s.Outcome != loop.Unverified {
		t.Errorf("%s: %+v", sc.s.Outcome, sc.s.Tasks)
	}
}

func TestTestChangeRequestIsApprovedOrRejected(t *testing.T) {
	t.Parallel()
	sc := beginFirstTurn(t)
	ask := loop.Event{Payload: loop.TestChangeRequested{Paths: []string{"a_test.go"}, Why: "the signature\nchanged"}}
	sc.feed(ask, "note")
	sc.feed(ask, "")
	sc.feed(loop.Event{Payload: loop.TestChangeRequested{Paths: []string{"b_test.go"}}}, "note")
	if diff := cmp.Diff([]loop.TestChangeRequest{{Paths: []string{"a_test.go"}, Why: "the signature changed", Iteration: 1}, {Paths: []string{"b_test.go"}, Iteration: 1}}, sc.s.TestRequests); diff != "" {
		t.Error(diff)
	}
	sc.feed(loop.Event{Payload: loop.Approved{Paths: []string{"a_test.go"}}}, "")
	sc.feed(loop.Event{Payload: loop.Rejected{Paths: []string{"b_test.go"}, Why: "it is the specification"}}, "")
	if said := sc.s.Messages[len(sc.s.Messages)-1].Text; !strings.HasSuffix(said, "b_test.go. Make the work pass with the original tests. The user says: it is the specification") {
		t.Error(said)
	}
	if len(sc.s.TestRequests) != 0 || !sc.s.MayChange("a_test.go") || sc.s.MayChange("b_test.go") || len(sc.s.Messages) != 2 {
		t.Errorf("asks %v, approved %v, rejected %v, notes %v", sc.s.TestRequests, sc.s.Approved, sc.s.Rejected, sc.s.Messages)
	}
	sc.feed(ask, "")
	if len(sc.s.TestRequests) != 0 {
		t.Error("what is approved is asked for")
	}
}

// An approval of everything covers only tests: other gate inputs must be named.
func TestGateInputsAreApprovedByName(t *testing.T) {
	t.Parallel()
	sc := beginFirstTurn(t)
	sc.feed(loop.Event{Payload: loop.Approved{Paths: []string{loop.AllTests}}}, "")
	if !sc.s.MayChange("a_test.go") || sc.s.MayChangeInput("check.sh") {
		t.Errorf("approved %v: tests %v, judges %v", sc.s.Approved, sc.s.MayChange("a_test.go"), sc.s.MayChangeInput("check.sh"))
	}
	sc.feed(loop.Event{Payload: loop.Approved{Paths: []string{"check.sh"}}}, "")
	if !sc.s.MayChangeInput("check.sh") {
		t.Errorf("approved %v", sc.s.Approved)
	}
	sc.feed(loop.Event{Payload: loop.Rejected{Paths: []string{"check.sh"}}}, "")
	if sc.s.MayChangeInput("check.sh") {
		t.Errorf("approved %v, rejected %v", sc.s.Approved, sc.s.Rejected)
	}
}

// A rejection of all tests cancels earlier approvals, but no later ones.
func TestRejectionOfAllTestsCancelsEarlierApprovals(t *testing.T) {
	t.Parallel()
	sc := beginFirstTurn(t)
	sc.feed(loop.Event{Payload: loop.Approved{Paths: []string{"a_test.go", loop.AllTests}}}, "")
	sc.feed(loop.Event{Payload: loop.Rejected{Paths: []string{loop.AllTests}}}, "")
	if sc.s.MayChange("a_test.go") || !sc.s.Rejects(loop.AllTests) {
		t.Errorf("approved %v, rejected %v", sc.s.Approved, sc.s.Rejected)
	}
	sc.feed(loop.Event{Payload: loop.Approved{Paths: []string{"b_test.go"}}}, "")
	if !sc.s.MayChange("b_test.go") || sc.s.MayChange("a_test.go") {
		t.Errorf("approved %v, rejected %v", sc.s.Approved, sc.s.Rejected)
	}
	again := loop.Inspection{Changed: true, RejectedTests: []string{"a_test.go"}}
	sc.turnWithInspection("done", again, "restore_files; turn 2 continue no_claim")
	sc.turnWithInspection("done", again, "restore_files; turn 3 continue violation")
	sc.feed(loop.Event{Payload: loop.Approved{Paths: []string{loop.AllTests}}}, "")
	if !sc.s.MayChange("a_test.go") || len(sc.s.Rejected) != 0 {
		t.Errorf("approved in the end: %v, %v", sc.s.Approved, sc.s.Rejected)
	}
}

// However many tests a user decides about, no decision is forgotten.
func TestUserDecisionsAreNeverForgotten(t *testing.T) {
	t.Parallel()
	var paths []string
	for i := range 60 {
		paths = append(paths, fmt.Sprintf("t%02d_test.go", i))
	}
	sc := beginFirstTurn(t)
	sc.feed(loop.Event{Payload: loop.Approved{Paths: paths}}, "")
	for _, p := range paths {
		if !sc.s.MayChange(p) {
			t.Errorf("the approval of %s is forgotten", p)
		}
	}
	for _, p := range paths {
		sc.feed(loop.Event{Payload: loop.Rejected{Paths: []string{p}}}, "")
	}
	for _, p := range paths {
		if !sc.s.Rejects(p) {
			t.Errorf("the rejection of %s is forgotten", p)
		}
	}
}

// A rejection of all tests holds for each, whatever the agent asked for.
func TestRejectionOfAllTestsIsKeptAsOne(t *testing.T) {
	t.Parallel()
	sc := beginFirstTurn(t)
	var paths []string
	for i := range 60 {
		paths = append(paths, fmt.Sprintf("t%02d_test.go", i))
	}
	sc.feed(loop.Event{Payload: loop.TestChangeRequested{Paths: paths[:30]}}, "note")
	sc.feed(loop.Event{Payload: loop.TestChangeRequested{Paths: paths[30:]}}, "note")
	sc.feed(loop.Event{Payload: loop.Rejected{Paths: []string{loop.AllTests}}}, "")
	if diff := cmp.Diff([]loop.Rejection{{Path: loop.AllTests}}, sc.s.Rejected); diff != "" {
		t.Error(diff)
	}
	if !sc.s.Rejects("t00_test.go") || !sc.s.Rejects("other_test.go") || sc.s.RejectsByName("t00_test.go") || len(sc.s.Unapproved()) != 0 {
		t.Errorf("rejected %v, waits %v", sc.s.Rejected, sc.s.Unapproved())
	}
	sc.feed(loop.Event{Payload: loop.Approved{Paths: paths[:1]}}, "")
	if sc.s.Rejects("t00_test.go") || !sc.s.Rejects("t01_test.go") {
		t.Errorf("approved %v, rejected %v", sc.s.Approved, sc.s.Rejected)
	}
}

func TestTestChangeString(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		change loop.TestChange
		want   string
	}{
		{loop.TestChange{Path: "a_test.go", Line: 3, Kind: "changed", Name: "TestSum"}, "a_test.go:3: changed TestSum"},
		{loop.TestChange{Path: "a_test.go", Kind: "deleted"}, "a_test.go: deleted"},
	} {
		if got := c.change.String(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// A rejected change is restored once without blame; then it is a violation.
func TestRejectedTestChangeIsRestoredOnceThenViolation(t *testing.T) {
	t.Parallel()
	sc := beginFirstTurn(t)
	sc.feed(loop.Event{Payload: loop.Rejected{Paths: []string{"a_test.go"}}}, "")
	again := loop.Inspection{Changed: true, RejectedTests: []string{"a_test.go"}}
	sc.turnWithInspection("done", again, "restore_files; turn 2 continue no_claim")
	if sc.s.Violations != 0 || sc.s.Claim != nil || !strings.Contains(sc.s.Failing.Reason, "a_test.go") {
		t.Errorf("%d violations, %+v", sc.s.Violations, sc.s.Failing)
	}
	sc.turnWithInspection("done", again, "restore_files; turn 3 continue violation")
	sc.turnWithInspection("", again, "restore_files; turn 4 fresh violation")
	sc.feed(loop.Event{Payload: loop.Approved{Paths: []string{"a_test.go"}}}, "")
	if !sc.s.MayChange("a_test.go") || len(sc.s.Rejected) != 0 {
		t.Errorf("approved in the end: %v, %v", sc.s.Approved, sc.s.Rejected)
	}
}

// A change of a protected file while the gates run is a violation, whatever their result.
func TestProtectedFileChangedDuringGatesIsViolation(t *testing.T) {
	t.Parallel()
	sc := beginFirstTurn(t)
	sc.turn("done", "gates claim")
	g := proven
	g.Tampered = []string{"check.sh"}
	sc.gates(g, "restore_files; turn 2 continue violation")
	if sc.s.Violations != 1 || sc.s.Claim != nil {
		t.Errorf("%d violations, claim %v", sc.s.Violations, sc.s.Claim)
	}
}

// A claim that needs a changed gate input is refused once, with the file's name. The second claim is
// kept and waits for the user. A file that the agent asked for is no reason to refuse.
func TestClaimNeedingChangedGateInputIsRefusedOnce(t *testing.T) {
	t.Parallel()
	needs := passWithChangedTests("lint.toml")
	needs.NeededInputs = []string{"lint.toml"}
	for name, asked := range map[string]bool{"told": false, "asked for": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sc := beginFirstTurn(t)
			if asked {
				sc.feed(loop.Event{Payload: loop.TestChangeRequested{Paths: []string{"lint.toml"}}}, "note")
			}
			sc.turn("done", "gates claim")
			if !asked {
				sc.gates(needs, "turn 2 continue claim_refused")
				if diff := cmp.Diff([]string{"lint.toml"}, sc.s.Failing.NeededInputs); diff != "" || sc.s.Refusals != 1 {
					t.Errorf("%d refusals\n%s", sc.s.Refusals, diff)
				}
				sc.turn("done", "gates claim")
			}
			sc.gates(needs, "commit a")
			sc.committed("gates final")
			sc.gates(green, "finish unverified")
			sc.feed(loop.Event{Payload: loop.Approved{Paths: []string{"lint.toml"}}}, "")
			if sc.s.Outcome != loop.Verified {
				t.Errorf("%s: %s", sc.s.Outcome, sc.s.Reason)
			}
		})
	}
}

// An agent that does nothing after a refusal maintains its claim: the work is kept for the user, and
// the loop does not end stuck.
func TestIdleTurnsAfterRefusalMaintainClaim(t *testing.T) {
	t.Parallel()
	needs := passWithChangedTests("Makefile")
	needs.NeededInputs = []string{"Makefile"}
	sc := beginFirstTurn(t)
	sc.turn("done", "gates claim")
	sc.gates(needs, "turn 2 continue claim_refused")
	for _, want := range []string{"turn 3 continue no_claim", "turn 4 continue no_claim", "inspect deep"} {
		sc.feed(loop.Event{Payload: loop.TurnEnded{Turn: loop.Turn{}}}, "inspect")
		sc.feed(loop.Event{Payload: loop.TreeInspected{Inspection: loop.Inspection{Shallow: true}}}, want)
	}
	sc.feed(loop.Event{Payload: loop.TreeInspected{Inspection: loop.Inspection{Changed: true}}}, "gates claim")
	sc.gates(needs, "commit a")
	sc.committed("gates final")
	sc.gates(green, "finish unverified")
	if sc.s.ApproveCommand("x") != "pawl approve x" {
		t.Errorf("%q", sc.s.ApproveCommand("x"))
	}
}

// Work that passes only with an earlier task's change needs its own tests. It is proven once that
// change is approved: one approval proves both tasks.
func TestApprovalProvesLaterTasksThatNeedTheChange(t *testing.T) {
	t.Parallel()
	sc := beginFirstTurn(t, open("a", "b")...)
	sc.turn("done", "gates claim")
	sc.gates(passWithChangedTests("lint.toml"), "commit a")
	sc.committed("checkpoint")
	sc.checkpointed("gates baseline")
	sc.gates(green, "turn 2 fresh next_task")
	sc.turn("done", "gates claim")
	later := loop.Gates{Status: gate.Pass, Tree: "t", Reason: "nothing new fails", WorkResult: loop.WorkResult{Evidence: gate.Unproven}, TestChanges: loop.TestChanges{AwaitedChanges: []string{"lint.toml"}}}
	sc.gates(later, "turn 3 continue claim_refused")
	later.Evidence, later.Flipped = gate.Proven, []string{"TestB"}
	sc.turn("done", "gates claim")
	sc.gates(later, "commit b")
	sc.committed("gates final")
	sc.gates(green, "finish unverified")
	if b, _ := sc.s.Task("b"); b.Evidence != gate.EvidenceUnknown || !slices.Equal(b.TestsChanged, []string{"lint.toml"}) || !strings.Contains(b.Why, "wait for your approval: lint.toml") {
		t.Errorf("before: %+v", b)
	}
	sc.feed(loop.Event{Payload: loop.Approved{Paths: []string{"lint.toml"}}}, "")
	a, _ := sc.s.Task("a")
	b, _ := sc.s.Task("b")
	if sc.s.Outcome != loop.Verified || a.Evidence != gate.Proven || b.Evidence != gate.Proven || !slices.Equal(b.Flipped, []string{"TestB"}) {
		t.Errorf("%s\n%+v\n%+v", sc.s.Outcome, a, b)
	}
}
