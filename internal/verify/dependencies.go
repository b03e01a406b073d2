package verify

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/deps"
	"github.com/pawl-dev/pawl/internal/proc"
)

// A checkout has no node_modules and no virtual environment: git ignores them. Without a [worktree]
// setup, Pawl copies such folders before the first turn, and from there into each checkout while the
// lock files stay the same. So the agent's changes in them do not count.
// They are copies, not links: a test that writes there must not reach the user's folder, and tools
// that look for their project from their own path must find the checkout. Copies are read-only.

// dependencies are what was installed before the first turn.
type dependencies struct {
	Locks   string            `json:"locks"`   // fingerprint of the lock files
	Folders map[string]string `json:"folders"` // fingerprints, "" = too large to copy
}

func (v *Verifier) dependencyFile() string { return filepath.Join(v.Dir, "dependencies.json") }

// dependencyDir holds the copies.
func (v *Verifier) dependencyDir() string { return filepath.Join(v.Dir, "dependencies") }

// RemoveCopies removes the large copies when a loop has ended. If it continues, unchanged folders
// replace them.
func (v *Verifier) RemoveCopies() error { return proc.RemoveAll(v.dependencyDir()) }

// copyDependencies copies the dependencies before the first turn. It keeps earlier copies.
func (v *Verifier) copyDependencies(ctx context.Context) error {
	if _, err := os.Lstat(v.dependencyFile()); err == nil || v.Repo == nil || len(v.Setup) > 0 {
		return nil
	}
	if err := v.RemoveCopies(); err != nil { // of one that was killed at this
		return err
	}
	ignored, err := v.Repo.Ignored(ctx)
	if err != nil {
		return err
	}
	d := dependencies{Folders: map[string]string{}}
	for _, name := range ignored {
		folder, isFolder := strings.CutSuffix(name, "/")
		if isFolder && deps.IsFolder(path.Base(folder)) {
			if d.Folders[folder], err = v.folderFingerprint(ctx, folder); err != nil {
				return err
			}
			if err := v.copyFolder(ctx, d.Folders[folder], folder); err != nil {
				return err
			}
		}
	}
	tree, _, err := v.Repo.Snapshot(ctx)
	if err == nil {
		d.Locks, err = v.lockFiles(ctx, tree)
	}
	if err != nil {
		return err
	}
	return writeState(v.dependencyFile(), d)
}

// copyFolder copies a folder. If that fails (a full disk), the unchanged folder itself will do.
func (v *Verifier) copyFolder(ctx context.Context, print, folder string) error {
	if print == "" || print == "gone" {
		return nil
	}
	if err := deps.Keep(ctx, v.Repo.Root(), folder, v.dependencyDir()); err != nil {
		return errors.Join(ctx.Err(), proc.RemoveAll(v.folderCopy(folder)))
	}
	return nil
}

// folderCopy is the path of a folder's copy.
func (v *Verifier) folderCopy(folder string) string {
	return filepath.Join(v.dependencyDir(), filepath.FromSlash(folder))
}

// installed are the dependencies that a checkout gets, and what it lacks.
type installed struct {
	known    bool // recordDependencies found the record, or none is needed
	recorded dependencies
	folders  []string // unchanged ones
	missing  []string // Example: node_modules (changed since the loop began)
}

// recordDependencies compares the folders with those before the first turn.
func (v *Verifier) recordDependencies(ctx context.Context) error {
	v.installed, v.home = installed{known: v.Repo == nil || len(v.Setup) > 0}, nil
	if v.installed.known {
		return nil
	}
	found, err := readState(v.dependencyFile(), &v.installed.recorded)
	if err != nil || !found {
		return err
	}
	v.installed.known = true
	for folder, then := range v.installed.recorded.Folders {
		if exists(v.folderCopy(folder)) {
			v.installed.folders = append(v.installed.folders, folder)
			continue
		}
		now, err := v.folderFingerprint(ctx, folder)
		switch {
		case err != nil:
			return err
		case then == "":
			v.installed.missing = append(v.installed.missing, folder+" (too large to copy)")
		case now != then:
			v.installed.missing = append(v.installed.missing, folder+" (changed since the loop began)")
		default:
			v.installed.folders = append(v.installed.folders, folder)
		}
	}
	slices.Sort(v.installed.missing)
	slices.Sort(v.installed.folders)
	return nil
}

