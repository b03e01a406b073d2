package launch

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/runner"
)

const (
	claimRetryTimeout = 10 * time.Second // that claims may hold up the turn of a task
	minClaimPause     = time.Minute      // after the first failure; it doubles with each one
	maxClaimPause     = time.Hour
)

// claimRetry makes the claims that are missing because the tracker was out of reach when
// the loop was resumed. It asks before a task begins, at most once a task, and waits
// longer after each failure. Issues that are done are claimed when they are told.
type claimRetry struct {
	desk    *issueDesk
	task    string        // before whose turn it was last called
	pause   time.Duration // since the last failure
	next    time.Time     // no request before
	now     func() time.Time
	timeout time.Duration
}

func newClaimRetry(desk *issueDesk) *claimRetry {
	return &claimRetry{desk: desk, now: time.Now, timeout: claimRetryTimeout}
}

// beforeTurn implements runner.Runner.BeforeTurn. An issue that is somebody else's now
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
		err := c.desk.claim(ctx, i.ID)
		if err != nil && (ctx.Err() != nil || outOfReach(err)) {
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
	return slices.DeleteFunc(slices.Clone(c.desk.spec.Tracker.Issues), func(i record.Issue) bool {
		open := slices.ContainsFunc(of(tasks, i), func(t loop.Task) bool { return t.Status != loop.Done })
		return !open || !slices.Contains(c.desk.ledger.Unclaimed, i.ID)
	})
}
