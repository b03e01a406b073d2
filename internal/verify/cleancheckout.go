package verify

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/atomicfile"
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
		c.renew()
	}
	there, err := c.runInCheckout(ctx, gates, w)
	return gate.Run{Results: slices.Concat(here, there)}, err
}

// repeatClean runs gates in a clean checkout, and looks for what may be the reason if they fail.
func (c *claim) repeatClean(ctx context.Context, w runTarget, gates []gate.Gate) (gate.Run, error) {
	run, err := c.runClean(ctx, gates, w.probe)
	if slices.ContainsFunc(run.Results, func(r gate.Result) bool { return r.Status != gate.Pass }) {
		c.seen.Clean.ChangedIgnoredFiles, err = c.ChangedIgnoredFiles(ctx)
	}
	return run, err
}

// goBuildEnv makes Go compile the work's packages for this checkout only, so that packages compiled
// by the agent do not count. Another path suffices, unless -trimpath removes paths. In a namespace
// the path is the same, so an unused compiler flag names the checkout.
func (k *checkouts) goBuildEnv(ctx context.Context, clean bool) []string {
	flags := variable(k.env, "GOFLAGS")
	switch {
	case k.inNamespace(ctx):
		if flags == "" { // the variable takes the place of the setting
			flags = settingIn(filepath.Join(k.keptHome(), ".config", "go", "env"), "GOFLAGS")
		}
		return []string{"GOFLAGS=" + strings.TrimSpace(flags+" -gcflags=-D="+filepath.Base(k.checkout.tree.Root()))}
	case clean && strings.Contains(flags, "-trimpath"):
		return []string{"GOFLAGS=" + flags + " -trimpath=false"}
	}
	return nil
}

// settingIn returns a variable's value from a file of NAME=VALUE lines.
func settingIn(file, name string) string {
	data, err := atomicfile.Read(file, maxSettings)
	if err != nil {
		return ""
	}
	return variable(strings.Split(string(data), "\n"), name)
}

// ignoredInCheckout returns size and time of the ignored files in the clean checkout, and false if
// unknown. A run that changes them could tell the next run about itself.
func (k *checkouts) ignoredInCheckout(ctx context.Context) (map[string]string, bool) {
	left := map[string]string{}
	if k.checkout.pristine {
		return left, true
	}
	ignored, err := k.checkout.tree.Ignored(ctx)
	for _, name := range ignored {
		left[name] = "gone"
		if info, err := os.Lstat(filepath.Join(k.checkout.tree.Root(), filepath.FromSlash(name))); err == nil {
			left[name] = fmt.Sprint(info.Size(), info.ModTime().UnixNano())
		}
	}
	return left, err == nil
}

// runCleanGate runs a gate in the clean checkout and records whether it left files.
func (v *Verifier) runCleanGate(ctx context.Context, g gate.Gate, w runTarget) (gate.Result, error) {
	before, known := v.ignoredInCheckout(ctx)
	r, err := v.runUntilDecided(ctx, g, w)
	after, stillKnown := v.ignoredInCheckout(ctx)
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
		c.renew()
	}
}
