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

// place is the worktree in which trees other than the one at hand are judged.
// It is made when first needed and set to one tree after another, so that what
// the set-up installed stays.
type place struct {
	tree *git.Worktree
	deps string // fingerprint of the lock files that the set-up has seen
	// setUp are the surroundings that the set-up ran in: what it left in its home is in
	// that of each gate, too.
	setUp *isolation

	lacks string // what the tree that it holds needs and nothing makes, "" for nothing that is known

	timedOut bool // a gate did, and was run again with more time

	stale     bool // the next tree is to be judged in a fresh checkout, at another path
	untouched bool // nothing is there that git ignores
}

// setupTimeout bounds each command of the set-up.
const setupTimeout = 15 * time.Minute

// Elsewhere is the folder, in one of Pawl's own, of the worktrees in which other
// trees are judged.
func Elsewhere(dir string) string { return filepath.Join(dir, "worktrees") }

// errNowhere says that there is no place to judge another tree in.
var errNowhere = errors.New("without git there is no other tree to compare with")

// at makes the place hold a tree, and returns where gates run there.
func (v *Verifier) at(ctx context.Context, tree string) (runTarget, error) {
	if v.Repo == nil {
		return runTarget{}, errNowhere
	}
	below, err := filepath.Rel(resolved(v.Repo.Root()), resolved(v.Root))
	if err != nil || !filepath.IsLocal(below) {
		return runTarget{}, fmt.Errorf("%s is not in the repository %s", v.Root, v.Repo.Root())
	}
	if err := v.ensureDependencies(ctx); err != nil {
		return runTarget{}, err
	}
	if err := v.hold(ctx, tree); err != nil {
		return runTarget{}, err
	}
	if err := v.prepare(ctx, tree); err != nil {
		return runTarget{}, err
	}
	return runTarget{root: filepath.Join(v.place.tree.Root(), below), place: "worktree", tree: tree}, nil
}

func resolved(dir string) string {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return real
	}
	return dir
}

func (v *Verifier) hold(ctx context.Context, tree string) error {
	if v.place != nil && !v.place.stale {
		if err := v.place.tree.Reset(ctx, tree); err == nil {
			return nil
		}
		// A gate may have left what cannot be reset over: begin anew.
		if err := v.leave(ctx); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(Elsewhere(v.Dir), 0o700); err != nil {
		return fmt.Errorf("make worktree: %w", err)
	}
	dir, err := os.MkdirTemp(Elsewhere(v.Dir), "worktree-")
	if err != nil {
		return fmt.Errorf("make worktree: %w", err)
	}
	if v.place != nil {
		v.place.setUp.remove()
		if v.place.tree.Renew(ctx, dir, tree) == nil {
			v.place = &place{tree: v.place.tree}
			return v.include(ctx)
		}
		if err := v.leave(ctx); err != nil {
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
	v.place = &place{tree: w}
	return v.include(ctx)
}

// include copies into a fresh checkout what of the ignored files the user wants there.
func (v *Verifier) include(ctx context.Context) error {
	copied, err := v.Repo.CopyIncluded(ctx, v.place.tree.Root())
	if err != nil {
		return errors.Join(err, v.leave(context.WithoutCancel(ctx)))
	}
	v.place.untouched = len(copied) == 0
	return nil
}

// ClearUp removes the worktree that an owner of the same Dir left who was killed: it
// stands among the user's own. None of theirs may live.
func (v *Verifier) ClearUp(ctx context.Context) error {
	left, err := os.ReadDir(Elsewhere(v.Dir))
	if len(left) == 0 || v.place != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	return v.Repo.RemoveWorktrees(ctx, Elsewhere(v.Dir))
}

// prepare runs the set-up, or copies what is installed, in a fresh place and again
// when the dependencies of the tree are not those it was done for.
func (v *Verifier) prepare(ctx context.Context, tree string) error {
	if len(v.Setup) == 0 && len(v.carries.then.Folders) == 0 {
		return nil
	}
	locks, err := v.lockFiles(ctx, tree)
	done := locks + " " + strings.Join(v.carries.folders, " ")
	if err != nil || v.place.deps == done {
		return err
	}
	v.place.deps, v.place.lacks, v.place.untouched = "", "", false
	if len(v.Setup) == 0 {
		if err := v.carry(ctx, locks); err != nil {
			return err
		}
		v.place.deps = done
		return nil
	}
	v.place.setUp.remove()
	if v.place.setUp, err = v.isolate(ctx, nil); err != nil {
		return err
	}
	if err := v.runSetUp(ctx, v.place.tree.Root(), v.place.setUp); err != nil {
		return err
	}
	v.place.deps = done
	return nil
}

// SetUp runs the project's set-up in a fresh worktree, each command with a time
// limit of its own.
func (v *Verifier) SetUp(ctx context.Context, dir string) error {
	return v.runSetUp(ctx, dir, nil)
}

func (v *Verifier) runSetUp(ctx context.Context, dir string, in *isolation) error {
	for _, text := range v.Setup {
		out := newOutput("", "", nil)
		limited, cancel := context.WithTimeout(ctx, setupTimeout)
		var c command
		c.argv, c.env = asked(text)
		spec := v.spec(in, dir, "", c)
		spec.Stdout, spec.Stderr = out, out
		exit := proc.Run(limited, spec)
		cancel()
		if !exit.OK() {
			return fmt.Errorf("the worktree's set-up failed: %s: exit %d%s", text, exit.Code, after(lastLine(out.end())))
		}
	}
	return nil
}

// lockFiles is a fingerprint of what a tree says it depends on: its lock files, and of
// its manifests what decides what is installed.
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

// Elsewhere runs gates on a tree or commit in the worktree of Pawl's own, as for
// an audit. What is kept from an earlier run there is used. A failure that the checkout
// itself may cause is Unknown.
func (v *Verifier) Elsewhere(ctx context.Context, tree string, gates []gate.Gate, logDir string) ([]gate.Result, error) {
	results, err := v.elsewhere(ctx, gates, runTarget{tree: tree, logDir: logDir})
	for i := range results {
		if r := &results[i]; r.Status != gate.Pass && v.place != nil {
			if why := v.cannotShow(gates[i]); why != "" {
				r.Status, r.Reason = gate.Unknown, why+"; "+r.Reason
			}
		}
	}
	return results, err
}

func (v *Verifier) elsewhere(ctx context.Context, gates []gate.Gate, w runTarget) ([]gate.Result, error) {
	if w.place == "" {
		w.place = "worktree"
	}
	if v.allKept(ctx, gates, w) { // the place need not even be made
		return v.all(ctx, gates, w)
	}
	there, err := v.at(ctx, w.tree)
	if err != nil {
		return nil, err
	}
	w.root = there.root
	return v.all(ctx, gates, w)
}

func (v *Verifier) allKept(ctx context.Context, gates []gate.Gate, w runTarget) bool {
	n := 1
	if w.uncached {
		n = 2
	}
	return !slices.ContainsFunc(gates, func(g gate.Gate) bool { return len(v.cachedResults(v.key(ctx, g, w.of(g)))) < n })
}
