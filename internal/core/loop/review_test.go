package loop_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
)

var (
	gatesPassed  = loop.Gates{Status: gate.Pass, Tree: "t1", Reason: "everything passes", Receipt: "r1", WorkResult: loop.WorkResult{Evidence: gate.Unproven}}
	reviewPassed = loop.Gates{Status: gate.Pass, Tree: "t1", Reason: "review: it points at app.go:3", Receipt: "r2"}
	reviewFailed = loop.Gates{Status: gate.Fail, Tree: "t1", Reason: "review: app.go:3: hard-coded", WorkResult: loop.WorkResult{Findings: []string{"app.go:3: hard-coded"}}}
)

// beginReview brings a loop with one task that needs a review to the review of its claim.
func beginReview(t *testing.T, p loop.Policy) *scenario {
	t.Helper()
	p.Gates, p.Reviews = true, true
	sc := begin(t, p, loop.Task{ID: "a", Status: loop.Open, Wanted: gate.Reviewed})
	sc.checkpointed("gates baseline")
	sc.gates(loop.Gates{Status: gate.Pass}, "turn 1 fresh first")
	sc.turn("done", "gates claim")
	sc.gates(gatesPassed, "gates review")
	return sc
}

// claimAgain feeds another claim, up to its review.
func (sc *scenario) claimAgain() {
	sc.t.Helper()
	sc.turn("done", "gates claim")
	sc.gates(gatesPassed, "gates review")
}

func TestPassedReviewGivesReviewedEvidence(t *testing.T) {
	t.Parallel()
	sc := beginReview(t, loop.Policy{})
	if a := pending[loop.RunGates](sc); a.ReviewTree != "t1" || a.Purpose != loop.ForReview {
		t.Errorf("asked for %+v", a)
	}
	g := reviewPassed
	g.Usage = loop.Usage{Input: 10, CostUSD: 0.25}
	sc.gates(g, "commit a")
	sc.committed("gates final")
	sc.gates(loop.Gates{Status: gate.Pass}, "finish verified")
	want := loop.Task{Status: loop.Done, WorkResult: loop.WorkResult{Evidence: gate.Reviewed, Reviewed: loop.ReviewPassed}, Why: "a review passed it: it points at app.go:3"}
	got := sc.s.Tasks[0]
	if got.Status != want.Status || got.Evidence != want.Evidence || got.Reviewed != want.Reviewed || got.Why != want.Why {
		t.Errorf("got %+v", got)
	}
	if sc.s.Reviews != (loop.Reviews{Runs: 1, CostUSD: 0.25}) || sc.s.Usage.CostUSD != 0.35 {
		t.Errorf("reviews %+v of %+v", sc.s.Reviews, sc.s.Usage)
	}
}

// A review neither lowers what a test proves nor makes up for changed tests that it was not asked to
// accept.
func TestReviewNeitherLowersNorReplacesTestEvidence(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		claim loop.Gates
		want  gate.Evidence
	}{
		"proved by a test":      {loop.Gates{WorkResult: loop.WorkResult{Evidence: gate.Proven}}, gate.Proven},
		"not found out":         {loop.Gates{WorkResult: loop.WorkResult{Evidence: gate.EvidenceUnknown}}, gate.Reviewed},
		"only with its tests":   {loop.Gates{WorkResult: loop.WorkResult{Evidence: gate.Proven, TestsChanged: []string{"a_test.go"}}}, gate.EvidenceUnknown},
		"originals not checked": {loop.Gates{WorkResult: loop.WorkResult{Evidence: gate.EvidenceUnknown}, Proof: loop.Proof{OriginalsUnknown: true}}, gate.EvidenceUnknown},
		"not without the files": {loop.Gates{WorkResult: loop.WorkResult{Evidence: gate.Proven}, Proof: loop.Proof{MissingFromCommit: []string{"x"}}}, gate.EvidenceUnknown},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sc := begin(t, loop.Policy{Gates: true, Reviews: true}, loop.Task{ID: "a", Status: loop.Open, Wanted: gate.Reviewed})
			sc.checkpointed("gates baseline")
			sc.gates(loop.Gates{Status: gate.Pass}, "turn 1 fresh first")
			sc.turn("done", "gates claim")
			c.claim.Status, c.claim.Tree = gate.Pass, "t1"
			sc.gates(c.claim, "gates review")
			sc.gates(reviewPassed, "commit a")
			sc.committed("gates final")
			if got := sc.s.Tasks[0].Evidence; got != c.want {
				t.Errorf("evidence %s, want %s", got, c.want)
			}
		})
	}
}

