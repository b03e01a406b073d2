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
	"github.com/pawl-dev/pawl/internal/store/journal"
	"github.com/pawl-dev/pawl/internal/tracker"
)

// claimIssues claims the issues with open tasks, before anything is spent. It releases
// them if one cannot be had. A loop that has worked before goes on without a claim where
// the tracker is out of reach.
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
		if reason == nil { // nor would it answer about this one
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
			return errors.Join(failure.New(failure.CodeOf(err), failure.Hint(err), "claim issue %s: %w", i.Key, err), client.releaseAll(ctx))
		}
	}
	if reason == nil {
		return nil
	}
	d.BeforeTurn = newClaimRetry(client).beforeTurn
	d.Unclaimed = fmt.Sprintf("the tracker is out of reach, so this loop goes on without a claim of %s: %v; it is asked again before each task", strings.Join(missed, ", "), reason)
	_, err = d.Owner.Append(journal.Entry{Type: memory.TypeNote, Data: memory.Note{Level: loop.Warning, Text: d.Unclaimed}})
	return err
}

// tasksOf are the tasks of an issue.
func tasksOf(tasks []loop.Task, i record.Issue) []loop.Task {
	return slices.DeleteFunc(slices.Clone(tasks), func(t loop.Task) bool { return !slices.Contains(i.Tasks, t.ID) })
}

// isUnreachable reports whether a tracker gave no answer, or one that says to ask later.
func isUnreachable(err error) bool {
	trackerErr, ok := errors.AsType[*tracker.Error](err)
	return !ok || trackerErr.Retry
}

// claim claims an issue. That it is begun is noted first: a claim that nobody knows of
// would stay. One that was begun before, by a process that died, counts as the loop's.
func (d *issueClient) claim(ctx context.Context, id string) error {
	begun := slices.Contains(d.ledger.Claiming, id)
	if !begun {
		d.ledger.Claiming = append(d.ledger.Claiming, id)
		if err := d.save(); err != nil {
			return err
		}
	}
	answer, err := d.ask(ctx, tracker.Request{Do: tracker.Claim, Issue: id})
	if err != nil && isUnreachable(err) { // it may have been made all the same
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

// continueUnclaimed notes that the loop works on an issue that it could not claim. It returns an
// error if the tracker refused the claim when it last answered.
func (d *issueClient) continueUnclaimed(id string) error {
	if why := d.ledger.Refused[id]; why != "" {
		return failure.New(failure.Usage, "pawl resume "+d.loop.ID+" asks again when the tracker is in reach", "%s, when the tracker last answered", why)
	}
	if !slices.Contains(d.ledger.Unclaimed, id) {
		d.ledger.Unclaimed = append(d.ledger.Unclaimed, id)
	}
	return d.save()
}

// releaseAll takes all claims back, without a word.
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
	claimRetryTimeout = 10 * time.Second // that claims may hold up the turn of a task
	minClaimPause     = time.Minute      // after the first failure; it doubles with each one
	maxClaimPause     = time.Hour
)

// claimRetry makes the claims that are missing because the tracker was out of reach when
// the loop was resumed. It asks before a task begins, at most once a task, and waits
// longer after each failure. Issues that are done are claimed when they are told.
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

// explainCancel implements runner.Runner.BeforeTurn. An issue that is somebody else's now
// stops the loop.
func (c *claimRetry) beforeTurn(ctx context.Context, f loop.Facts) runner.Advice {
	first := c.task == ""
	if c.task == f.Current {
		return runner.Advice{}
	}
	c.task = f.Current
	if first || c.now().Before(c.next) { // at first it has just been asked
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

// missing are the issues with open tasks that the loop works on without a claim.
func (c *claimRetry) missing(tasks []loop.Task) []record.Issue {
	return slices.DeleteFunc(slices.Clone(c.client.spec.Tracker.Issues), func(i record.Issue) bool {
		open := slices.ContainsFunc(tasksOf(tasks, i), func(t loop.Task) bool { return t.Status != loop.Done })
		return !open || !slices.Contains(c.client.ledger.Unclaimed, i.ID)
	})
}
