package report_test

import (
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/report"
)

// Work that no review passed comes first, with the findings of the last review.
func TestReviewsStandFirst(t *testing.T) {
	t.Parallel()
	l := report.Loop{Goal: "plan.md", Status: "ended", State: loop.State{Phase: loop.Ended, Tasks: []loop.Task{
		{ID: "US-1", Title: "Login", Status: loop.Done, WorkResult: loop.WorkResult{Evidence: gate.EvidenceUnknown, Reviewed: loop.ReviewDisagreed, Findings: []string{"app.go:3: hard-coded\x1b[2J", "no test"}}, Commit: "a81f0c2d5e"},
		{ID: "US-2", Title: "Logout", Status: loop.Done, WorkResult: loop.WorkResult{Evidence: gate.EvidenceUnknown, Reviewed: loop.ReviewNone}, Why: "no review passed it: review: not sure"},
		{ID: "US-3", Title: "Expiry", Status: loop.Done, WorkResult: loop.WorkResult{Evidence: gate.Reviewed, Reviewed: loop.ReviewPassed, Findings: []string{"a long line"}}},
		{ID: "US-4", Title: "Cache", Status: loop.Open},
	}, End: loop.End{Outcome: loop.Unverified, Reason: "US-1: the review disagrees: review: app.go:3: hard-coded", EndedAt: evening}, Clock: loop.Clock{StartedAt: evening, Now: evening}, Counts: loop.Counts{Usage: loop.Usage{CostUSD: 3}, Reviews: loop.Reviews{Runs: 4, CostUSD: 0.75}}, Work: loop.Work{Current: "US-4", Failing: &loop.Failing{Reason: "review: cache.go:1: nothing calls it", Review: true}}}}
	got := text(t, l)
	want := `  review        disagrees with US-1 Login, which is kept  → git show a81f0c2
                  app.go:3: hard-coded
                  no test
                none passed US-2 Logout: review: not sure
                failed the last claim: review: cache.go:1: nothing calls it
`
	if !strings.Contains(got, want) || strings.Index(got, "1 reviewed") < strings.Index(got, "failed the last claim") || strings.Contains(got, "a long line") {
		t.Errorf("got\n%s\nwant in it\n%s", got, want)
	}
	l.State.Tasks, l.State.Reason = l.State.Tasks[1:2], l.State.Tasks[1].Why
	if got := text(t, l); strings.Count(got, "not sure") != 1 || !strings.Contains(got, "  review        none passed US-2 Logout\n") {
		t.Errorf("its reason is not told once:\n%s", got)
	}
	if !strings.Contains(got, "  cost          $3.00 ($0.75 for 4 reviews), ") {
		t.Errorf("the cost of reviews is not told:\n%s", got)
	}
}
