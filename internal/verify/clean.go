package verify

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/git"
)

// A repeat in the work tree believes what the first run believed: a product that git
// ignores and that is newer than its sources, a package that a build cache keeps for
// this folder. In a clean checkout of the same tree, at a path of its own, neither
// counts.

// cleanly is the place of such repeats: their results are kept apart from others of
// the worktree.
const cleanly = "clean"

// repeatClean runs gates on the tree of now in a clean checkout: in a fresh one, at a
// path that nobody knew before, where no set-up must make it ready.
func (v *Verifier) repeatClean(ctx context.Context, r Request, gates []gate.Gate) (gate.Run, error) {
	w := where{place: cleanly, tree: r.Tree, logDir: r.LogDir, probe: gate.RepeatClean}
	if v.place != nil && len(v.Setup) == 0 && !v.allKept(ctx, gates, w) {
		if err := v.leave(ctx); err != nil {
			return gate.Run{}, err
		}
	}
	return answer(v.elsewhere(ctx, gates, w))
}

// ownPaths has Go compile for the folder that it runs in. With -trimpath, what was
// compiled of the same files in another would do.
func ownPaths(env []string) []string {
	for _, kv := range env {
		if strings.HasPrefix(kv, "GOFLAGS=") && strings.Contains(kv, "-trimpath") {
			return []string{kv + " -trimpath=false"}
		}
	}
	return nil
}

// leftIn is what git ignores in a clean checkout, with size and time: a run that
// changes it may tell the next run from itself. It is false where that cannot be told.
func leftIn(ctx context.Context, root string) (map[string]string, bool) {
	repo, err := git.Open(ctx, root)
	if err != nil {
		return nil, false
	}
	ignored, err := repo.Ignored(ctx)
	left := map[string]string{}
	for _, name := range ignored {
		left[name] = "gone"
		if info, err := os.Lstat(filepath.Join(repo.Root(), filepath.FromSlash(name))); err == nil {
			left[name] = fmt.Sprint(info.Size(), info.ModTime().UnixNano())
		}
	}
	return left, err == nil
}

// settledCleanly runs a gate until it has told, and looks what that left behind.
func (v *Verifier) settledCleanly(ctx context.Context, g gate.Gate, w where) (gate.Result, error) {
	before, known := leftIn(ctx, w.root)
	r, err := v.settled(ctx, g, w)
	after, stillKnown := leftIn(ctx, w.root)
	r.Left = !known || !stillKnown || !maps.Equal(before, after)
	return r, err
}
