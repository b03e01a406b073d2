package verify

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

// Caches and toolchains in the home are too large to copy. What the run before the first
// turn opened of them is noted, where the system tells (inotify). Of that, what changed
// since, whether by the agent or by a run of its tests, later runs in a checkout find
// empty; so is what came to lie beside it in a toolchain or module. A tool makes or
// fetches it anew, where nothing of that outlives the run. What nothing had opened then is
// shown as it is: an honest agent fetches dependencies.

// opened is what was noted.
type opened struct {
	At      int64           `json:"at"`      // when, in nanoseconds
	Files   map[string]mark `json:"files"`   // by real path
	Folders []string        `json:"folders"` // that hold them and are to hold nothing new
}

// mark tells one state of a file from another.
type mark struct {
	Changed int64  `json:"changed"` // when it last changed, in nanoseconds
	Sum     string `json:"sum"`     // of its content, see atomicfile.Fingerprint
}

// maxSummed bounds the files that are told apart by their content: build tools change
// nothing but the times of what they use, which keeps it.
const maxSummed = 4 << 20

// maxAllSummed bounds all of them together, so that a loop begins at once. Of the rest a
// change of times is a change.
const maxAllSummed = 256 << 20

func (v *Verifier) openedFile() string { return filepath.Join(v.keptHome(), "opened.json") }

// noteOpened runs the gates before the first turn, and notes what they open.
func (v *Verifier) noteOpened(run func() error) error {
	if isThere(v.openedFile()) || !isFolder(v.keptHome()) {
		return run()
	}
	caches, toolchains := v.shownFolders()
	w := proc.WatchOpened(append(caches, toolchains...)) // what is watched is bounded
	err := run()
	files := w.End()
	if err != nil || len(files) == 0 {
		return err
	}
	then := opened{At: time.Now().Add(-clockDoubt).UnixNano(), Files: map[string]mark{}}
	left := int64(maxAllSummed)
	for _, file := range files {
		info, err := os.Lstat(file)
		if err != nil || !info.Mode().IsRegular() || info.Size() == 0 { // a lock is empty
			continue
		}
		m := mark{Changed: deps.ChangeTime(info)}
		if left -= min(info.Size(), maxSummed); left > 0 {
			m.Sum = atomicfile.Fingerprint(file, maxSummed)
		}
		then.Files[file] = m
		if slices.ContainsFunc(toolchains, func(dir string) bool { return isWithin(file, dir) }) {
			then.Folders = append(then.Folders, filepath.Dir(file))
		}
	}
	slices.Sort(then.Folders)
	then.Folders = slices.Compact(then.Folders)
	return writeState(v.openedFile(), then)
}

// clockDoubt is how far the file system's clock, which ticks slowly, may be behind ours.
const clockDoubt = 50 * time.Millisecond

// shownFolders are the real folders below the home that runs in a checkout see: those that
// tools write into, and others.
func (v *Verifier) shownFolders() (caches, toolchains []string) {
	for _, e := range homeEntries {
		from, _ := e.source(v.env)
		if from == "" || e.setUp {
			continue
		}
		for _, name := range e.link {
			dir := resolved(filepath.Join(from, name))
			switch {
			case !isFolder(dir):
			case e.written:
				caches = append(caches, dir)
			default:
				toolchains = append(toolchains, dir)
			}
		}
	}
	return caches, toolchains
}

// changedOpened is what of that is another than it was, sorted.
func (v *Verifier) changedOpened(ctx context.Context) (changed []string, err error) {
	var then opened
	if found, err := readState(v.openedFile(), &then); err != nil || !found {
		return nil, err
	}
	for file, was := range then.Files {
		info, err := os.Lstat(file)
		if err != nil || deps.ChangeTime(info) == was.Changed {
			continue
		}
		if info.Size() > maxSummed || atomicfile.Fingerprint(file, maxSummed) != was.Sum {
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

// linkUnchanged puts what is there into a home by links, and empty files in the place of
// what changed.
func (n *homeNow) linkUnchanged(from, to string) error {
	real := resolved(from)
	switch {
	case !isThere(from):
		return nil
	case !slices.ContainsFunc(n.opened, func(file string) bool { return isWithin(file, real) }):
		return link(from, to)
	case slices.Contains(n.opened, real):
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

// hideOpened shows empty files in the place of what changed.
func (v *Verifier) hideOpened(i *isolation) error {
	for n, file := range v.homeNow.opened {
		empty := filepath.Join(i.dir, fmt.Sprintf("empty%d", n))
		if err := os.WriteFile(empty, nil, 0o600); err != nil {
			return err
		}
		i.mounts = append(i.mounts, confine.Mount{Path: i.seenAt(file), From: empty, Writable: true})
	}
	return nil
}
