package verify

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/deps"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/proc"
)

// checkout is the worktree in which gates run on other trees. It is reused for one tree after
// another, so that what the setup installed stays.
type checkout struct {
	tree *git.Worktree
	deps string // fingerprint of the lock files of the last setup
	// setUp is the setup's isolation. Each gate's home contains what the setup left there.
	setUp *isolation

	missing string // what the tree needs and nothing provides, or ""

	timedOut bool // a gate timed out and ran again with more time

	stale    bool // the next tree needs a fresh checkout, at another path
	pristine bool // it contains no ignored files
}

// setupTimeout bounds each setup command.
const setupTimeout = 15 * time.Minute

// CheckoutsDir is the folder of the checkouts below one of Pawl's own.
func CheckoutsDir(dir string) string { return filepath.Join(dir, "worktrees") }

// errNoGit means that there is no repository to check out from.
var errNoGit = errors.New("without git there is no other tree to compare with")

// checkOut prepares the checkout of a tree and returns where gates run in it.
func (v *Verifier) checkOut(ctx context.Context, tree string) (runTarget, error) {
	if v.Repo == nil {
		return runTarget{}, errNoGit
	}
	below, err := filepath.Rel(resolved(v.Repo.Root()), resolved(v.Root))
	if err != nil || !filepath.IsLocal(below) {
		return runTarget{}, fmt.Errorf("%s is not in the repository %s", v.Root, v.Repo.Root())
	}
	if err := v.ensureDependencies(ctx); err != nil {
		return runTarget{}, err
	}
	if err := v.resetCheckout(ctx, tree); err != nil {
		return runTarget{}, err
	}
	if err := v.prepare(ctx, tree); err != nil {
		return runTarget{}, err
	}
	return runTarget{root: filepath.Join(v.checkout.tree.Root(), below), checkout: "worktree", tree: tree}, nil
}

func resolved(dir string) string {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return real
	}
	return dir
}

