package loop

import (
	"cmp"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/gate"
)

// reviewRounds is how often a review may fail the work of one task where nobody
// said; then the two disagree, and a user has to look.
const defaultReviewRounds = 3

// ReviewEnd is how the reviews of a task's work ended.
type ReviewEnd string

// The ends. Work that no review passed is kept all the same, but never for more
// than it is: done by the word of the agent and the commands.
const (
	ReviewPassed    ReviewEnd = "passed"
	ReviewDisagreed ReviewEnd = "disagreed" // it failed the work as often as it may
	ReviewNone      ReviewEnd = "none"      // it could not tell, or could not be asked
)

// reviewOrAccept takes work that would be accepted to the reviews, if there are any: they
// cost money, so that nothing else is shown to them.
func (m *machine) reviewOrAccept(g Gates) {
	if !m.s.Policy.Reviews {
		m.approveOrCommit(g)
		return
	}
	g.Results = nil
	m.s.ClaimGates, m.s.ClaimGatesAt = &g, m.s.Now
	if m.limit() == Budget {
		m.keepUnreviewed(ReviewNone, Gates{Reason: "the budget is spent"})
		return
	}
	m.runGates(ForReview)
}

// approveOrCommit accepts work: an answer as it is, a change with its commit.
func (m *machine) approveOrCommit(g Gates) {
	g.Results = nil
	m.s.ClaimGates, m.s.ClaimGatesAt = &g, m.s.Now
	if !m.askApproval(ApproveTask, g.Tree) {
		m.commitAccepted()
	}
}

func (m *machine) commitAccepted() {
	if m.s.Policy.Kind != Answer {
		m.commitFound()
		return
	}
	m.markDone("", m.s.ClaimGates.Receipt)
	m.next()
}

// reviewed decides after the reviews of work that passes the commands.
func (m *machine) reviewed(g Gates) {
	f := *m.s.ClaimGates
	switch {
	case g.Status == gate.Unknown && g.Tree != "" && g.Tree != f.Tree && m.s.Policy.Kind != Answer:
		m.treeChangedInReview(g)
	case g.Status == gate.Unknown && !g.RetriesSpent && m.reviewAgain(g):
	case g.Status == gate.Unknown:
		m.keepUnreviewed(ReviewNone, g)
	case g.Status == gate.Fail:
		m.reviewFailed(g)
	default:
		m.s.UnknownResults = 0
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

// approvedBy tells whether reviews accept every change of a test without which the
// work does not pass.
func (g Gates) approvedBy(reviews Gates) bool {
	return len(g.TestsChanged) > 0 && len(g.MissingFromCommit) == 0 && !g.OriginalsUnknown &&
		!slices.ContainsFunc(g.TestsChanged, func(p string) bool { return !slices.Contains(reviews.Approved, p) })
}

// approvedByReview: the tests judge as they are now, and the work is worth what a
// review is, whatever its own tests prove. A user's approval can still make it more.
func (m *machine) approvedByReview(f *Gates) {
	f.Evidence, f.Reason = gate.Reviewed, "a review accepts the changed tests: "+joinPaths(f.TestsChanged)
	m.dropAnsweredAsks(f.TestsChanged)
	f.Approved, f.TestsChanged = f.TestsChanged, nil
}

// evidenceCapped: who judges was changed, or what is committed is not what was
// judged. No review makes up for that.
func (g Gates) evidenceCapped() bool {
	return len(g.TestsChanged) > 0 || len(g.MissingFromCommit) > 0 || g.OriginalsUnknown
}

// treeMoved: the tree changed while it was reviewed, so that neither the gates nor the
// review have seen what is there now. All of it is done again, a bounded number of
// times; then what the gates saw is kept, and no review has.
func (m *machine) treeChangedInReview(g Gates) {
	m.s.Ladder.TreeChanges++
	if m.s.Ladder.TreeChanges > maxUnknowns {
		m.keepUnreviewed(ReviewNone, g)
		return
	}
	m.runGates(ForClaim)
}

// reviewAgain: the reviewer could not be asked. A usage limit is waited for, and
// counts against nothing; the rest is tried a bounded number of times.
func (m *machine) reviewAgain(g Gates) bool {
	if m.s.UnknownResults < maxUnknowns && g.RetryAt.After(m.s.Now) {
		m.s.UnknownResults++
		m.stopClock()
		m.wait(g.RetryAt, ThenGates, "a review waits for the usage limit: "+g.Reason)
		return true
	}
	return m.rerun(g)
}

// reviewFailed: a review that fails a claim is a failed try like any other, a
// bounded number of times. Then the work stays as it is, for a user to see.
func (m *machine) reviewFailed(g Gates) {
	m.s.UnknownResults = 0
	m.s.Ladder.ReviewFailures++
	if m.s.Ladder.ReviewFailures >= cmp.Or(m.s.Policy.ReviewRounds, defaultReviewRounds) {
		m.keepUnreviewed(ReviewDisagreed, g)
		return
	}
	m.s.Claim, m.s.ClaimGates = nil, nil
	m.s.Refusals++
	first := ""
	if len(g.Findings) > 0 {
		first = g.Findings[0]
	}
	m.fail(Failing{Reason: g.Reason, FirstError: first, Review: true}, g.Fingerprint)
}

// keepUnreviewed accepts work that no review passed.
func (m *machine) keepUnreviewed(end ReviewEnd, g Gates) {
	m.s.UnknownResults = 0
	f := *m.s.ClaimGates
	f.Evidence, f.Reviewed, f.Findings = gate.NoEvidence, end, g.Findings
	f.Reason = map[ReviewEnd]string{ReviewDisagreed: "the review disagrees: ", ReviewNone: "no review passed it: "}[end] + g.Reason
	f.Receipt = strings.TrimSpace(f.Receipt + " " + g.Receipt)
	m.notify(Warning, f.Reason)
	m.approveOrCommit(f)
}

// unreviewed is why work was kept that no review passed, "" if there is none such.
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

// bookReview books what judging cost.
func (m *machine) bookReview(g Gates) {
	m.addUsage(g.Usage)
	if m.s.Purpose == ForReview {
		m.s.Reviews.Runs++
		m.s.Reviews.CostUSD += g.Usage.CostUSD
	}
}

// Reviews counts what the reviews of a loop took.
type Reviews struct {
	Runs    int     `json:"runs"` // times that they were asked for
	CostUSD float64 `json:"cost_usd"`
}