// A review may accept all changed tests that the work needs. The work then counts as reviewed. For
// more, a user's approval still adds the evidence of the tests.
func TestReviewMayAcceptChangedTests(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		accepts []string
		wanted  gate.Evidence
		more    func(*loop.Gates)
		want    gate.Evidence
		waits   int
		ends    string
	}{
		"all of them":           {[]string{"a_test.go", "b_test.go"}, gate.Reviewed, nil, gate.Reviewed, 0, "finish verified"},
		"where proof is wanted": {[]string{"a_test.go", "b_test.go"}, gate.Proven, nil, gate.Reviewed, 2, "finish unverified"},
		"one of two":            {[]string{"a_test.go"}, gate.Reviewed, nil, gate.EvidenceUnknown, 2, "finish unverified"},
		"none":                  {nil, gate.Reviewed, nil, gate.EvidenceUnknown, 2, "finish unverified"},
		"originals not checked": {[]string{"a_test.go", "b_test.go"}, gate.Reviewed, func(g *loop.Gates) { g.OriginalsUnknown = true }, gate.EvidenceUnknown, 2, "finish unverified"},
		"not without the files": {[]string{"a_test.go", "b_test.go"}, gate.Reviewed, func(g *loop.Gates) { g.MissingFromCommit = []string{"x"} }, gate.EvidenceUnknown, 0, "finish unverified"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sc := begin(t, loop.Policy{Gates: true, Reviews: true}, loop.Task{ID: "a", Status: loop.Open, Wanted: c.wanted})
			sc.checkpointed("gates baseline")
			sc.gates(loop.Gates{Status: gate.Pass}, "turn 1 fresh first")
			sc.feed(loop.Event{Payload: loop.TestChangeRequested{Paths: []string{"a_test.go"}}}, "note")
			sc.turn("done", "gates claim")
			claim := passWithChangedTests("a_test.go", "b_test.go")
			if c.more != nil {
				c.more(&claim)
			}
			sc.gates(claim, "gates review")
			said := reviewPassed
			said.Approved = c.accepts
			sc.gates(said, "commit a")
			sc.committed("gates final")
			sc.gates(loop.Gates{Status: gate.Pass}, c.ends)
			got := sc.s.Tasks[0]
			if got.Evidence != c.want || (len(got.TestsChanged) == 0) != (c.want == gate.Reviewed) || len(sc.s.Unapproved()) < c.waits {
				t.Errorf("%+v, waiting %v", got, sc.s.Unapproved())
			}
			if c.want == gate.Reviewed && (len(got.ChangedTests) == 0 || len(got.Approved) != 2 || len(sc.s.Unapproved()) != c.waits) {
				t.Errorf("what was accepted is not named: %+v, waiting %v, asks %v", got, sc.s.Unapproved(), sc.s.TestRequests)
			}
			if name == "where proof is wanted" {
				sc.feed(loop.Event{Payload: loop.Approved{}}, "")
				if sc.s.Outcome != loop.Verified || sc.s.Tasks[0].Evidence != gate.Proven {
					t.Errorf("approved: %s, %+v", sc.s.Outcome, sc.s.Tasks[0])
				}
			}
		})
	}
}

