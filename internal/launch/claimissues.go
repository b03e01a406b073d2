package launch

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/environment"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/runner"
	"github.com/pawl-dev/pawl/internal/tracker"
)

// claimIssues claims the issues with open tasks before the first turn. If one claim fails it
// releases all. A loop that has worked before continues without a claim if the tracker is
// unreachable.
func (d *Driver) claimIssues(ctx context.Context, s loop.State, env environment.Environment) error {
	if d.Spec.Tracker == nil {
		return nil
	}
	client, err := openIssues(d.Loop, d.Spec, env)
	if err != nil {
		return err
	}
	tasks := d.Spec.Tasks
	if d.wasSetUp {
		tasks = s.Tasks
	}
	var missed []string
	var reason error
	for _, i := range d.Spec.Tracker.Issues {
		if slices.Contains(client.ledger.Claimed, i.ID) || !slices.ContainsFunc(tasksOf(tasks, i), func(t loop.Task) bool { return t.Status != loop.Done }) {
			continue
		}
		var err error
		if reason == nil { // else the tracker is unreachable for this one too
			err = client.claim(ctx, i.ID)
		}
		if d.wasSetUp && ctx.Err() == nil && (reason != nil || err != nil && isUnreachable(err)) {
			if err != nil {
				reason = err
			}
			missed = append(missed, i.Key)
			err = client.continueUnclaimed(i.ID)
		}
		if err != nil {
			return errors.Join(fmt.Errorf("claim issue %s: %w", i.Key, err), client.releaseAll(ctx))
		}
	}
	if reason == nil {
		return nil
	}
	d.BeforeTurn = newClaimRetry(client).beforeTurn
	d.Unclaimed = fmt.Sprintf("cannot reach the tracker, so this loop continues without a claim of %s: %v; Pawl tries again before each task", strings.Join(missed, ", "), reason)
	return record.AppendNote(d.Owner, memory.Note{Level: loop.Warning, Text: d.Unclaimed}, d.Redact.String)
}

// tasksOf returns the tasks of an issue.
func tasksOf(tasks []loop.Task, i record.Issue) []loop.Task {
	return slices.DeleteFunc(slices.Clone(tasks), func(t loop.Task) bool { return !slices.Contains(i.Tasks, t.ID) })
}

// isUnreachable reports whether a tracker gave no answer, or asked to retry later.
func isUnreachable(err error) bool {
	trackerErr, ok := errors.AsType[*tracker.Error](err)
	return !ok || trackerErr.Retry
}

// claim claims an issue. It records the attempt first, so that a claim of a process that died
// is released later. Such a claim counts as the loop's.
func (d *issueClient) claim(ctx context.Context, id string) error {
	begun := slices.Contains(d.ledger.Claiming, id)
	if !begun {
		d.ledger.Claiming = append(d.ledger.Claiming, id)
		if err := d.save(); err != nil {
			return err
		}
	}
	answer, err := d.ask(ctx, tracker.Request{Do: tracker.Claim, Issue: id})
	if err != nil && isUnreachable(err) { // the claim may have succeeded nevertheless
		return err
	}
	d.ledger.Claiming, d.ledger.Unclaimed = remove(d.ledger.Claiming, id), remove(d.ledger.Unclaimed, id)
	delete(d.ledger.Refused, id)
	switch {
	case err != nil:
		if d.ledger.Refused == nil {
			d.ledger.Refused = map[string]string{}
		}
		d.ledger.Refused[id] = err.Error()
	case answer.Changed || begun:
		d.ledger.Claimed = append(d.ledger.Claimed, id)
	}
	return errors.Join(err, d.save())
}

// continueUnclaimed records that the loop works on an issue that it could not claim. It returns
// an error if the tracker refused the last claim.
func (d *issueClient) continueUnclaimed(id string) error {
	if why := d.ledger.Refused[id]; why != "" {
		return failure.New(failure.Usage, "pawl resume "+d.loop.ID+" tries again when the tracker can be reached", "%s, when the tracker answered last", why)
	}
	if !slices.Contains(d.ledger.Unclaimed, id) {
		d.ledger.Unclaimed = append(d.ledger.Unclaimed, id)
	}
	return d.save()
}

// releaseAll releases all claims, without a comment.
func (d *issueClient) releaseAll(ctx context.Context) error {
	var failed error
	for _, id := range slices.Clone(d.ledger.Claimed) {
		failed = errors.Join(failed, d.report(ctx, tracker.Request{Do: tracker.Blocked, Issue: id}))
	}
	return failed
}

func remove(ids []string, id string) []string {
	return slices.DeleteFunc(ids, func(other string) bool { return other == id })
}

const (
	claimRetryTimeout = 10 * time.Second // maximum delay of a task's turn by claims
	minClaimPause     = time.Minute      // after the first failure; it doubles with each one
	maxClaimPause     = time.Hour
)

// claimRetry retries claims that failed because the tracker was unreachable when the loop was
// resumed. It tries before a task starts, at most once per task, and waits longer after each
// failure. Issues that are done are claimed when their end is reported.
type claimRetry struct {
	client  *issueClient
	task    string        // before whose turn it was last called
	pause   time.Duration // since the last failure
	next    time.Time     // no request before
	now     func() time.Time
	timeout time.Duration
}

func newClaimRetry(desk *issueClient) *claimRetry {
	return &claimRetry{client: desk, now: time.Now, timeout: claimRetryTimeout}
}

// beforeTurn implements runner.Callbacks.BeforeTurn. If another one has claimed an issue
// meanwhile, the loop stops.
func (c *claimRetry) beforeTurn(ctx context.Context, f loop.Facts) runner.Advice {
	first := c.task == ""
	if c.task == f.Current {
		return runner.Advice{}
	}
	c.task = f.Current
	if first || c.now().Before(c.next) { // the first call comes right after the last try
		return runner.Advice{}
	}
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	var claimed []string
	for _, i := range c.missing(f.Tasks) {
		err := c.client.claim(ctx, i.ID)
		if err != nil && (ctx.Err() != nil || isUnreachable(err)) {
			c.pause = min(max(2*c.pause, minClaimPause), maxClaimPause)
			c.next = c.now().Add(c.pause)
			break
		}
		if err != nil {
			return runner.Advice{Stop: fmt.Sprintf("claim issue %s: %v", i.Key, err)}
		}
		claimed = append(claimed, i.Key)
	}
	if len(claimed) == 0 {
		return runner.Advice{}
	}
	return runner.Advice{Note: "the tracker answers again: " + strings.Join(claimed, ", ") + " claimed"}
}

// missing returns the issues with open tasks that the loop works on without a claim.
func (c *claimRetry) missing(tasks []loop.Task) []record.Issue {
	return slices.DeleteFunc(slices.Clone(c.client.spec.Tracker.Issues), func(i record.Issue) bool {
		open := slices.ContainsFunc(tasksOf(tasks, i), func(t loop.Task) bool { return t.Status != loop.Done })
		return !open || !slices.Contains(c.client.ledger.Unclaimed, i.ID)
	})
}
