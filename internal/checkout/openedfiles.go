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
	"github.com/pawl-dev/pawl/internal/proc"
)

// Caches and toolchains in the home are too large to copy. So Pawl records which of their files the
// run before the first turn opens, where the system tells (inotify). Later runs in a checkout find
// those files empty if they changed since, by the agent or by a run of its tests. The same holds for
// new files beside them in a toolchain or module. Tools make or fetch these again, and nothing of
// that outlives the run. Files that nothing opened stay visible: an honest agent fetches dependencies.

// openedFiles is the record of opened files.
type openedFiles struct {
	At      int64               `json:"at"`      // time of the record, in nanoseconds
	Files   map[string]fileMark `json:"files"`   // by real path
	Folders []string            `json:"folders"` // that contain them and must not get new files
}

// fileMark distinguishes two states of a file.
type fileMark struct {
	Changed int64  `json:"changed"` // last change, in nanoseconds
	Sum     string `json:"sum"`     // of its content, see atomicfile.Fingerprint
}

// maxHashedFile bounds the files compared by content. Build tools touch the times of files that
// they use.
const maxHashedFile = 4 << 20

// maxHashedTotal bounds all of them, so that a loop starts quickly. For the rest, another time is a
// change.
const maxHashedTotal = 256 << 20

func (k *Checkout) openedFile() string { return filepath.Join(k.keptHome(), "opened.json") }

// RecordOpened runs the gates before the first turn and records what they open.
func (k *Checkout) RecordOpened(run func() error) error {
	if exists(k.openedFile()) || !isFolder(k.keptHome()) {
		return run()
	}
	caches, toolchains := k.exposedFolders()
	w := proc.WatchOpened(append(caches, toolchains...)) // the watch is bounded
	err := run()
	files := w.End()
	if err != nil || len(files) == 0 {
		return err
	}
	then := openedFiles{At: time.Now().Add(-clockDoubt).UnixNano(), Files: map[string]fileMark{}}
	left := int64(maxHashedTotal)
	for _, file := range files {
		info, err := os.Lstat(file)
		if err != nil || !info.Mode().IsRegular() || info.Size() == 0 { // a lock is empty
			continue
		}
		m := fileMark{Changed: deps.ChangeTime(info)}
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
	return WriteRecord(k.openedFile(), then)
}

// clockDoubt is how far the file system's clock may be behind ours.
const clockDoubt = 50 * time.Millisecond

// exposedFolders returns the real folders below the home that runs in a checkout see: caches, which
// tools write, and toolchains.
func (k *Checkout) exposedFolders() (caches, toolchains []string) {
	for _, e := range homeEntries {
		from, _ := e.source(k.Env)
		if from == "" || e.setupOnly {
			continue
		}
		for _, name := range e.link {
			dir := resolved(filepath.Join(from, name))
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
	if k.opened == nil {
		var then openedFiles
		if found, err := ReadRecord(k.openedFile(), &then); err != nil || !found {
			return nil, err
		}
		k.opened = &then
	}
	then := k.opened
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

// linkUnchanged links the unchanged files into a home, and creates empty files for the changed
// ones.
func (n *unchangedHome) linkUnchanged(from, to string) error {
	real := resolved(from)
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
