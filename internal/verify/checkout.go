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

	"github.com/pawl-dev/pawl/internal/confine"
	"github.com/pawl-dev/pawl/internal/deps"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/proc"
)

// checkouts makes, resets and removes the checkout that gates run in, and says what they find there:
// dependencies, a home, mounts. It knows nothing of results.
type checkouts struct {
	Options

	env              []string           // the gates'
	locked           *git.Selection     // manifests and lock files
	checkout         *checkout          // nil = none
	installed        installed          // dependencies that a checkout gets
	home             *unchangedHome     // unchanged parts of the home; nil = not compared yet
	namespace        *confine.Namespace // nil = not looked for yet
	reportedSettings []string           // changed settings, already reported
}

// checkout is the worktree in which gates run on other trees. It is reused for one tree after
// another, so that what the setup installed stays.
type checkout struct {
	tree *git.Worktree
	held string // commit or tree that it contains
	deps string // fingerprint of the lock files of the last setup
	// setUp is the setup's isolation. Each gate's home contains what the setup left there.
	setUp *isolation

	missing string // what the tree needs and nothing provides, or ""

	timedOut bool // a gate timed out and ran again with more time

	stale    bool // the next tree needs a fresh checkout, at another path
	pristine bool // it contains no ignored files
}

// firstTimeout reports whether no gate timed out here before.
func (p *checkout) firstTimeout() bool {
	if p == nil || p.timedOut {
		return false
	}
	p.timedOut = true
	return true
}

// setupTimeout bounds each setup command.
const setupTimeout = 15 * time.Minute

// CheckoutsDir is the folder of the checkouts below one of Pawl's own.
func CheckoutsDir(dir string) string { return filepath.Join(dir, "worktrees") }

// errNoGit means that there is no repository to check out from.
var errNoGit = errors.New("without git there is no other tree to compare with")

// checkOut prepares the checkout of a tree and returns the folder of it that stands for Root.
func (k *checkouts) checkOut(ctx context.Context, tree string) (string, error) {
	if k.Repo == nil {
		return "", errNoGit
	}
	below, err := filepath.Rel(resolved(k.Repo.Root()), resolved(k.Root))
	if err != nil || !filepath.IsLocal(below) {
		return "", fmt.Errorf("%s is not in the repository %s", k.Root, k.Repo.Root())
	}
	if err := k.ensureDependencies(ctx); err != nil {
		return "", err
	}
	if err := k.resetCheckout(ctx, tree); err != nil {
		return "", err
	}
	if err := k.prepare(ctx, tree); err != nil {
		return "", err
	}
	return filepath.Join(k.checkout.tree.Root(), below), nil
}

func resolved(dir string) string {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return real
	}
	return dir
}

