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

// A repeat in the work tree believes what the first run believed: a product that git
// ignores and that is newer than its sources, a package that a build cache keeps for
// this folder. In a clean checkout of the same tree neither
// counts.

// cleanly is the place of such repeats: their results are kept apart from others of
// the worktree.
const cleanly = "clean"

// repeatClean runs gates on the tree of now in a clean checkout: in a fresh one, at a
// path that nobody knew before, where no set-up must make it ready.
func (v *Verifier) repeatClean(ctx context.Context, r Request, gates []gate.Gate) (gate.Run, error) {
	w := runTarget{root: v.Root, tree: r.Tree, logDir: r.LogDir, probe: gate.RepeatClean, uncached: true}
	here, err := v.all(ctx, slices.DeleteFunc(slices.Clone(gates), func(g gate.Gate) bool { return !g.InWorkTree }), w)
	if err != nil {
		return gate.Run{}, err
	}
	gates = slices.DeleteFunc(slices.Clone(gates), func(g gate.Gate) bool { return g.InWorkTree })
	w = runTarget{place: cleanly, tree: r.Tree, logDir: r.LogDir, probe: gate.RepeatClean}
	if v.place != nil && len(v.Setup) == 0 && !v.allKept(ctx, gates, w) {
		v.place.stale = true
	}
	there, err := v.elsewhere(ctx, gates, w)
	return gate.Run{Results: slices.Concat(here, there)}, err
}

// ownBuild has Go compile the packages of the work for this checkout alone: what an agent
// had compiled of them does not count. At another path it does so by itself, unless
// -trimpath makes paths equal. In a namespace the path is the work tree's: then the
// compiler is given a name of the checkout, of which it makes nothing.
func (v *Verifier) ownBuild(ctx context.Context, w runTarget) []string {
	flags := variable(v.env, "GOFLAGS")
	switch {
	case v.inNamespace(ctx):
		if flags == "" { // the variable takes the place of the setting
			flags = setting(filepath.Join(v.keptHome(), ".config", "go", "env"), "GOFLAGS")
		}
		return []string{"GOFLAGS=" + strings.TrimSpace(flags+" -gcflags=-D="+filepath.Base(v.place.tree.Root()))}
	case w.place == cleanly && strings.Contains(flags, "-trimpath"):
		return []string{"GOFLAGS=" + flags + " -trimpath=false"}
	}
	return nil
}

// setting is the value of a variable in a file of lines NAME=VALUE.
func setting(file, name string) string {
	data, err := atomicfile.Read(file, maxSettings)
	if err != nil {
		return ""
	}
	return variable(strings.Split(string(data), "\n"), name)
}

// leftInPlace is what git ignores in the clean checkout, with size and time: a run that
// changes it may tell the next run from itself. It is false where that cannot be told.
func (v *Verifier) leftInPlace(ctx context.Context) (map[string]string, bool) {
	left := map[string]string{}
	if v.place.untouched {
		return left, true
	}
	ignored, err := v.place.tree.Ignored(ctx)
	for _, name := range ignored {
		left[name] = "gone"
		if info, err := os.Lstat(filepath.Join(v.place.tree.Root(), filepath.FromSlash(name))); err == nil {
			left[name] = fmt.Sprint(info.Size(), info.ModTime().UnixNano())
		}
	}
	return left, err == nil
}

// runCleanUntilDecided runs a gate until it has told, and looks what that left behind.
func (v *Verifier) runCleanUntilDecided(ctx context.Context, g gate.Gate, w runTarget) (gate.Result, error) {
	before, known := v.leftInPlace(ctx)
	r, err := v.runUntilDecided(ctx, g, w)
	after, stillKnown := v.leftInPlace(ctx)
	r.LeftFiles = !known || !stillKnown || !maps.Equal(before, after)
	return r, err
}

// withoutProducts has the next tree judged in a fresh checkout where a claim added
// sources: a build tool may take the product of a source that is gone for up to date.
func (v *Verifier) withoutProducts(ctx context.Context, r Request) error {
	changes, err := v.Repo.Diff(ctx, r.Base, r.Tree)
	adds := slices.ContainsFunc(changes, func(ch git.Change) bool {
		return ch.Status == 'A' && !v.isTest(ch.Path) && (work.IsSource(ch.Path) || work.IsScript(ch.Path))
	})
	if err != nil || !adds || v.place == nil || len(v.Setup) > 0 {
		return err
	}
	v.place.stale = true
	return nil
}