func (v *Verifier) resetCheckout(ctx context.Context, tree string) error {
	if v.checkout != nil && !v.checkout.stale {
		if err := v.checkout.tree.Reset(ctx, tree); err == nil {
			return nil
		}
		// A gate may have left files that block a reset: start with a fresh checkout.
		if err := v.removeCheckout(ctx); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(CheckoutsDir(v.Dir), 0o700); err != nil {
		return fmt.Errorf("make worktree: %w", err)
	}
	dir, err := os.MkdirTemp(CheckoutsDir(v.Dir), "worktree-")
	if err != nil {
		return fmt.Errorf("make worktree: %w", err)
	}
	if v.checkout != nil {
		v.checkout.setUp.remove()
		if v.checkout.tree.Renew(ctx, dir, tree) == nil {
			v.checkout = &checkout{tree: v.checkout.tree}
			return v.copyIncluded(ctx)
		}
		if err := v.removeCheckout(ctx); err != nil {
			return err
		}
	}
	w, err := v.Repo.Worktree(ctx, dir, tree)
	if err != nil {
		return err
	}
	if v.inNamespace(ctx) { // there no other name of its files is in reach
		w.Watch(ctx)
	}
	v.checkout = &checkout{tree: w}
	return v.copyIncluded(ctx)
}

// copyIncluded copies the ignored files that the user wants in checkouts.
func (v *Verifier) copyIncluded(ctx context.Context) error {
	copied, err := v.Repo.CopyIncluded(ctx, v.checkout.tree.Root())
	if err != nil {
		return errors.Join(err, v.removeCheckout(context.WithoutCancel(ctx)))
	}
	v.checkout.pristine = len(copied) == 0
	return nil
}

// RemoveLeftCheckouts removes checkouts that a killed owner of the same Dir left. None of its
// processes may be alive.
func (v *Verifier) RemoveLeftCheckouts(ctx context.Context) error {
	left, err := os.ReadDir(CheckoutsDir(v.Dir))
	if len(left) == 0 || v.checkout != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	return v.Repo.RemoveWorktrees(ctx, CheckoutsDir(v.Dir))
}

// prepare runs the setup, or copies dependencies, in a fresh checkout and when the dependencies
// changed.
func (v *Verifier) prepare(ctx context.Context, tree string) error {
	if len(v.Setup) == 0 && len(v.installed.recorded.Folders) == 0 {
		return nil
	}
	locks, err := v.lockFiles(ctx, tree)
	done := locks + " " + strings.Join(v.installed.folders, " ")
	if err != nil || v.checkout.deps == done {
		return err
	}
	v.checkout.deps, v.checkout.missing, v.checkout.pristine = "", "", false
	if len(v.Setup) == 0 {
		if err := v.installDependencies(ctx, locks); err != nil {
			return err
		}
		v.checkout.deps = done
		return nil
	}
	v.checkout.setUp.remove()
	if v.checkout.setUp, err = v.isolate(ctx, nil); err != nil {
		return err
	}
	if err := v.runSetUp(ctx, v.checkout.tree.Root(), v.checkout.setUp); err != nil {
		return err
	}
	v.checkout.deps = done
	return nil
}

// SetUp runs the project's setup in a fresh worktree, each command with its own time limit.
func (v *Verifier) SetUp(ctx context.Context, dir string) error {
	return v.runSetUp(ctx, dir, nil)
}

func (v *Verifier) runSetUp(ctx context.Context, dir string, in *isolation) error {
	for _, text := range v.Setup {
		out := newOutput("", "", nil)
		limited, cancel := context.WithTimeout(ctx, setupTimeout)
		var c command
		c.argv, c.env = shellArgv(text)
		spec := v.spec(in, dir, "", c)
		spec.Stdout, spec.Stderr = out, out
		exit := proc.Run(limited, spec)
		cancel()
		if !exit.OK() {
			return fmt.Errorf("the worktree's set-up failed: %s: exit %d%s", text, exit.Code, withColon(lastLine(out.end())))
		}
	}
	return nil
}

// lockFiles fingerprints a tree's dependencies: lock files, and the manifests' relevant parts.
func (v *Verifier) lockFiles(ctx context.Context, tree string) (string, error) {
	entries, err := v.Repo.Select(ctx, tree, v.files.locked)
	if err != nil {
		return "", err
	}
	var found, ids []string
	manifests := map[string]string{}
	for file, e := range entries {
		if isManifest(file) {
			manifests[file], ids = e.ID, append(ids, e.ID)
		} else {
			found = append(found, file+" "+e.ID)
		}
	}
	contents, err := v.Repo.Blobs(ctx, ids)
	if err != nil {
		return "", err
	}
	for file, id := range manifests {
		found = append(found, file+" "+string(deps.Declared(file, contents[id])))
	}
	slices.Sort(found)
	sum := sha256.Sum256([]byte(strings.Join(found, "\n")))
	return hex.EncodeToString(sum[:]), nil
}

// RunInCheckout runs gates on a tree or commit in a checkout, as for an audit. It uses cached
// results. A failure that the checkout itself may cause is Unknown.
func (v *Verifier) RunInCheckout(ctx context.Context, tree string, gates []gate.Gate, logDir string) ([]gate.Result, error) {
	results, err := v.runInCheckout(ctx, gates, runTarget{tree: tree, logDir: logDir})
	for i := range results {
		if r := &results[i]; r.Status != gate.Pass && v.checkout != nil {
			if why := v.checkoutProblem(gates[i]); why != "" {
				r.Status, r.Reason = gate.Unknown, why+"; "+r.Reason
			}
		}
	}
	return results, err
}

func (v *Verifier) runInCheckout(ctx context.Context, gates []gate.Gate, w runTarget) ([]gate.Result, error) {
	if w.checkout == "" {
		w.checkout = "worktree"
	}
	if v.allCached(ctx, gates, w) { // the place need not even be made
		return v.runAll(ctx, gates, w)
	}
	there, err := v.checkOut(ctx, w.tree)
	if err != nil {
		return nil, err
	}
	w.root = there.root
	return v.runAll(ctx, gates, w)
}

func (v *Verifier) allCached(ctx context.Context, gates []gate.Gate, w runTarget) bool {
	n := 1
	if w.uncached {
		n = 2
	}
	return !slices.ContainsFunc(gates, func(g gate.Gate) bool { return len(v.cachedResults(v.cacheKey(ctx, g, w.forGate(g)))) < n })
}
