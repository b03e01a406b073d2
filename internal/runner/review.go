package runner

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/guard"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/core/toolcall"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/prompt"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/review"
	"github.com/pawl-dev/pawl/internal/verify"
)

// Reviewer is what the runner needs of package review.
type Reviewer interface {
	Ask(ctx context.Context, q review.Request) (review.Answer, error)
}

// review runs the review gates on work that passed all other gates. It stops at the first
// review that fails, to save the cost of the others.
func (r *Runner) review(ctx context.Context, a loop.RunGates, m memory.ActionContext, dir string) (loop.Gates, error) {
	q, err := r.reviewRequest(ctx, a, m)
	if err != nil {
		return loop.Gates{}, err
	}
	q.LogDir = dir
	g := loop.Gates{Tree: q.Tree, Status: gate.Pass}
	if q.Tree, err = r.Repo.Overlay(ctx, q.Tree, q.Base, m.WithUserEdits(m.ClaimUserEdits()).ExcludedFiles()); err != nil {
		return loop.Gates{}, fmt.Errorf("leave out what is not the loop's: %w", err)
	}
	var results []gate.Result
	for _, q.Gate = range gate.Reviews(r.Spec.Gates) {
		left := m
		left.Usage = m.Usage.Add(g.Usage)
		q.MaxCostUSD = costLeft(left)
		r.GateProgress(verify.Progress{Gate: q.Gate.Name})
		began := time.Now()
		ans, err := r.Reviewer.Ask(ctx, q)
		if err = cmp.Or(err, r.authors.RecordSpan(began)); err != nil { // files that a review writes are not the user's
			return loop.Gates{}, err
		}
		r.GateProgress(verify.Progress{Gate: q.Gate.Name, Result: &ans.Result})
		results = append(results, ans.Result)
		addReview(&g, ans)
		if g.Status == gate.Fail {
			break
		}
	}
	g.Results = append(commandResults(m.Results), r.trimResults(results)...)
	g.Receipt = r.recordReceipts(ctx, results)
	if g.Status == gate.Fail {
		g.Fingerprint = gate.Fingerprint(q.Tree, results)
	}
	return g, r.checkTreeUnchanged(ctx, &g, m)
}

// addReview adds the result of one review.
func addReview(g *loop.Gates, ans review.Answer) {
	g.Usage = g.Usage.Add(ans.Usage)
	reason := truncate(ans.Result.Gate+": "+ans.Result.Reason, maxReasonBytes)
	switch ans.Result.Status {
	case gate.Fail:
		g.Status, g.Reason, g.Findings = gate.Fail, reason, ans.Findings
		g.FirstError = truncate(ans.Result.FirstError, maxResultTail)
		g.RetriesSpent, g.RetryAt = false, time.Time{}
	case gate.Unknown:
		g.Status, g.Reason, g.Findings = gate.Unknown, reason, ans.Findings
		g.RetriesSpent, g.RetryAt = !ans.RetryLater, ans.RetryAfter
	case gate.Pass:
		g.Approved = append(g.Approved, ans.Approved...)
		if g.Reason == "" {
			g.Reason = reason
		}
	}
}

// checkTreeUnchanged sets the result to unknown if the tree changed during the review: a
// reviewer whose tool calls cannot be denied may have written.
func (r *Runner) checkTreeUnchanged(ctx context.Context, g *loop.Gates, m memory.ActionContext) error {
	now, _, err := r.Repo.Snapshot(ctx)
	if err != nil {
		return fmt.Errorf("check whether the review changed the work: %w", err)
	}
	same, err := r.sameWork(ctx, g.Tree, now, m)
	if err != nil {
		return err
	}
	if same {
		return nil
	}
	changed, err := r.Repo.Diff(ctx, g.Tree, now)
	if err != nil {
		return fmt.Errorf("find what changed during the review: %w", err)
	}
	g.Reason = "the work tree changed while it was reviewed: " + plan.Few(git.Paths(changed), maxListedFiles)
	g.Status, g.RetriesSpent, g.Tree = gate.Unknown, false, now
	return nil
}

// reviewRequest returns the request to a reviewer about a claim.
func (r *Runner) reviewRequest(ctx context.Context, a loop.RunGates, m memory.ActionContext) (review.Request, error) {
	q := review.Request{Base: m.Start.Tree, Tree: a.ReviewTree, Goal: r.Spec.Prompt, Guard: r.checkReviewerCall}
	if r.Spec.Policy.Kind == loop.Answer {
		q.Answer = m.Answer
	}
	if q.Tree == "" {
		var err error
		if q.Tree, _, err = r.Repo.Snapshot(ctx); err != nil {
			return q, fmt.Errorf("take the tree to review: %w", err)
		}
	}
	for _, id := range a.Claimed {
		if t, ok := r.taskOf(id, m.Tasks); ok {
			q.Tasks = append(q.Tasks, t)
		}
	}
	f := m.ClaimGates
	if f == nil {
		return q, nil
	}
	results := commandResults(m.Results)
	if ids := strings.Fields(f.Receipt); len(ids) == len(results) {
		for i, res := range results {
			q.Receipts = append(q.Receipts, prompt.Receipt{ID: ids[i], Result: res})
		}
	}
	q.Labels = slices.Clone(f.Labels)
	q.Tests = f.TestsChanged
	if len(f.TestsChanged) > 0 {
		q.Labels = append(q.Labels, "the gates pass only with these changed tests, not with the originals: "+strings.Join(f.TestsChanged, ", "))
	}
	signs, err := verify.Signs(ctx, r.Repo, verify.SignRequest{Tests: r.Spec.Tests, Before: q.Base, After: q.Tree, Asked: r.spec().TaskText(a.Claimed)})
	if err != nil {
		return q, err
	}
	for _, s := range signs {
		q.Labels = append(q.Labels, "look at: "+s.String())
	}
	if q.Answer == "" {
		q.Labels = append(q.Labels, fmt.Sprintf("evidence so far: %s (%s)", f.Evidence, f.Reason))
	}
	return q, nil
}

// taskOf returns a task as the plan has it. It returns false for the goal itself.
func (r *Runner) taskOf(id string, tasks loop.Tasks) (plan.Task, bool) {
	if t, ok := r.plan.Current().Task(id); ok {
		return t, true
	}
	t, ok := tasks.Task(id)
	return plan.Task{ID: t.ID, Title: t.Title}, ok && id != loop.GoalTask
}

func commandResults(results []gate.Result) []gate.Result {
	return slices.DeleteFunc(slices.Clone(results), func(res gate.Result) bool { return res.Kind == gate.ByReview })
}

// checkReviewerCall checks a tool call of a reviewer.
func (r *Runner) checkReviewerCall(c toolcall.Call) agent.Verdict {
	v := guard.Check(c, r.spec().GuardRules(r.guardDirs(), record.TurnScope{}))
	return agent.Verdict{Allow: v.Decision == guard.Allow, Reason: v.Reason}
}
