package verify

import (
	"context"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/plan"
)

// A task may fail for a reason outside of the work: a program that is gone, a service that is down,
// the date. Then the gates fail on the tree from before the task, too, and so will each later task.

// BaselineAgain is Baseline for the tree of a task that failed: what passed there runs once more.
// If nothing of a gate passes any more, it cannot start: it would tell nothing about further tasks.
// If some tests still pass, the new result is the baseline from now on. changed says what no longer
// passes.
func (v *Verifier) BaselineAgain(ctx context.Context, tree string, gates []gate.Gate, logDir string) (results []gate.Result, changed []string, err error) {
	if results, err = v.Baseline(ctx, tree, gates, logDir); err != nil {
		return nil, nil, err
	}
	w := runTarget{root: v.Root, tree: tree, logDir: logDir}
	for i, g := range gates {
		known := results[i]
		if !known.Cached || known.Status == gate.Unknown || known.Passed == 0 && known.Status != gate.Pass {
			continue
		}
		now, fails, err := v.failsNow(ctx, g, known, w)
		if err != nil {
			return nil, nil, err
		}
		if len(fails) == 0 {
			continue
		}
		if fails[0] != g.Name {
			now.Reason = plan.Few(fails, 4) + withColon(now.Reason)
		}
		now.Reason = "passed on the same files before, so the work is not the cause: " + now.Reason
		if now.Passed > 0 {
			v.cacheResults(ctx, g, w, []gate.Result{now, now})
			changed = append(changed, g.Name+": "+now.Reason)
		} else {
			now.Status, now.CannotStart = gate.Unknown, true
		}
		results[i] = now
	}
	return results, changed, nil
}

// failsNow runs a gate again and returns what fails though it passed before: in the work tree and in
// a checkout, since files that git ignores may have changed in the work tree.
func (v *Verifier) failsNow(ctx context.Context, g gate.Gate, known gate.Result, w runTarget) (now gate.Result, fails []string, err error) {
	for _, place := range []string{"", checkoutPlace} {
		at := w.forGate(g)
		at.uncached = true
		if place != "" {
			at.checkout, at.root = place, ""
		}
		r, err := v.run(ctx, g, at)
		if err != nil {
			return now, nil, err
		}
		v.report(Progress{Gate: g.Name, Result: &r})
		if fails = known.PassesButFailsIn(r); r.CannotStart {
			fails = []string{g.Name}
		}
		if len(fails) == 0 {
			return r, nil, nil
		}
		if place == "" {
			now = r
		}
		if g.InWorkTree {
			break
		}
	}
	return now, fails, nil
}
