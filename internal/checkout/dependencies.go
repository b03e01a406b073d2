package checkout

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/deps"
	"github.com/pawl-dev/pawl/internal/proc"
	"github.com/pawl-dev/pawl/internal/workfile"
)

// A checkout has no node_modules and no virtual environment: git ignores them. Without a [worktree]
// setup, Pawl copies such folders before the first turn, and from there into each checkout while the
// lock files stay the same. So the agent's changes in them do not count.
// They are copies, not links: a test that writes there must not reach the user's folder, and tools
// that look for their project from their own path must find the checkout. Copies are read-only.

// dependencies records what was installed before the first turn.
type dependencies struct {
	Locks   string            `json:"locks"`   // fingerprint of the lock files
	Folders map[string]string `json:"folders"` // fingerprints, "" = too large to copy
}

func (k *Checkout) dependencyFile() string { return filepath.Join(k.Dir, "dependencies.json") }

// dependencyDir returns the folder of the copies.
func (k *Checkout) dependencyDir() string { return filepath.Join(k.Dir, "dependencies") }

// RemoveCopies removes the copies of the dependencies when a loop has ended, because they are
// large. If the loop continues, it uses unchanged folders instead.
func (k *Checkout) RemoveCopies() error { return proc.RemoveAll(k.dependencyDir()) }

// copyDependencies copies the dependencies before the first turn. It keeps earlier copies.
func (k *Checkout) copyDependencies(ctx context.Context) error {
	if _, err := os.Lstat(k.dependencyFile()); err == nil || k.Repo == nil || len(k.Setup) > 0 {
		return nil
	}
	if err := k.RemoveCopies(); err != nil { // partial copies of a killed process
		return err
	}
	ignored, err := k.Repo.Ignored(ctx)
	if err != nil {
		return err
	}
	d := dependencies{Folders: map[string]string{}}
	for _, name := range ignored {
		folder, isFolder := strings.CutSuffix(name, "/")
		if isFolder && deps.IsFolder(path.Base(folder)) {
			if d.Folders[folder], err = k.folderFingerprint(ctx, folder); err != nil {
				return err
			}
			if err := k.copyFolder(ctx, d.Folders[folder], folder); err != nil {
				return err
			}
		}
	}
	tree, _, err := k.Repo.Snapshot(ctx)
	if err == nil {
		d.Locks, err = k.lockFiles(ctx, tree)
	}
	if err != nil {
		return err
	}
	return WriteRecord(k.dependencyFile(), d)
}

// copyFolder copies a folder. An error such as a full disk is ignored: the folder itself is used
// while unchanged.
func (k *Checkout) copyFolder(ctx context.Context, print, folder string) error {
	if print == "" || print == "gone" {
		return nil
	}
	if err := deps.Keep(ctx, k.Repo.Root(), folder, k.dependencyDir()); err != nil {
		return errors.Join(ctx.Err(), proc.RemoveAll(k.folderCopy(folder)))
	}
	return nil
}

// folderCopy returns the path of a folder's copy.
func (k *Checkout) folderCopy(folder string) string {
	return filepath.Join(k.dependencyDir(), filepath.FromSlash(folder))
}

// installed holds the dependencies that a checkout gets, and what it lacks.
type installed struct {
	isCompared bool // CompareDependencies found the record, or none is needed
	recorded   dependencies
	folders    []string // unchanged folders
	missing    []string // for example: node_modules (changed since the loop started)
	// failed has, for each fingerprint of lock files whose dependencies could not be installed, why.
	failed map[string]string
}

// CompareDependencies compares the folders with those before the first turn.
func (k *Checkout) CompareDependencies(ctx context.Context) error {
	k.installed, k.home = installed{isCompared: k.Repo == nil || len(k.Setup) > 0, failed: map[string]string{}}, nil
	if k.installed.isCompared {
		return nil
	}
	found, err := ReadRecord(k.dependencyFile(), &k.installed.recorded)
	if err != nil || !found {
		return err
	}
	k.installed.isCompared = true
	for folder, then := range k.installed.recorded.Folders {
		if exists(k.folderCopy(folder)) {
			k.installed.folders = append(k.installed.folders, folder)
			continue
		}
		now, err := k.folderFingerprint(ctx, folder)
		switch {
		case err != nil:
			return err
		case then == "":
			k.installed.missing = append(k.installed.missing, folder+" (too large to copy)")
		case now != then:
			k.installed.missing = append(k.installed.missing, folder+" (changed since the loop started)")
		default:
			k.installed.folders = append(k.installed.folders, folder)
		}
	}
	slices.Sort(k.installed.missing)
	slices.Sort(k.installed.folders)
	return nil
}

// ensureDependencies calls CompareDependencies before the first checkout. If no loop recorded the
// dependencies (an audit, a proof), it records the currently installed ones.
func (k *Checkout) ensureDependencies(ctx context.Context) error {
	if k.installed.isCompared {
		return nil
	}
	if err := k.copyDependencies(ctx); err != nil {
		return err
	}
	return k.CompareDependencies(ctx)
}

// Problem explains why a gate's failure in the checkout may not be a failure of the tree. It
// returns "" if it knows no such reason.
func (k *Checkout) Problem(g gate.Gate) string {
	if k.current == nil {
		return ""
	}
	if g.InWorkTree {
		return "the gate has isolated = false: only the work tree counts"
	}
	if missing := k.Missing(); missing != "" {
		return missing
	}
	if missing := deps.Find(k.current.tree.Root(), []gate.Gate{g}); len(missing) > 0 {
		return missing[0].String() + ": run " + missing[0].Command + " first"
	}
	return ""
}

