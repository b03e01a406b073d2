package loop_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/core/loop"
)

// turnWithTestRun ends a turn without a claim whose last test run is t.
func (sc *scenario) turnWithTestRun(t *loop.TestRun, want string) {
	sc.t.Helper()
	sc.feed(loop.Event{Payload: loop.TurnEnded{Turn: loop.Turn{ToolCalls: 3, Test: t}}}, "inspect")
	sc.feed(loop.Event{Payload: loop.TreeInspected{Inspection: loop.Inspection{Shallow: true}}}, want)
}

func failingTestRun(names ...string) *loop.TestRun {
	return &loop.TestRun{Command: "npm test", Result: "fail", Failed: len(names), Failing: names, FirstError: "took " + strings.Repeat("1", len(names)) + " ms"}
}

func TestSameFailingTestRunThreeTimesIsFailedAttempt(t *testing.T) {
	t.Parallel()
	green := &loop.TestRun{Command: "npm test", Result: "pass"}
	sc := begin(t, loop.Policy{Gates: true})
	sc.checkpointed("gates baseline")
	sc.gates(loop.Gates{Status: "pass", Green: true}, "turn 1 fresh first")
	sc.turnWithTestRun(failingTestRun("a", "b"), "turn 2 continue no_claim")
	sc.turnWithTestRun(failingTestRun("a", "b"), "turn 3 continue no_claim")
	sc.turnWithTestRun(failingTestRun("b"), "turn 4 continue no_claim") // another failing test is progress
	sc.turnWithTestRun(failingTestRun("b"), "turn 5 continue no_claim")
	sc.turnWithTestRun(green, "turn 6 continue no_claim")
	sc.turnWithTestRun(failingTestRun("b"), "turn 7 continue no_claim")
	sc.turnWithTestRun(failingTestRun("b"), "turn 8 continue no_claim")
	sc.turnWithTestRun(nil, "turn 9 continue no_claim") // the turn ran no test
	sc.turnWithTestRun(failingTestRun("b"), "turn 10 continue no_claim")
	sc.turnWithTestRun(failingTestRun("b"), "turn 11 continue no_claim")
	sc.turnWithTestRun(failingTestRun("b"), "turn 12 fresh fresh")
	if f := sc.s.Failing; f == nil || !strings.Contains(f.Reason, "`npm test`: 1 failed: b") || len(f.Tests) != 1 {
		t.Errorf("failing %+v", f)
	}
	if sc.s.Restores != 0 {
		t.Errorf("a test run of the agent's restored the tree")
	}
}

// In a user's session the user may intervene, so the repeated failure counts as one failed try.
func TestSameFailingTestRunInSessionIsFailedAttempt(t *testing.T) {
	t.Parallel()
	sc := begin(t, loop.Policy{Gates: true, InSession: true})
	sc.checkpointed("gates baseline")
	sc.gates(loop.Gates{Status: "pass", Green: true}, "turn 1 continue first")
	sc.turnWithTestRun(failingTestRun("a"), "turn 2 continue no_claim")
	sc.turnWithTestRun(failingTestRun("a"), "turn 3 continue no_claim")
	sc.turnWithTestRun(failingTestRun("a"), "turn 4 continue gates_failed")
}

func TestTestRunIsBounded(t *testing.T) {
	t.Parallel()
	run := loop.TestRun{Command: strings.Repeat("x", 9999), Result: "fail", Failing: make([]string, 500), FirstError: strings.Repeat("é\n", 9999)}
	for i := range run.Failing {
		run.Failing[i] = strings.Repeat("n", 999)
	}
	got := run.Bounded()
	if len(got.Failing) != loop.TestNames || got.Failed != 500 || len(got.Command) > 210 || len(got.FirstError) > 410 || len(got.Failing[0]) > 210 {
		t.Errorf("%d names of %d, command of %d, error of %d bytes", len(got.Failing), got.Failed, len(got.Command), len(got.FirstError))
	}
	if s := got.String(); !strings.Contains(s, "500 failed: ") || !strings.Contains(s, " and 495 more (") {
		t.Errorf("in words: %s", s)
	}
}

func TestSecretsAreRedactedFromTestRun(t *testing.T) {
	t.Parallel()
	run := loop.TestRun{Command: "K=hush npm test", Result: "fail", Failing: []string{"logs in with hush"}, FirstError: "expected hush"}
	got := run.Redacted(func(s string) string { return strings.ReplaceAll(s, "hush", "***") })
	want := loop.TestRun{Command: "K=*** npm test", Result: "fail", Failing: []string{"logs in with ***"}, FirstError: "expected ***"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(run, run.Redacted(nil)); diff != "" {
		t.Errorf("without a redactor (-want +got):\n%s", diff)
	}
}
