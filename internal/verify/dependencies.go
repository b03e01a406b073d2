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

// A checkout has no node_modules and no virtual environment: git ignores them. Where
// the project has no [worktree] setup, such folders are copied into it as they were before
// the first turn, as long as the lock files are those of then. They are copied then,
// once, and from there into each checkout: what an agent changes in them counts nowhere.
// They are not linked: a test that writes there must not reach the user's folder, and a
// tool that looks for its project from where it lies must find the checkout. The
// copies are read-only.

// dependencies are what the project had installed before the first turn.
type dependencies struct {
	Locks   string            `json:"locks"`   // fingerprint of the lock files
	Folders map[string]string `json:"folders"` // fingerprints, "" for one that is too large to copy
}

func (v *Verifier) dependencyFile() string { return filepath.Join(v.Dir, "dependencies.json") }

// dependencyDir holds the copies.
func (v *Verifier) dependencyDir() string { return filepath.Join(v.Dir, "dependencies") }

// Ended removes copies that are large and of no use once a loop has ended. If it goes on,
// folders count that are as they were.
func (v *Verifier) Ended() error { return proc.RemoveAll(v.dependencyDir()) }

// keepDependencies copies them, before the first turn. What was kept before stays.
func (v *Verifier) keepDependencies(ctx context.Context) error {
	if _, err := os.Lstat(v.dependencyFile()); err == nil || v.Repo == nil || len(v.Setup) > 0 {
		return nil
	}
	if err := v.Ended(); err != nil { // of one that was killed at this
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
			if d.Folders[folder], err = v.folderPrint(ctx, folder); err != nil {
				return err
			}
			if err := v.keepFolder(ctx, d.Folders[folder], folder); err != nil {
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

// keepFolder copies a folder of this fingerprint. Where that fails (the disk is full), the
// folder itself will do as long as it does not change.
func (v *Verifier) keepFolder(ctx context.Context, print, folder string) error {
	if print == "" || print == "gone" {
		return nil
	}
	if err := deps.Keep(ctx, v.Repo.Root(), folder, v.dependencyDir()); err != nil {
		return errors.Join(ctx.Err(), proc.RemoveAll(v.copyOf(folder)))
	}
	return nil
}

// copyOf is where the copy of a folder lies, if there is one.
func (v *Verifier) copyOf(folder string) string {
	return filepath.Join(v.dependencyDir(), filepath.FromSlash(folder))
}

// carrying is what a checkout gets of the installed dependencies, and why not more.
type carrying struct {
	known   bool // recordDependencies found the state of then, or none is needed
	then    dependencies
	folders []string // that are as they were
	lacks   []string // "node_modules (changed since the loop began)"
}

// recordDependencies compares the folders with those of before the first turn.
func (v *Verifier) recordDependencies(ctx context.Context) error {
	v.carries, v.homeNow = carrying{known: v.Repo == nil || len(v.Setup) > 0}, nil
	if v.carries.known {
		return nil
	}
	found, err := readState(v.dependencyFile(), &v.carries.then)
	if err != nil || !found {
		return err
	}
	v.carries.known = true
	for folder, then := range v.carries.then.Folders {
		if isThere(v.copyOf(folder)) {
			v.carries.folders = append(v.carries.folders, folder)
			continue
		}
		now, err := v.folderPrint(ctx, folder)
		switch {
		case err != nil:
			return err
		case then == "":
			v.carries.lacks = append(v.carries.lacks, folder+" (too large to copy)")
		case now != then:
			v.carries.lacks = append(v.carries.lacks, folder+" (changed since the loop began)")
		default:
			v.carries.folders = append(v.carries.folders, folder)
		}
	}
	slices.Sort(v.carries.lacks)
	slices.Sort(v.carries.folders)
	return nil
}

// ensureDependencies is recordDependencies for the first checkout. Where no loop kept the
// dependencies (an audit, a proof), those count that are installed now.
func (v *Verifier) ensureDependencies(ctx context.Context) error {
	if v.carries.known {
		return nil
	}
	if err := v.keepDependencies(ctx); err != nil {
		return err
	}
	return v.recordDependencies(ctx)
}

// cannotShow says why a failure of a gate in the checkout says nothing of the tree, ""
// where nothing is known.
func (v *Verifier) cannotShow(g gate.Gate) string {
	if g.InWorkTree {
		return "the gate has isolated = false: it counts in the work tree only"
	}
	if lacks := v.lacks(); lacks != "" {
		return lacks
	}
	if missing := deps.Find(v.place.tree.Root(), []gate.Gate{g}); len(missing) > 0 {
		return missing[0].String() + ": run " + missing[0].Command + " first"
	}
	return ""
}

// lacks says what a checkout lacks that the work tree has, and how it gets it; "" for
// nothing that is known.
func (v *Verifier) lacks() string {
	lacks, then := v.carries.lacks, ""
	if len(lacks) > 0 {
		folder, _, _ := strings.Cut(lacks[0], " (")
		then = ": " + deps.Setup(deps.Command(v.Repo.Root(), folder)) + " makes checkouts ready"
	}
	if v.homeNow != nil {
		for _, dir := range v.homeNow.changed {
			lacks = append(slices.Clip(lacks), dir+" (came or changed since the loop began)")
		}
	}
	if len(lacks) == 0 {
		return ""
	}
	return "the checkout lacks " + strings.Join(lacks, ", ") + then
}

// folderPrint tells one state of a folder from another; "" for one that is too large
// to copy, "gone" where there is none.
func (v *Verifier) folderPrint(ctx context.Context, folder string) (string, error) {
	state, err := deps.Fingerprint(ctx, v.Repo.Root(), folder)
	switch {
	case errors.Is(err, deps.ErrTooLarge):
		return "", nil
	case errors.Is(err, fs.ErrNotExist):
		return "gone", nil
	}
	return state, err
}

// carry copies the dependencies into the place for a tree that wants the same ones,
// and removes them for another. One that changed meanwhile is an error: what runs in
// the place would not be what results are kept for.
func (v *Verifier) carry(ctx context.Context, locks string) error {
	same := locks == v.carries.then.Locks
	for folder := range v.carries.then.Folders {
		to := filepath.Join(v.place.tree.Root(), filepath.FromSlash(folder))
		if err := proc.RemoveAll(to); err != nil {
			return fmt.Errorf("make room for %s: %w", folder, err)
		}
		if !slices.Contains(v.carries.folders, folder) {
			continue
		}
		if why := folder + " (its lock files have changed)"; !same {
			if !slices.Contains(v.carries.lacks, why) {
				v.carries.lacks = append(v.carries.lacks, why)
			}
			v.place.lacks = v.lacks()
			continue
		}
		c := deps.Copier{From: v.Repo.Root(), To: v.place.tree.Root(), ReadOnly: true}
		if v.inNamespace(ctx) {
			c.SeenAs = c.From
		}
		if isThere(v.copyOf(folder)) {
			c.Kept = v.dependencyDir()
		} else if now, err := v.folderPrint(ctx, folder); err != nil || now != v.carries.then.Folders[folder] {
			return errors.Join(err, fmt.Errorf("%s was changed while the gates ran", folder))
		}
		if err := c.Copy(ctx, folder); err != nil {
			return fmt.Errorf("copy %s into the checkout: %w", folder, err)
		}
	}
	return nil
}