// Missing returns what a checkout lacks and how to provide it, or "".
func (k *Checkout) Missing() string {
	lacks, then := k.installed.missing, ""
	if len(lacks) > 0 {
		folder, _, _ := strings.Cut(lacks[0], " (")
		then = ": " + deps.Setup(deps.Command(k.Repo.Root(), folder)) + " prepares checkouts"
	}
	if k.home != nil {
		for _, dir := range k.home.changed {
			lacks = append(slices.Clip(lacks), dir+" (new or changed since the loop started)")
		}
	}
	if len(lacks) == 0 {
		return ""
	}
	return "the checkout lacks " + strings.Join(lacks, ", ") + then
}

// folderFingerprint identifies a folder's state: "" if it is too large to copy, "gone" if it is
// missing.
func (k *Checkout) folderFingerprint(ctx context.Context, folder string) (string, error) {
	state, err := deps.Fingerprint(ctx, k.Repo.Root(), folder)
	switch {
	case errors.Is(err, deps.ErrTooLarge):
		return "", nil
	case errors.Is(err, fs.ErrNotExist):
		return "gone", nil
	}
	return state, err
}

// lockChanged is what Missing says of a folder whose lock files changed.
const lockChanged = " (its lock files have changed"

// installDependencies copies the dependencies into the checkout if the tree's lock files are the
// recorded ones. Otherwise it has the lock files' own tool install them, or removes them. It returns
// an error if a folder changed since the comparison, because cached results would be wrong.
func (k *Checkout) installDependencies(ctx context.Context, locks string) error {
	k.installed.missing = slices.DeleteFunc(k.installed.missing, func(m string) bool { return strings.Contains(m, lockChanged) })
	k.current.setUp.Remove()
	k.current.setUp = nil
	same := locks == k.installed.recorded.Locks
	folders := slices.Sorted(maps.Keys(k.installed.recorded.Folders))
	if !same {
		var err error
		if folders, err = k.dependencyFolders(ctx); err != nil {
			return err
		}
		if done, err := k.installByLock(ctx, locks, folders); err != nil || done {
			return err
		}
	}
	for _, folder := range folders {
		if err := k.makeRoom(folder); errors.Is(err, workfile.ErrLink) {
			continue
		} else if err != nil {
			return err
		}
		if !same {
			if !slices.ContainsFunc(k.installed.missing, func(m string) bool { return strings.HasPrefix(m, folder+" (") }) {
				k.installed.missing = append(k.installed.missing, folder+lockChanged+k.installed.failed[locks]+")")
			}
			k.current.missing = k.Missing()
			continue
		}
		if !slices.Contains(k.installed.folders, folder) {
			continue
		}
		c := deps.Copier{From: k.Repo.Root(), To: k.current.tree.Root(), ReadOnly: true}
		if k.InNamespace(ctx) {
			c.SeenAs = c.From
		}
		if exists(k.folderCopy(folder)) {
			c.Kept = k.dependencyDir()
		} else if now, err := k.folderFingerprint(ctx, folder); err != nil || now != k.installed.recorded.Folders[folder] {
			return errors.Join(err, fmt.Errorf("%s was changed while the gates ran", folder))
		}
		if err := c.Copy(ctx, folder); err != nil {
			return fmt.Errorf("copy %s into the checkout: %w", folder, err)
		}
	}
	return nil
}

// makeRoom removes a folder of dependencies from the checkout. It returns workfile.ErrLink if the
// agent replaced a folder above it by a link.
func (k *Checkout) makeRoom(folder string) error {
	root := k.current.tree.Root()
	_, err := workfile.Lstat(root, folder)
	if err == nil {
		err = proc.RemoveAll(filepath.Join(root, filepath.FromSlash(folder)))
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("make room for %s: %w", folder, err)
	}
	return nil
}

// installerSettings make package managers use the cache that the agent's own installation filled, and
// fail at once without a network.
var installerSettings = []string{"npm_config_prefer_offline=true", "npm_config_fetch_retries=0", "npm_config_audit=false", "npm_config_fund=false"}

// dependencyFolders returns the folders of dependencies that were installed before the first turn or
// are installed now.
func (k *Checkout) dependencyFolders(ctx context.Context) ([]string, error) {
	ignored, err := k.Repo.Ignored(ctx)
	if err != nil {
		return nil, err
	}
	folders := slices.Collect(maps.Keys(k.installed.recorded.Folders))
	for _, name := range ignored {
		if folder, isFolder := strings.CutSuffix(name, "/"); isFolder && deps.IsFolder(path.Base(folder)) && !slices.Contains(folders, folder) {
			folders = append(folders, folder)
		}
	}
	slices.Sort(folders)
	return folders, nil
}

// installByLock has the tool of the lock files install the dependencies in the checkout: an agent that
// adds a dependency changes them. It reports whether that was possible.
func (k *Checkout) installByLock(ctx context.Context, locks string, folders []string) (bool, error) {
	var commands []string
	root := k.current.tree.Root()
	for _, folder := range folders {
		if command, ok := deps.LockedCommand(root, folder); ok && !slices.Contains(commands, command) {
			commands = append(commands, command)
		}
	}
	if _, failed := k.installed.failed[locks]; failed || len(commands) == 0 {
		return false, nil
	}
	for _, folder := range folders {
		if err := k.makeRoom(folder); err != nil && !errors.Is(err, workfile.ErrLink) {
			return false, err
		}
	}
	in, err := k.Isolate(ctx, nil)
	if err != nil {
		return false, err
	}
	if err := k.runSetUp(ctx, root, in, setup{commands, installerSettings}); err != nil {
		in.Remove()
		k.installed.failed[locks] = "; " + err.Error()
		return false, ctx.Err()
	}
	k.current.setUp = in
	return true, nil
}