// ensureDependencies calls recordDependencies before the first checkout. If no loop recorded the
// dependencies (an audit, a proof), the currently installed ones count.
func (v *Verifier) ensureDependencies(ctx context.Context) error {
	if v.installed.known {
		return nil
	}
	if err := v.copyDependencies(ctx); err != nil {
		return err
	}
	return v.recordDependencies(ctx)
}

// checkoutProblem says why a gate's failure in the checkout says nothing about the tree, or "".
func (v *Verifier) checkoutProblem(g gate.Gate) string {
	if g.InWorkTree {
		return "the gate has isolated = false: it counts in the work tree only"
	}
	if missing := v.missingHint(); missing != "" {
		return missing
	}
	if missing := deps.Find(v.checkout.tree.Root(), []gate.Gate{g}); len(missing) > 0 {
		return missing[0].String() + ": run " + missing[0].Command + " first"
	}
	return ""
}

// missingHint says what a checkout lacks and how to provide it, or "".
func (v *Verifier) missingHint() string {
	lacks, then := v.installed.missing, ""
	if len(lacks) > 0 {
		folder, _, _ := strings.Cut(lacks[0], " (")
		then = ": " + deps.Setup(deps.Command(v.Repo.Root(), folder)) + " makes checkouts ready"
	}
	if v.home != nil {
		for _, dir := range v.home.changed {
			lacks = append(slices.Clip(lacks), dir+" (came or changed since the loop began)")
		}
	}
	if len(lacks) == 0 {
		return ""
	}
	return "the checkout lacks " + strings.Join(lacks, ", ") + then
}

// folderFingerprint identifies a folder's state: "" if too large to copy, "gone" if missing.
func (v *Verifier) folderFingerprint(ctx context.Context, folder string) (string, error) {
	state, err := deps.Fingerprint(ctx, v.Repo.Root(), folder)
	switch {
	case errors.Is(err, deps.ErrTooLarge):
		return "", nil
	case errors.Is(err, fs.ErrNotExist):
		return "gone", nil
	}
	return state, err
}

// installDependencies copies the dependencies into the checkout for a tree with the same lock
// files, and removes them for another. A folder that changed meanwhile is an error: cached results
// would be wrong.
func (v *Verifier) installDependencies(ctx context.Context, locks string) error {
	same := locks == v.installed.recorded.Locks
	for folder := range v.installed.recorded.Folders {
		to := filepath.Join(v.checkout.tree.Root(), filepath.FromSlash(folder))
		if err := proc.RemoveAll(to); err != nil {
			return fmt.Errorf("make room for %s: %w", folder, err)
		}
		if !slices.Contains(v.installed.folders, folder) {
			continue
		}
		if why := folder + " (its lock files have changed)"; !same {
			if !slices.Contains(v.installed.missing, why) {
				v.installed.missing = append(v.installed.missing, why)
			}
			v.checkout.missing = v.missingHint()
			continue
		}
		c := deps.Copier{From: v.Repo.Root(), To: v.checkout.tree.Root(), ReadOnly: true}
		if v.inNamespace(ctx) {
			c.SeenAs = c.From
		}
		if exists(v.folderCopy(folder)) {
			c.Kept = v.dependencyDir()
		} else if now, err := v.folderFingerprint(ctx, folder); err != nil || now != v.installed.recorded.Folders[folder] {
			return errors.Join(err, fmt.Errorf("%s was changed while the gates ran", folder))
		}
		if err := c.Copy(ctx, folder); err != nil {
			return fmt.Errorf("copy %s into the checkout: %w", folder, err)
		}
	}
	return nil
}