// A review sees only work that would be accepted otherwise.
func TestReviewRunsOnlyOnOtherwiseAcceptableWork(t *testing.T) {
	t.Parallel()
	sc := begin(t, loop.Policy{Gates: true, Reviews: true})
	sc.checkpointed("gates baseline")
	sc.gates(loop.Gates{Status: gate.Pass}, "turn 1 fresh first")
	sc.turn("done", "gates claim")
	sc.gates(loop.Gates{Status: gate.Fail, Reason: "red"}, "turn 2 continue gates_failed")
	sc.turn("done", "gates claim")
	sc.gates(gatesPassed, "turn 3 continue claim_refused") // proven is wanted, no review could be that
	sc.turn("done", "gates claim")
	sc.gates(gatesPassed, "gates review")
	sc.gates(reviewPassed, "commit a")
	sc.committed("gates final")
	sc.gates(loop.Gates{Status: gate.Pass}, "finish unverified")
}

// The findings of a failed review are the failure in the next prompt.
func TestFailedReviewCountsAsFailedAttempt(t *testing.T) {
	t.Parallel()
	sc := beginReview(t, loop.Policy{Restore: true})
	sc.gates(reviewFailed, "turn 2 continue gates_failed")
	want := &loop.Failing{Reason: reviewFailed.Reason, FirstError: "app.go:3: hard-coded", Review: true}
	if diff := cmp.Diff(want, sc.s.Failing); diff != "" {
		t.Error(diff)
	}
	sc.claimAgain()
	sc.gates(reviewFailed, "turn 3 continue gates_failed")
	sc.claimAgain()
	sc.gates(reviewPassed, "commit a")
	sc.committed("gates final")
	sc.gates(loop.Gates{Status: gate.Pass}, "finish verified")
}

// After the maximum number of rounds the work is kept for the user to read.
func TestReviewRoundsAreBounded(t *testing.T) {
	t.Parallel()
	sc := beginReview(t, loop.Policy{Restore: true})
	for i := 2; i <= 3; i++ {
		sc.gates(reviewFailed, map[int]string{2: "turn 2 continue gates_failed", 3: "turn 3 continue gates_failed"}[i])
		sc.claimAgain()
	}
	sc.gates(reviewFailed, "note; commit a")
	sc.committed("gates final")
	sc.gates(loop.Gates{Status: gate.Pass}, "finish unverified")
	task := sc.s.Tasks[0]
	if task.Evidence != gate.EvidenceUnknown || task.Reviewed != loop.ReviewDisagreed || !cmp.Equal(task.Findings, reviewFailed.Findings) ||
		sc.s.Reason != "the review disagrees: review: app.go:3: hard-coded" {
		t.Errorf("%s: %+v", sc.s.Reason, task)
	}
}

// A failed review neither undoes nor skips work.
func TestFailedReviewNeitherRestoresNorSkips(t *testing.T) {
	t.Parallel()
	same := reviewFailed
	same.Fingerprint = "same"
	sc := beginReview(t, loop.Policy{Restore: true, ReviewRounds: 9})
	sc.gates(same, "turn 2 continue gates_failed")
	sc.claimAgain()
	sc.gates(same, "turn 3 fresh fresh")
	for range 3 {
		sc.claimAgain()
		sc.gates(same, sc.freshTurn())
	}
	// A command that fails continues from there, as ever.
	sc.turn("done", "gates claim")
	sc.gates(loop.Gates{Status: gate.Fail, Reason: "red"}, "restore")
}

func (sc *scenario) freshTurn() string {
	return strings.Replace("turn N fresh fresh", "N", string(rune('0'+sc.s.Iteration+1)), 1)
}

