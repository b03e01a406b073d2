package loop

import (
	"cmp"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/gate"
)

// defaultReviewRounds is how often reviews may fail the work of one task by default. Then a user
// has to decide.
const defaultReviewRounds = 3

// ReviewEnd is how the reviews of a task's work ended.
type ReviewEnd string

// The ends. Work that no review passed is kept, but without evidence.
const (
	ReviewPassed    ReviewEnd = "passed"
	ReviewDisagreed ReviewEnd = "disagreed" // it failed the work the maximum number of times
	ReviewNone      ReviewEnd = "none"      // unknown result, or unavailable
)

// reviewOrAccept reviews acceptable work if there are reviews. They cost money, so they see nothing
// else.
func (m *machine) reviewOrAccept(g Gates) {
	if !m.s.Policy.Reviews {
		m.approveOrCommit(g)
		return
	}
	m.keepClaimGates(g)
	if m.limit() == Budget {
		m.keepUnreviewed(ReviewNone, Gates{Reason: "the budget is spent"})
		return
	}
	m.runGates(ForReview)
}

// approveOrCommit accepts work after the user's approval, if the policy asks for it.
func (m *machine) approveOrCommit(g Gates) {
	m.keepClaimGates(g)
	if !m.askApproval(ApproveTask, g.Tree) {
		m.commitAccepted()
	}
}

// keepClaimGates keeps the gates that accept the claim. A gate of which only some tests pass now has
// not flipped: it proves no earlier task.
func (m *machine) keepClaimGates(g Gates) {
	g.FlippedGates = exclude(g.FlippedGates, func(name string) bool {
		return slices.ContainsFunc(g.Results, func(r gate.Result) bool { return r.Gate == name && r.Status == gate.Fail })
	})
	g.Results = nil
	m.s.Claim = &OpenClaim{Claim: m.s.Claim.Claim, Gates: &g, GatedAt: m.s.Now}
}

func (m *machine) commitAccepted() {
	if m.s.Policy.Kind != Answer {
		m.commitWork()
		return
	}
	m.markDone("", m.s.Claim.Gates.Receipt)
	m.next()
}

// reviewed decides after the reviews of work that passes the commands.
func (m *machine) reviewed(g Gates) {
	f := *m.s.Claim.Gates
	switch {
	case g.Status == gate.Unknown && g.Tree != "" && g.Tree != f.Tree && m.s.Policy.Kind != Answer:
		m.treeChangedInReview(g)
	case g.Status == gate.Unknown && !g.RetriesSpent && m.reviewAgain(g):
	case g.Status == gate.Unknown:
		m.keepUnreviewed(ReviewNone, g)
	case g.Status == gate.Fail:
		m.reviewFailed(g)
	default:
		m.s.Trouble.UnknownResults = 0
		switch {
		case f.approvedBy(g):
			m.approvedByReview(&f)
		case !f.evidenceCapped():
			if e := gate.AfterReview(f.Evidence); e != f.Evidence {
				f.Evidence, f.Reason = e, "a review passed it: "+strings.TrimPrefix(g.Reason, "review: ")
			}
		}
		f.Reviewed, f.Receipt = ReviewPassed, strings.TrimSpace(f.Receipt+" "+g.Receipt)
		m.approveOrCommit(f)
	}
}

// approvedBy reports whether reviews accept every test change that the work needs.
func (g Gates) approvedBy(reviews Gates) bool {
	return len(g.TestsChanged) > 0 && len(g.MissingFromCommit) == 0 && !g.OriginalsUnknown &&
		!slices.ContainsFunc(g.TestsChanged, func(p string) bool { return !slices.Contains(reviews.Approved, p) })
}

// approvedByReview accepts the changed tests. The evidence is a review's, whatever the tests prove;
// a user's approval can still raise it.
func (m *machine) approvedByReview(f *Gates) {
	f.Evidence, f.Reason = gate.Reviewed, "a review accepts the changed tests: "+joinPaths(f.TestsChanged)
	m.dropAnsweredRequests(f.TestsChanged)
	f.Approved, f.TestsChanged = f.TestsChanged, nil
}

// evidenceCapped reports whether gate inputs changed, or the commit differs from the gated tree. A
// review cannot compensate for that.
func (g Gates) evidenceCapped() bool {
	return len(g.TestsChanged) > 0 || len(g.MissingFromCommit) > 0 || g.OriginalsUnknown
}

// treeChangedInReview repeats gates and reviews after the tree changed under them, a bounded number
// of times. Then the gated work is kept without a review.
func (m *machine) treeChangedInReview(g Gates) {
	m.s.Ladder.TreeChanges++
	if m.s.Ladder.TreeChanges > maxUnknowns {
		m.keepUnreviewed(ReviewNone, g)
		return
	}
	m.runGates(ForClaim)
}

// reviewAgain retries an unavailable reviewer. Waits for its usage limit do not count for limits.
func (m *machine) reviewAgain(g Gates) bool {
	if m.s.Trouble.UnknownResults < maxUnknowns && g.RetryAt.After(m.s.Now) {
		m.s.Trouble.UnknownResults++
		m.stopClock()
		m.wait(g.RetryAt, ThenGates, "a review waits for the usage limit: "+g.Reason)
		return true
	}
	return m.rerun(g)
}

// reviewFailed counts a failed try, a bounded number of times. Then the work is kept for the user
// to see.
func (m *machine) reviewFailed(g Gates) {
	m.s.Trouble.UnknownResults = 0
	m.s.Ladder.ReviewFailures++
	if m.s.Ladder.ReviewFailures >= cmp.Or(m.s.Policy.ReviewRounds, defaultReviewRounds) {
		m.keepUnreviewed(ReviewDisagreed, g)
		return
	}
	m.s.Claim = nil
	m.s.Refusals++
	first := ""
	if len(g.Findings) > 0 {
		first = g.Findings[0]
	}
	m.fail(Failing{Reason: g.Reason, FirstError: first, Review: true}, g.Fingerprint)
}

// keepUnreviewed accepts work that no review passed.
func (m *machine) keepUnreviewed(end ReviewEnd, g Gates) {
	m.s.Trouble.UnknownResults = 0
	f := *m.s.Claim.Gates
	f.Evidence, f.Reviewed, f.Findings = gate.EvidenceUnknown, end, g.Findings
	f.Reason = map[ReviewEnd]string{ReviewDisagreed: "the review disagrees: ", ReviewNone: "no review passed it: "}[end] + g.Reason
	f.Receipt = strings.TrimSpace(f.Receipt + " " + g.Receipt)
	m.note(Warning, f.Reason)
	m.approveOrCommit(f)
}

// unreviewedReason says why work was kept that no review passed, "" if there is none.
func (m *machine) unreviewedReason() string {
	for _, t := range m.s.Tasks {
		if t.Status == Done && !t.Accepted && (t.Reviewed == ReviewDisagreed || t.Reviewed == ReviewNone) {
			if len(m.s.Tasks) > 1 {
				return t.ID + ": " + t.Why
			}
			return t.Why
		}
	}
	return ""
}

// addGateCost adds the cost of a gate run.
func (m *machine) addGateCost(g Gates) {
	m.addUsage(g.Usage)
	if m.s.Gates.Purpose == ForReview {
		m.s.Reviews.Runs++
		m.s.Reviews.CostUSD += g.Usage.CostUSD
	}
}

// Reviews counts the review runs of a loop and their cost.
type Reviews struct {
	Runs    int     `json:"runs"`
	CostUSD float64 `json:"cost_usd"`
}