func (k *checkouts) resetCheckout(ctx context.Context, tree string) error {
	if k.checkout != nil && !k.checkout.stale {
		if err := k.checkout.tree.Reset(ctx, tree); err == nil {
			if err := k.dropCompiled(ctx, tree); err != nil {
				return err
			}
			return k.copyIncluded(ctx) // the reset removed what git does not ignore
		}
		// A gate may have left files that block a reset: start with a fresh checkout.
		if err := k.removeCheckout(ctx); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(CheckoutsDir(k.Dir), 0o700); err != nil {
		return fmt.Errorf("make worktree: %w", err)
	}
	dir, err := os.MkdirTemp(CheckoutsDir(k.Dir), "worktree-")
	if err != nil {
		return fmt.Errorf("make worktree: %w", err)
	}
	if k.checkout != nil {
		k.checkout.setUp.remove()
		if k.checkout.tree.Renew(ctx, dir, tree) == nil {
			k.checkout = &checkout{tree: k.checkout.tree, held: tree, pristine: true}
			return k.copyIncluded(ctx)
		}
		if err := k.removeCheckout(ctx); err != nil {
			return err
		}
	}
	w, err := k.Repo.Worktree(ctx, dir, tree)
	if err != nil {
		return err
	}
	if k.inNamespace(ctx) { // there no other name of its files is in reach
		w.Watch(ctx)
	}
	k.checkout = &checkout{tree: w, held: tree, pristine: true}
	return k.copyIncluded(ctx)
}

// renew makes the next tree get a fresh checkout, at another path. One that needs a setup stays.
func (k *checkouts) renew() {
	if k.checkout != nil && len(k.Setup) == 0 {
		k.checkout.stale = true
	}
}

// removeCheckout removes the checkout, if there is one.
func (k *checkouts) removeCheckout(ctx context.Context) error {
	p := k.checkout
	if p == nil {
		return nil
	}
	k.checkout = nil
	p.setUp.remove()
	return p.tree.Remove(ctx)
}

// copyIncluded copies the untracked files that the user wants in checkouts.
func (k *checkouts) copyIncluded(ctx context.Context) error {
	copied, err := k.Repo.CopyIncluded(ctx, k.checkout.tree.Root())
	if err != nil {
		return errors.Join(err, k.removeCheckout(context.WithoutCancel(ctx)))
	}
	k.checkout.pristine = k.checkout.pristine && len(copied) == 0
	return nil
}

// RemoveLeftCheckouts removes checkouts that a killed owner of the same Dir left. None of its
// processes may be alive.
func (k *checkouts) RemoveLeftCheckouts(ctx context.Context) error {
	left, err := os.ReadDir(CheckoutsDir(k.Dir))
	if len(left) == 0 || k.checkout != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	return k.Repo.RemoveWorktrees(ctx, CheckoutsDir(k.Dir))
}

// prepare runs the setup, or copies dependencies, in a fresh checkout and when the dependencies
// changed.
func (k *checkouts) prepare(ctx context.Context, tree string) error {
	if len(k.Setup) == 0 && len(k.installed.recorded.Folders) == 0 {
		return nil
	}
	locks, err := k.lockFiles(ctx, tree)
	done := locks + " " + strings.Join(k.installed.folders, " ")
	if err != nil || k.checkout.deps == done {
		return err
	}
	k.checkout.deps, k.checkout.missing, k.checkout.pristine = "", "", false
	if len(k.Setup) == 0 {
		if err := k.installDependencies(ctx, locks); err != nil {
			return err
		}
		k.checkout.deps = done
		return nil
	}
	k.checkout.setUp.remove()
	if k.checkout.setUp, err = k.isolate(ctx, nil); err != nil {
		return err
	}
	if err := k.runSetUp(ctx, k.checkout.tree.Root(), k.checkout.setUp); err != nil {
		return err
	}
	k.checkout.deps = done
	return nil
}

// SetUp runs the project's setup in a fresh worktree, each command with its own time limit.
func (k *checkouts) SetUp(ctx context.Context, dir string) error {
	return k.runSetUp(ctx, dir, nil)
}

func (k *checkouts) runSetUp(ctx context.Context, dir string, in *isolation) error {
	for _, text := range k.Setup {
		out := newOutput("", "", nil)
		limited, cancel := context.WithTimeout(ctx, setupTimeout)
		var c command
		c.argv, c.env = shellArgv(text)
		spec := k.spec(in, dir, "", c)
		spec.Stdout, spec.Stderr = out, out
		exit := proc.Run(limited, spec)
		cancel()
		if !exit.OK() {
			return fmt.Errorf("the worktree's set-up failed: %s: exit %d%s", text, exit.Code, withColon(lastLine(out.end())))
		}
	}
	return nil
}

// state is what results in a checkout depend on, beside its tree.
func (k *checkouts) state(ctx context.Context) []any {
	parts := []any{k.Setup, k.installed.folders, k.inNamespace(ctx)}
	if k.compareHome(ctx) == nil { // else the run says why
		parts = append(parts, k.home.changed)
	}
	return parts
}

// lockFiles fingerprints a tree's dependencies: lock files, and the manifests' relevant parts.
func (k *checkouts) lockFiles(ctx context.Context, tree string) (string, error) {
	entries, err := k.Repo.Select(ctx, tree, k.locked)
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
	contents, err := k.Repo.Blobs(ctx, ids)
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
