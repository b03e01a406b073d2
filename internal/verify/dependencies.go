package verify

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/proc"
)

// A checkout has no node_modules and no virtual environment: git ignores them. Where
// the project has no [worktree] setup, such folders are copied into it, as long as
// they and the lock files are what they were before the first turn. They are copied
// and not linked: a test that writes there must not reach the user's folder, and a
// tool that looks for its project from where it lies must find the checkout. The
// copies are read-only.

const (
	// dependencyFolders are what package managers install into, by name.
	dependencyFolders = "node_modules .venv venv vendor bower_components"
	// scratchFolders in them are written by whatever runs, and never copied.
	scratchFolders = ".cache .vite .vitest __pycache__"

	maxDependencyFiles = 150_000
	maxDependencyBytes = 2 << 30
)

// dependencies are what the project had installed before the first turn.
type dependencies struct {
	Locks   string            `json:"locks"`   // fingerprint of the lock files
	Folders map[string]string `json:"folders"` // fingerprints, "" for one that is too large to copy
}

func (v *Verifier) dependencyFile() string { return filepath.Join(v.Dir, "dependencies.json") }

// keepDependencies notes them, before the first turn.
func (v *Verifier) keepDependencies(ctx context.Context) error {
	if v.Repo == nil || len(v.Setup) > 0 {
		return nil
	}
	ignored, err := v.Repo.Ignored(ctx)
	if err != nil {
		return err
	}
	d := dependencies{Folders: map[string]string{}}
	for _, name := range ignored {
		folder, isFolder := strings.CutSuffix(name, "/")
		if isFolder && slices.Contains(strings.Fields(dependencyFolders), path.Base(folder)) {
			if d.Folders[folder], err = v.folderPrint(ctx, folder); err != nil {
				return err
			}
		}
	}
	if len(d.Folders) == 0 {
		return nil
	}
	tree, _, err := v.Repo.Snapshot(ctx)
	if err == nil {
		d.Locks, err = v.lockFiles(ctx, tree)
	}
	if err != nil {
		return err
	}
	b, err := json.Marshal(d)
	if err != nil {
		return err
	}
	return atomicfile.Write(v.dependencyFile(), b, 0o600)
}

// carrying is what a checkout gets of the installed dependencies, and why not more.
type carrying struct {
	then    dependencies
	folders []string // that are as they were
	lacks   []string // "node_modules (changed since the loop began)"
}

// lookAtDependencies compares the folders with those of before the first turn.
func (v *Verifier) lookAtDependencies(ctx context.Context) error {
	v.carries = carrying{}
	if v.Repo == nil || len(v.Setup) > 0 {
		return nil
	}
	b, err := atomicfile.Read(v.dependencyFile(), atomicfile.Large)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = json.Unmarshal(b, &v.carries.then)
	}
	if err != nil {
		return fmt.Errorf("read what was installed: %w", err)
	}
	for folder, then := range v.carries.then.Folders {
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

// lacks says what a checkout lacks that the work tree has, and how it gets it; "" for
// nothing that is known.
func (v *Verifier) lacks() string {
	if len(v.carries.lacks) == 0 {
		return ""
	}
	return "the checkout lacks " + strings.Join(v.carries.lacks, ", ")
}

// folderPrint tells one state of a folder from another by names, sizes and times; ""
// for one that is too large, "gone" where there is none.
func (v *Verifier) folderPrint(ctx context.Context, folder string) (string, error) {
	root := filepath.Join(v.Repo.Root(), filepath.FromSlash(folder))
	h, files, size := sha256.New(), 0, int64(0)
	err := filepath.WalkDir(root, func(file string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		case e.IsDir() && isScratch(e):
			return fs.SkipDir
		case e.IsDir():
			return nil
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		files, size = files+1, size+info.Size()
		if files > maxDependencyFiles || size > maxDependencyBytes {
			return errTooLarge
		}
		_, err = fmt.Fprintln(h, file[len(root):], info.Mode(), info.Size(), info.ModTime().UnixNano(), changeTime(info))
		return err
	})
	switch {
	case errors.Is(err, errTooLarge):
		return "", nil
	case errors.Is(err, fs.ErrNotExist):
		return "gone", nil
	case err != nil:
		return "", fmt.Errorf("look at %s: %w", folder, err)
	}
	return hex.EncodeToString(h.Sum(nil)[:16]), nil
}

var errTooLarge = errors.New("too large")

func isScratch(e fs.DirEntry) bool {
	return slices.Contains(strings.Fields(scratchFolders), e.Name())
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
			continue
		}
		if now, err := v.folderPrint(ctx, folder); err != nil || now != v.carries.then.Folders[folder] {
			return errors.Join(err, fmt.Errorf("%s was changed while the gates ran", folder))
		}
		if err := v.copyFolder(ctx, folder, to); err != nil {
			return fmt.Errorf("copy %s into the checkout: %w", folder, err)
		}
	}
	return nil
}

// copyFolder copies a folder of the work tree, without its scratch.
func (v *Verifier) copyFolder(ctx context.Context, folder, to string) error {
	from := filepath.Join(v.Repo.Root(), filepath.FromSlash(folder))
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	return filepath.WalkDir(from, func(file string, e fs.DirEntry, err error) error {
		if err != nil || ctx.Err() != nil {
			return errors.Join(err, ctx.Err())
		}
		target := filepath.Join(to, file[len(from):])
		switch {
		case e.IsDir() && isScratch(e): // there, and empty: that a run makes it is no trace of it
			if err := os.MkdirAll(target, 0o755); err != nil {
				return err
			}
			return fs.SkipDir
		case e.IsDir():
			return os.MkdirAll(target, 0o755)
		case e.Type()&fs.ModeSymlink != 0:
			return v.copyLink(file, target)
		case e.Type().IsRegular():
			return copyReadOnly(file, target)
		}
		return nil
	})
}

// copyLink makes a symbolic link that leads to the same place of the checkout, where
// it leads into the work tree.
func (v *Verifier) copyLink(file, target string) error {
	to, err := os.Readlink(file)
	if err != nil {
		return err
	}
	if !filepath.IsAbs(to) {
		to = filepath.Join(filepath.Dir(file), to)
	}
	if below, err := filepath.Rel(v.Repo.Root(), to); err == nil && filepath.IsLocal(below) {
		to = filepath.Join(v.place.tree.Root(), below)
	}
	return os.Symlink(to, target)
}

func copyReadOnly(file, target string) error {
	in, err := atomicfile.Open(file)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	out, err := os.OpenFile(target, os.O_CREATE|os.O_EXCL|os.O_WRONLY, info.Mode().Perm()&0o555|0o400)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