func TestReviewWithoutVerdictIsRetriedAndReported(t *testing.T) {
	t.Parallel()
	none := func(sc *scenario, why string) {
		sc.t.Helper()
		sc.committed("gates final")
		sc.gates(loop.Gates{Status: gate.Pass}, "finish unverified")
		if sc.s.Reason != why || sc.s.Tasks[0].Reviewed != loop.ReviewNone {
			sc.t.Errorf("%q: %+v", sc.s.Reason, sc.s.Tasks[0])
		}
	}
	t.Run("is not sure", func(t *testing.T) {
		t.Parallel()
		sc := beginReview(t, loop.Policy{})
		sc.gates(loop.Gates{Status: gate.Unknown, Tree: "t1", Reason: "not sure", ReviewResult: loop.ReviewResult{RetriesSpent: true}}, "note; commit a")
		none(sc, "no review passed it: not sure")
	})
	t.Run("cannot be asked", func(t *testing.T) {
		t.Parallel()
		sc := beginReview(t, loop.Policy{})
		for range 3 {
			sc.gates(loop.Gates{Status: gate.Unknown, Tree: "t1", Reason: "network"}, "wait")
			sc.feed(loop.Event{Payload: loop.TimerFired{}}, "gates review")
		}
		sc.gates(loop.Gates{Status: gate.Unknown, Tree: "t1", Reason: "network"}, "note; commit a")
		none(sc, "no review passed it: network")
	})
	t.Run("waits for a usage limit", func(t *testing.T) {
		t.Parallel()
		sc := beginReview(t, loop.Policy{Limits: loop.Limits{Duration: time.Hour}})
		sc.gates(loop.Gates{Status: gate.Unknown, Tree: "t1", ReviewResult: loop.ReviewResult{RetryAt: sc.now.Add(5 * time.Hour)}}, "wait")
		sc.now = sc.now.Add(5 * time.Hour)
		sc.feed(loop.Event{Payload: loop.TimerFired{}}, "gates review")
		sc.gates(reviewPassed, "commit a")
		sc.committed("gates final")
		sc.gates(loop.Gates{Status: gate.Pass}, "finish verified") // the wait counts against nothing
	})
	t.Run("has no money left", func(t *testing.T) {
		t.Parallel()
		sc := begin(t, loop.Policy{Gates: true, Reviews: true, Limits: loop.Limits{CostUSD: 0.05}}, loop.Task{ID: "a", Status: loop.Open, Wanted: gate.Reviewed})
		sc.checkpointed("gates baseline")
		sc.gates(loop.Gates{Status: gate.Pass}, "turn 1 fresh first")
		sc.turn("done", "gates claim") // costs 0.10
		sc.gates(gatesPassed, "note; commit a")
		none(sc, "no review passed it: the budget is spent")
	})
	t.Run("saw another tree than the gates", func(t *testing.T) {
		t.Parallel()
		sc := beginReview(t, loop.Policy{})
		for range 3 {
			sc.gates(loop.Gates{Status: gate.Unknown, Tree: "t2", Reason: "the tree changed"}, "gates claim")
			sc.gates(gatesPassed, "gates review")
		}
		sc.gates(loop.Gates{Status: gate.Unknown, Tree: "t2", Reason: "the tree changed"}, "note; commit a")
		none(sc, "no review passed it: the tree changed")
	})
}

func TestAnswersAreReviewed(t *testing.T) {
	t.Parallel()
	answer := func(wanted gate.Evidence) *scenario {
		sc := begin(t, loop.Policy{Kind: loop.Answer, Gates: true, Reviews: true}, loop.Task{ID: "goal", Status: loop.Open, Wanted: wanted})
		sc.checkpointed("gates baseline")
		sc.gates(loop.Gates{Status: gate.Pass}, "turn 1 fresh first")
		sc.turn("done", "gates review")
		return sc
	}
	sc := answer(gate.Reviewed)
	sc.gates(reviewFailed, "turn 2 continue gates_failed")
	sc.turn("done", "gates review")
	sc.gates(reviewPassed, "finish verified")

	sc = answer(gate.Proven)
	sc.gates(reviewPassed, "finish unverified")

	sc = answer(gate.Reviewed)
	sc.gates(loop.Gates{Status: gate.Unknown, Reason: "not sure", ReviewResult: loop.ReviewResult{RetriesSpent: true}}, "note; finish unverified")
}
