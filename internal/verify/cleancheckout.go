package verify

import (
	"context"
	"maps"
	"slices"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/work"
)

// A repeat in the work tree trusts what the first run trusted: git-ignored build products newer than
// their sources, packages that a build cache keeps for this path. A clean checkout has neither.

// The runTarget.checkout of runs in the checkout. Results of clean runs are cached apart from others.
const (
	checkoutPlace = "worktree"
	cleanPlace    = "clean"
)

// runClean runs gates on the current tree in a clean checkout: a fresh one at a new path, unless
// it needs a setup. The probe is what watchers are told.
func (c *claim) runClean(ctx context.Context, gates []gate.Gate, probe gate.Probe) (gate.Run, error) {
	w := runTarget{root: c.Root, tree: c.Tree, logDir: c.LogDir, probe: probe, uncached: true}
	here, err := c.runAll(ctx, slices.DeleteFunc(slices.Clone(gates), func(g gate.Gate) bool { return !g.InWorkTree }), w)
	if err != nil {
		return gate.Run{}, err
	}
	gates = slices.DeleteFunc(slices.Clone(gates), func(g gate.Gate) bool { return g.InWorkTree })
	w = runTarget{checkout: cleanPlace, tree: c.Tree, logDir: c.LogDir, probe: probe}
	if !c.allCached(ctx, gates, w) {
		c.Checkout.RequireFreshCheckout()
	}
	there, err := c.runInCheckout(ctx, gates, w)
	return gate.Run{Results: slices.Concat(here, there)}, err
}

// repeatClean runs gates in a clean checkout, those twice in which something fails only there: it may
// fail by chance. It looks for what may be the reason.
func (c *claim) repeatClean(ctx context.Context, w runTarget, gates []gate.Gate) (gate.Run, error) {
	run, err := c.runClean(ctx, gates, w.probe)
	w.checkout, w.tree = cleanPlace, c.Tree
	for i, first := range run.Results {
		g := slices.IndexFunc(gates, func(g gate.Gate) bool { return g.Name == first.Gate && !g.InWorkTree })
		if err != nil || g < 0 || !c.onlyFailsThere(first) {
			continue
		}
		c.Checkout.RequireFreshCheckout()
		var again []gate.Result
		if again, err = c.runInCheckout(ctx, gates[g:g+1], w); err == nil && !c.onlyFailsThere(again[0]) {
			run.Results[i] = again[0]
		}
	}
	if err == nil && slices.ContainsFunc(run.Results, func(r gate.Result) bool { return r.Status != gate.Pass }) {
		c.seen.Clean.ChangedIgnoredFiles, err = c.ChangedIgnoredFiles(ctx)
	}
	return run, err
}

// onlyFailsThere reports whether something fails in a result from a checkout that passes in the work
// tree.
func (c *claim) onlyFailsThere(there gate.Result) bool {
	here := slices.IndexFunc(c.seen.Now, func(r gate.Result) bool { return r.Gate == there.Gate })
	return here >= 0 && there.FailsWhere(c.seen.Now[here])
}

// runCleanGate runs a gate in the clean checkout and records whether it left files.
func (v *Verifier) runCleanGate(ctx context.Context, g gate.Gate, w runTarget) (gate.Result, error) {
	before, known := v.Checkout.IgnoredFiles(ctx)
	r, err := v.runUntilDecided(ctx, g, w)
	after, stillKnown := v.Checkout.IgnoredFiles(ctx)
	r.LeftFiles = !known || !stillKnown || !maps.Equal(before, after)
	return r, err
}

// discardBuildProducts makes the next run use a fresh checkout if a claim added sources. Build
// tools may keep the product of a removed source.
func (c *claim) discardBuildProducts() {
	adds := slices.ContainsFunc(c.changes, func(ch git.Change) bool {
		return ch.Status == 'A' && !c.isTest(ch.Path) && (work.IsSource(ch.Path) || work.IsScript(ch.Path))
	})
	if adds {
		c.Checkout.RequireFreshCheckout()
	}
}

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
