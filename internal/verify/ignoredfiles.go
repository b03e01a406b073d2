package verify

import (
	"cmp"
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

	"github.com/pawl-dev/pawl/internal/checkout"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/proc"
	"github.com/pawl-dev/pawl/internal/workfile"
)

// Git-ignored files are in no tree: an ignored conftest.py or GNUmakefile affects the work tree only.
// A clean checkout lacks it, so it proves nothing. The same holds for what no snapshot contains, such
// as a repository in the work tree. A record of names, sizes and times from before the first turn
// tells which of these files changed since.

// RecordStart records ignored files, submodules, dependency folders and the home before the first
// turn. It keeps an earlier record.
func (v *Verifier) RecordStart(ctx context.Context) error {
	if _, err := os.Lstat(v.ignoredFile()); err == nil {
		return nil
	}
	for _, keep := range []func(context.Context) error{v.recordSubmodules, v.Checkout.Record, v.RecordIgnored} {
		if err := keep(ctx); err != nil {
			return fmt.Errorf("record the state before the first turn: %w", err)
		}
	}
	return nil
}

// RecordIgnored records the state of git-ignored files, replacing an earlier record. Call it again
// after the gates ran before the first turn: their caches and reports are not the agent's changes.
func (v *Verifier) RecordIgnored(ctx context.Context) error {
	ignored, err := v.ignoredFiles(ctx)
	if err != nil {
		return err
	}
	return checkout.WriteRecord(v.ignoredFile(), ignored)
}

// ForgetStart removes the records, so that RecordStart starts anew. Call it only before a loop's
// first turn.
func (v *Verifier) ForgetStart() error {
	for _, file := range []string{v.ignoredFile(), v.reproducedFile()} {
		if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("forget what git ignored: %w", err)
		}
	}
	return v.Checkout.Forget()
}

func (v *Verifier) ignoredFile() string { return filepath.Join(v.Dir, "ignored.json") }

// fileStamp distinguishes two states of an ignored file, or of a skipped file or folder.
type fileStamp struct {
	Size    int64  `json:"size"`
	Time    int64  `json:"time"`              // of its last change, in nanoseconds
	Skipped string `json:"skipped,omitempty"` // why no snapshot contains it; "" = git ignores it
}

// maxIgnoredPerFolder bounds the files read in one ignored folder.
const maxIgnoredPerFolder = 2000

// ignoredFiles returns the state of git-ignored files and folders, and of what snapshots skip.
func (v *Verifier) ignoredFiles(ctx context.Context) (map[string]fileStamp, error) {
	names, err := v.Repo.Ignored(ctx)
	if err != nil {
		return nil, err
	}
	files := map[string]fileStamp{}
	for _, name := range names {
		left := maxIgnoredPerFolder
		// What cannot be read is left out: it is named only, and decides nothing.
		_ = filepath.WalkDir(filepath.Join(v.Repo.Root(), filepath.FromSlash(name)), func(file string, e fs.DirEntry, err error) error {
			if left--; err != nil || left < 0 {
				return fs.SkipAll
			}
			if e.IsDir() {
				files[v.ignoredName(file)+"/"] = fileStamp{}
				return nil
			}
			if info, err := e.Info(); err == nil {
				files[v.ignoredName(file)] = fileStamp{Size: info.Size(), Time: info.ModTime().UnixNano()}
			}
			return nil
		})
	}
	tree, skipped, err := v.Repo.Snapshot(ctx)
	if err != nil {
		return nil, fmt.Errorf("find what no snapshot contains: %w", err)
	}
	scripts, err := v.Repo.UnrecordedModes(ctx, tree)
	if err != nil {
		return nil, fmt.Errorf("find what no snapshot contains: %w", err)
	}
	for _, file := range scripts {
		skipped = append(skipped, git.Skipped{Path: file, Reason: "its mode: core.fileMode is false, git update-index --add --chmod=+x records it"})
	}
	for _, s := range skipped {
		files[s.Path] = v.stampSkipped(s)
	}
	return files, nil
}

// stampSkipped returns the state of a file or folder that no snapshot contains, git's own files aside.
func (v *Verifier) stampSkipped(s git.Skipped) fileStamp {
	all, left := fileStamp{Skipped: s.Reason}, maxIgnoredPerFolder
	_ = filepath.WalkDir(filepath.Join(v.Repo.Root(), filepath.FromSlash(s.Path)), func(_ string, e fs.DirEntry, err error) error {
		if left--; err != nil || left < 0 {
			return fs.SkipAll
		}
		if e.Name() == ".git" && e.IsDir() {
			return fs.SkipDir
		}
		if info, err := e.Info(); err == nil && !e.IsDir() {
			all.Size, all.Time = all.Size+info.Size(), max(all.Time, info.ModTime().UnixNano())
		}
		return nil
	})
	return all
}

// ignoredName returns a file's path from the repository's top, with slashes.
func (v *Verifier) ignoredName(file string) string {
	rel, err := filepath.Rel(v.Repo.Root(), file)
	if err != nil {
		return file
	}
	return filepath.ToSlash(rel)
}

// ChangedIgnoredFiles returns what git ignores and what snapshots skip, with the reason, if it was
// added or changed since the first turn, oldest change first, then changes in the home. It returns nil
// without a record, and omits the content of new folders, and what Python compiled: that is removed
// before a claim is checked.
func (v *Verifier) ChangedIgnoredFiles(ctx context.Context) ([]string, error) {
	var was map[string]fileStamp
	if found, err := checkout.ReadRecord(v.ignoredFile(), &was); err != nil || !found {
		return nil, err
	}
	now, err := v.ignoredFiles(ctx)
	if err != nil {
		return nil, err
	}
	isNew := func(name string) bool { _, known := was[name]; return !known }
	inNewFolder := func(folder string) bool { _, stands := now[folder]; return stands && isNew(folder) }
	var names []string
	for name, state := range now {
		if strings.Contains("/"+name, "/__pycache__/") {
			continue
		}
		if above := path.Dir(strings.TrimSuffix(name, "/")) + "/"; (isNew(name) || was[name] != state) && !inNewFolder(above) {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(now[a].Time, now[b].Time), cmp.Compare(a, b)) })
	for i, name := range names {
		if why := now[name].Skipped; why != "" {
			names[i] += " (" + why + ")"
		}
	}
	return append(names, v.Checkout.ChangedInHome(ctx)...), nil
}

// removePythonCaches removes the __pycache__ folders beside the Python files of a tree. Python trusts
// the time and size stored there instead of the source.
func (v *Verifier) removePythonCaches(ctx context.Context, tree string) error {
	sources, err := v.Repo.Select(ctx, tree, v.files.python)
	if err != nil {
		return err
	}
	beside := map[string]bool{}
	for name := range sources {
		beside[path.Join(path.Dir(name), "__pycache__")] = true
	}
	tracked, err := v.Repo.Folders(ctx, tree, slices.Collect(maps.Keys(beside)))
	if err != nil {
		return err
	}
	for caches := range beside {
		if _, err := workfile.Lstat(v.Repo.Root(), caches); err != nil || tracked[caches] {
			continue // also below a folder that is a link now
		}
		if err := proc.RemoveAll(filepath.Join(v.Repo.Root(), filepath.FromSlash(caches))); err != nil {
			return fmt.Errorf("forget what was compiled: %w", err)
		}
	}
	return nil
}
