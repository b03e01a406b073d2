package loop_test

import (
	"time"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
)

// randomReview returns a review result for the tree that passed.
func (w *randomWalk) randomReview(g *loop.Gates) *loop.Gates {
	g.Evidence, g.Green, g.TestsChanged = "", false, nil
	w.turnCost = w.r.Float64()
	g.Usage = loop.Usage{Input: 100, CostUSD: w.turnCost}
	if w.passed != nil && !w.oneIn(10) { // otherwise the tree changed during the review
		g.Tree = w.passed.Tree
	}
	switch {
	case g.Status == gate.Pass && w.passed != nil && w.oneIn(2):
		g.Approved = w.passed.TestsChanged
	case g.Status == gate.Fail:
		g.Findings = []string{"a.go:1: wrong"}
	case g.Status == gate.Unknown && w.oneIn(3):
		g.RetryAt = w.now.Add(3 * time.Hour)
	case g.Status == gate.Unknown:
		g.RetriesSpent = w.oneIn(2)
	}
	w.reviewed = g.Status
	return g
}

// checkReview checks that a review neither undoes nor skips work, and that it fails a task a bounded
// number of times.
func (w *randomWalk) checkReview(before loop.State, e loop.Event, acts []loop.Action) {
	if before.Phase != loop.Judging || before.Gates.Purpose != loop.ForReview || e.Kind() != loop.KindGatesFinished {
		return
	}
	for i, t := range w.s.Tasks {
		if t.Status == loop.Skipped && before.Tasks[i].Status != loop.Skipped {
			w.t.Errorf("a review set task %s aside", t.ID)
		}
	}
	if _, restores := loop.FindAction[loop.Restore](acts); restores {
		w.t.Errorf("a review undid work: %+v", before)
	}
	if l := w.s.Ladder; l.ReviewFailures > 3 || l.TreeChanges > 4 {
		w.t.Errorf("no end of reviews: %+v", l)
	}
}

// checkReviewed checks that with reviews, only work that passed a review or that the user accepted is
// verified. Tests that a review accepted prove nothing unless the user accepts them too.
func (w *randomWalk) checkReviewed() {
	for _, t := range w.s.Tasks {
		if t.Evidence == gate.Proven && len(t.Approved) > 0 && t.IfApproved != nil {
			w.t.Errorf("proved by tests that only a review accepts: %+v", t)
		}
		if !t.LeftOut && t.Reviewed != loop.ReviewPassed && !t.DoneEarlier && !t.Accepted && (w.s.Policy.Reviews || t.Reviewed != "") {
			w.t.Errorf("verified with a task that no review passed: %+v", t)
		}
	}
}
