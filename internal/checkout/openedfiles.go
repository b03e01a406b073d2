package checkout

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/confine"
	"github.com/pawl-dev/pawl/internal/deps"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/proc"
)

// Caches and toolchains in the home are too large to copy. So Pawl records which of their files the
// run before the first turn opens, where the system reports it (inotify). If one of these files
// changes, by the agent or by its tests, later runs in a checkout find it empty. So do new files
// beside them in a toolchain or module. Tools create or download such files again, only for that
// run. Files that no gate opened stay visible, because agents may download dependencies.

// openedFiles is the record of opened files.
type openedFiles struct {
	At      int64                `json:"at"`      // time of the record, in nanoseconds
	Files   map[string]fileState `json:"files"`   // by real path
	Folders []string             `json:"folders"` // folders of toolchain files, which must not get new files
}

// fileState distinguishes two states of a file.
type fileState struct {
	Changed int64  `json:"changed"` // last change, in nanoseconds
	Sum     string `json:"sum"`     // fingerprint of its content, see atomicfile.Fingerprint
}

// maxHashedFile limits the size of files compared by content, in bytes. Build tools update the
// times of files that they use.
const maxHashedFile = 4 << 20

// maxHashedTotal limits their total size, so that a loop starts quickly. The other files count as
// changed if their time changed.
const maxHashedTotal = 256 << 20

func (k *Checkout) openedRecordFile() string { return filepath.Join(k.homeRecordDir(), "opened.json") }

// RecordOpened calls run, which runs the gates before the first turn, and records the files that
// they open.
func (k *Checkout) RecordOpened(run func() error) error {
	if exists(k.openedRecordFile()) || !isFolder(k.homeRecordDir()) {
		return run()
	}
	caches, toolchains := k.exposedFolders()
	w := proc.WatchOpened(append(caches, toolchains...)) // the number of watches is limited
	err := run()
	files := w.End()
	if err != nil || len(files) == 0 {
		return err
	}
	then := openedFiles{At: time.Now().Add(-maxClockLag).UnixNano(), Files: map[string]fileState{}}
	left := int64(maxHashedTotal)
	for _, file := range files {
		info, err := os.Lstat(file)
		if err != nil || !info.Mode().IsRegular() || info.Size() == 0 { // a lock file is empty
			continue
		}
		m := fileState{Changed: deps.ChangeTime(info)}
		if left -= min(info.Size(), maxHashedFile); left > 0 {
			m.Sum = atomicfile.Fingerprint(file, maxHashedFile)
		}
		then.Files[file] = m
		if slices.ContainsFunc(toolchains, func(dir string) bool { return isWithin(file, dir) }) {
			then.Folders = append(then.Folders, filepath.Dir(file))
		}
	}
	slices.Sort(then.Folders)
	then.Folders = slices.Compact(then.Folders)
	return WriteRecord(k.openedRecordFile(), then)
}

// maxClockLag is how far the clock of the file system may be behind the system clock.
const maxClockLag = 50 * time.Millisecond

// exposedFolders returns the real paths of the folders below the home that are visible in a
// checkout: caches, which tools write, and toolchains.
func (k *Checkout) exposedFolders() (caches, toolchains []string) {
	for e, from := range k.homeSources() {
		if e.setupOnly {
			continue
		}
		for _, name := range e.link {
			dir := git.RealPath(filepath.Join(from, name))
			switch {
			case !isFolder(dir):
			case e.writable:
				caches = append(caches, dir)
			default:
				toolchains = append(toolchains, dir)
			}
		}
	}
	return caches, toolchains
}

// changedOpenedFiles returns the recorded files that changed, and new ones beside them, sorted.
func (k *Checkout) changedOpenedFiles(ctx context.Context) (changed []string, err error) {
	then, err := readOnce(&k.openedRecord, k.openedRecordFile())
	if err != nil {
		return nil, err
	}
	for file, was := range then.Files {
		info, err := os.Lstat(file)
		if err != nil || deps.ChangeTime(info) == was.Changed {
			continue
		}
		if info.Size() > maxHashedFile || atomicfile.Fingerprint(file, maxHashedFile) != was.Sum {
			changed = append(changed, file)
		}
	}
	for _, folder := range then.Folders {
		entries, err := os.ReadDir(folder)
		if err != nil || ctx.Err() != nil {
			continue
		}
		for _, e := range entries {
			file := filepath.Join(folder, e.Name())
			if _, known := then.Files[file]; known || e.Type()&fs.ModeType != 0 {
				continue
			}
			if info, err := e.Info(); err == nil && deps.ChangeTime(info) > then.At {
				changed = append(changed, file)
			}
		}
	}
	slices.Sort(changed)
	return changed, ctx.Err()
}

// linkUnchanged links unchanged files into a home, and creates empty files for changed ones.
func (n *unchangedHome) linkUnchanged(from, to string) error {
	real := git.RealPath(from)
	switch {
	case !exists(from):
		return nil
	case !slices.ContainsFunc(n.changedFiles, func(file string) bool { return isWithin(file, real) }):
		return link(from, to)
	case slices.Contains(n.changedFiles, real):
		return os.WriteFile(to, nil, 0o600)
	}
	entries, err := os.ReadDir(from)
	if err == nil {
		err = os.MkdirAll(to, 0o700)
	}
	for _, e := range entries {
		err = errors.Join(err, n.linkUnchanged(filepath.Join(from, e.Name()), filepath.Join(to, e.Name())))
	}
	return err
}

// hideChangedFiles mounts empty files over the changed ones.
func (k *Checkout) hideChangedFiles(i *Isolation) error {
	for n, file := range k.home.changedFiles {
		empty := filepath.Join(i.dir, fmt.Sprintf("empty%d", n))
		if err := os.WriteFile(empty, nil, 0o600); err != nil {
			return err
		}
		i.mounts = append(i.mounts, confine.Mount{Path: i.visiblePath(file), From: empty, Writable: true})
	}
	return nil
}
