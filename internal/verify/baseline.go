package verify

import (
	"context"
	"fmt"
	"slices"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/git"
)

// Baseline returns the gates' results on the tree that a task starts with, which the work tree
// should hold. It runs failed gates again now: later the tree is no longer here to confirm a flip.
func (v *Verifier) Baseline(ctx context.Context, tree string, gates []gate.Gate, logDir string) ([]gate.Result, error) {
	w := runTarget{root: v.Root, tree: tree, logDir: logDir}
	here := false // when this began
	if !v.allCached(ctx, gates, w) {
		var err error
		if here, err = v.workTreeIs(ctx, tree); err != nil {
			return nil, err
		}
		// Hooks, the agent's shell and the user's have not all the same variables.
		if w.cacheOnly = !here; w.cacheOnly && !v.allCached(ctx, gates, w) {
			w.cacheOnly = false
			return v.baselineInCheckout(ctx, gates, w)
		}
	}
	results, err := v.runAll(ctx, gates, w)
	if err != nil {
		return nil, err
	}
	w.uncached = true
	for i, g := range gates {
		if results[i].Status != gate.Fail || v.allCached(ctx, gates[i:i+1], w) {
			continue
		}
		if still, err := v.workTreeStillIs(ctx, tree, here); err != nil || !still {
			continue // a gate wrote over the tree, or this is a later claim: no repeat, no flip
		}
		if _, err := v.cachedOrRun(ctx, g, w); err != nil {
			return nil, err
		}
	}
	return results, nil
}

// workTreeIs reports whether the work tree holds a tree. Without git it always does.
func (v *Verifier) workTreeIs(ctx context.Context, tree string) (bool, error) {
	if v.Repo == nil {
		return true, nil
	}
	now, _, err := v.Repo.Resnapshot(ctx)
	if err != nil {
		return false, fmt.Errorf("compare the work tree with the baseline: %w", err)
	}
	return v.withoutMarks(ctx, now) == v.withoutMarks(ctx, tree), nil
}

// workTreeStillIs is workTreeIs after gates ran. If it held the tree before, untracked files that
// they wrote (a cover profile) do not count.
func (v *Verifier) workTreeStillIs(ctx context.Context, tree string, before bool) (bool, error) {
	if same, err := v.workTreeIs(ctx, tree); err != nil || same || !before {
		return same, err
	}
	now, _, err := v.Repo.Resnapshot(ctx)
	if err != nil {
		return false, fmt.Errorf("find what the gates wrote: %w", err)
	}
	changes, err := v.Repo.Diff(ctx, v.withoutMarks(ctx, tree), v.withoutMarks(ctx, now))
	if err != nil {
		return false, fmt.Errorf("find what the gates wrote: %w", err)
	}
	status, err := v.Repo.Status(ctx)
	if err != nil {
		return false, fmt.Errorf("find what the gates wrote: %w", err)
	}
	return !slices.ContainsFunc(changes, func(c git.Change) bool { return !slices.Contains(status.Untracked, c.Path) }), nil
}

// baselineInCheckout is for a tree that the work tree no longer holds. A failure there is unknown
// unless checkouts are known to reproduce the gate, or the work tree gives the same result now, as
// after an edit of the user's: else the checkout may lack something.
func (v *Verifier) baselineInCheckout(ctx context.Context, gates []gate.Gate, w runTarget) ([]gate.Result, error) {
	results, err := v.runInCheckout(ctx, gates, w)
	if ctx.Err() != nil {
		return nil, err
	}
	if err != nil {
		results = nil
		for _, g := range gates {
			results = append(results, v.unknownResult(g, w.tree, err))
		}
	}
	reproduced, err := v.reproducedAtStart()
	if err != nil {
		return nil, err
	}
	for i, g := range gates {
		if results[i].Status != gate.Fail || slices.Contains(reproduced, g.Name) {
			continue
		}
		now, err := v.resultNow(ctx, g, w.logDir)
		if err != nil {
			return nil, err
		}
		if !gate.Reproduces(results[i], now) {
			results[i].Status = gate.Unknown
			results[i].Reason = "fails in a checkout of the tree that the task started with, but the work tree has changed since, so the checkout may be the cause: " + results[i].Reason
		}
	}
	return results, nil
}

// resultNow returns a gate's result in the work tree as it is now.
func (v *Verifier) resultNow(ctx context.Context, g gate.Gate, logDir string) (gate.Result, error) {
	tree, _, err := v.Repo.Resnapshot(ctx)
	if err != nil {
		return gate.Result{}, fmt.Errorf("compare a checkout with the work tree: %w", err)
	}
	return v.cachedOrRun(ctx, g, runTarget{root: v.Root, tree: tree, logDir: logDir})
}

// repeatBefore returns the second results of the baseline, cached or from a checkout. A failure in
// a checkout counts only if what passed before passes there too. If nothing passed, checkouts must have
// reproduced the gate at the loop's start.
func (c *claim) repeatBefore(ctx context.Context, w runTarget, gates []gate.Gate) (gate.Run, error) {
	w.tree = c.Base
	if w.cacheOnly = !c.allCached(ctx, gates, w); !w.cacheOnly || c.allCached(ctx, gates, w) {
		return asRun(c.runAll(ctx, gates, w))
	}
	w.cacheOnly = false
	results, err := c.runInCheckout(ctx, gates, w)
	if err != nil {
		return gate.Run{}, err
	}
	for i, again := range results {
		before := c.seen.Baseline[slices.IndexFunc(c.seen.Baseline, func(b gate.Result) bool { return b.Gate == again.Gate })]
		if !reproducesPasses(before, again, slices.Contains(c.seen.Clean.ReproducedAtStart, again.Gate)) {
			results[i].Status, results[i].Reason = gate.Unknown, "what passed before fails in the worktree"
		}
	}
	return gate.Run{Results: results}, nil
}

func reproducesPasses(before, again gate.Result, atStart bool) bool {
	passed := 0
	for id, s := range before.Tests {
		if s == gate.Pass {
			if again.Tests[id] != gate.Pass {
				return false
			}
			passed++
		}
	}
	return passed > 0 || again.Status == gate.Pass || atStart
}
