package verify

import (
	"context"
	"slices"

	"github.com/pawl-dev/pawl/internal/core/gate"
)

// A claim with new tests or changed gate inputs needs a run in a clean checkout (gate.RepeatClean),
// whatever the work tree says. So that run comes first. If everything passes there, the work tree has nothing to add, and the
// claim costs one run of its gates less. If tests fail there, the work tree runs these alone: it tells
// whether the checkout is the reason.

// cleanResults returns the results of a claim from a clean checkout, or nil if the work tree must
// decide. It is nil for gates that failed before or that did not reproduce the loop's start in a
// checkout, and for claims without new tests or changed gate inputs.
func (c *claim) cleanResults(ctx context.Context) ([]gate.Result, error) {
	if c.GatesOnly || c.WantedEvidence == gate.Unproven || len(c.seen.Tests.New)+len(c.seen.Inputs.NonTests) == 0 || !c.canRunClean(ctx) {
		return nil, nil
	}
	clean, err := c.runClean(ctx, c.Gates, "")
	if err != nil {
		return nil, ctx.Err() // RepeatClean finds every other error again, and says it
	}
	if slices.ContainsFunc(clean.Results, func(res gate.Result) bool { return !isPlainPass(res) }) {
		return c.failsHereToo(ctx, clean.Results)
	}
	c.seen.Runs[gate.RepeatClean] = clean
	for i, g := range c.Gates { // the next task begins from this tree
		c.cacheResults(ctx, g, c.here(), clean.Results[i:i+1])
	}
	return clean.Results, nil
}

// canRunClean reports whether every gate runs in the clean checkout as in the work tree, and the
// work tree has no results yet.
func (c *claim) canRunClean(ctx context.Context) bool {
	here := c.here()
	return !slices.ContainsFunc(c.Gates, func(g gate.Gate) bool {
		passed := slices.ContainsFunc(c.seen.Baseline, func(b gate.Result) bool { return b.Gate == g.Name && b.Status == gate.Pass })
		return !passed || g.InWorkTree || here.forGate(g).checkout != "" || !slices.Contains(c.seen.Clean.ReproducedAtStart, g.Name) ||
			len(c.cachedResults(ctx, g, here)) > 0
	})
}

// failsHereToo returns the results of the clean checkout if the tests that fail there fail in the work
// tree, too; nil if the whole gates must run there.
func (c *claim) failsHereToo(ctx context.Context, clean []gate.Result) ([]gate.Result, error) {
	for _, there := range clean {
		if isPlainPass(there) {
			continue
		}
		few, narrowed := narrowToTests(c.Root, gatesNamed(c.Gates, []string{there.Gate}), there.Failing)
		if there.Status != gate.Fail || len(there.Failing) == 0 || !narrowed[there.Gate] {
			return nil, nil
		}
		here, err := c.runAll(ctx, few, runTarget{root: c.Root, logDir: c.LogDir, probe: gate.RepeatAfter})
		if err != nil {
			return nil, err
		}
		if here[0].Status != gate.Fail || !slices.Equal(here[0].Failing, there.Failing) {
			return nil, nil
		}
	}
	return clean, nil
}

// isPlainPass reports whether a gate passed and nothing in the result calls for another run.
func isPlainPass(r gate.Result) bool {
	return r.Status == gate.Pass && !r.Flaky && r.Warning == "" && !r.MasksFailures && len(r.WrittenTests) == 0
}
