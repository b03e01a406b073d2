// Package frozen keeps copies of the files that are put back when an agent changes them:
// Pawl's own, what the user protects, what git is told, and programs that gates start
// and git ignores. Of git's configuration only some settings judge, and only these are
// put back.
//
// Nothing else is put back. Whatever else decides what a gate says (tests, scripts,
// Makefiles, settings of tools) may change; a claim is judged with it as it was, too:
// see packages verify and work.
package frozen

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/core/gate"
)

// Files are the copies, outside of the work tree.
type Files struct {
	o     Options
	files map[string]frozenFile // by path relative to the root, with slashes
}

// Options say what to freeze and where to keep it.
type Options struct {
	Root     string      // of the work tree, absolute
	Store    string      // folder outside the work tree for the copies
	Gates    []gate.Gate // their commands name programs
	Protect  []string    // globs of the user's, relative to Root
	Path     string      // PATH of the gates: what it names in the work tree is frozen too
	Personal []string    // globs of files in the user's home that are looked at, see Moved and [Personal]
	// Ignores tells whether git ignores a path, relative to Root; nil = it cannot be asked.
	Ignores func(path string) (bool, error)
	// Converters are git's as they are before the first turn, see Moved; nil = none.
	Converters func() (map[string]string, error)
	// The git directory of the work tree and the one it shares with others; "" =
	// nothing of them is frozen.
	GitDir, CommonDir string
}

type frozenFile struct {
	Content []byte      `json:"content"`
	Mode    fs.FileMode `json:"mode"`
	Link    string      `json:"link,omitempty"`   // it is a symbolic link, to there
	Absent  bool        `json:"absent,omitempty"` // it was not there, and must not come to be
	// Deps are what the work tree depended on then, of a program that dependencies
	// bring: while that is another, so may the program be.
	Deps string `json:"deps,omitempty"`
}

// MaxSize is the largest file that is kept, in bytes.
const MaxSize = 8 << 20

// Take takes the copies; where the store holds some already, from before a
// crash, it takes those: the work tree may have been changed since.
func Take(o Options) (*Files, error) {
	f := &Files{o: o, files: map[string]frozenFile{}}
	b, err := atomicfile.Read(f.index(), atomicfile.Large)
	if err == nil {
		if err := json.Unmarshal(b, &f.files); err != nil {
			return nil, fmt.Errorf("read frozen copies %s: %w", f.index(), err)
		}
		return f, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read frozen copies: %w", err)
	}
	if f, err = Look(o); err != nil {
		return nil, err
	}
	if err := f.save(); err != nil {
		return nil, err
	}
	return f, f.lookAround()
}

func (f *Files) index() string { return filepath.Join(f.o.Store, "frozen.json") }

func (f *Files) save() error {
	b, err := json.Marshal(f.files)
	if err != nil {
		return fmt.Errorf("keep frozen copies: %w", err)
	}
	if err := os.MkdirAll(f.o.Store, 0o700); err != nil {
		return fmt.Errorf("keep frozen copies: %w", err)
	}
	if err := atomicfile.Write(f.index(), b, 0o600); err != nil {
		return fmt.Errorf("keep frozen copies: %w", err)
	}
	return nil
}

func (f *Files) read(rel string) (frozenFile, error) {
	info, err := os.Lstat(f.Where(rel))
	switch {
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR):
		return frozenFile{Absent: true}, nil
	case err == nil && info.Mode()&fs.ModeSymlink != 0:
		var link string
		if link, err = os.Readlink(f.Where(rel)); err == nil {
			return frozenFile{Link: link}, nil
		}
	case err == nil && !info.Mode().IsRegular():
		return frozenFile{Absent: true}, nil
	case err == nil:
		var b []byte
		if b, err = atomicfile.Read(f.Where(rel), atomicfile.Large); err == nil {
			return frozenFile{Content: b, Mode: info.Mode().Perm()}, nil
		}
	}
	return frozenFile{}, fmt.Errorf("read what judges: %w", err)
}

// Changes lists the frozen files that are not what they were, sorted, by path
// relative to the root with slashes.
func (f *Files) Changes() ([]string, error) {
	var changed []string
	deps := sync.OnceValue(func() string {
		steps, _ := f.reach()
		return f.deps(steps)
	})
	for _, path := range slices.Sorted(maps.Keys(f.files)) {
		was := f.files[path]
		if was.Deps != "" && was.Deps != deps() {
			continue
		}
		now, err := f.read(path)
		if err != nil {
			return nil, err
		}
		same := was.Absent == now.Absent && was.Link == now.Link && bytes.Equal(was.Content, now.Content) && was.Mode&0o111 == now.Mode&0o111
		if partly(path) && !same && was.plain() && now.plain() {
			same = sameGitSettings(was.Content, now.Content)
		}
		if !same {
			changed = append(changed, path)
		}
	}
	return changed, nil
}

// plain: it is a regular file.
func (f frozenFile) plain() bool { return !f.Absent && f.Link == "" }

// Adopt takes a file as it is now for the copy: the change was the user's.
func (f *Files) Adopt(path string) error {
	if _, frozen := f.files[path]; !frozen {
		return nil
	}
	now, err := f.read(path)
	if err != nil {
		return err
	}
	f.files[path] = now
	return f.save()
}

// PutBack makes these files what they were, where only a part judges in that. What
// is not frozen is left alone.
func (f *Files) PutBack(paths []string) error {
	var failed error
	for _, path := range paths {
		if was, frozen := f.files[path]; frozen {
			failed = errors.Join(failed, f.putBack(path, was))
		}
	}
	if failed != nil {
		return fmt.Errorf("put back what judges: %w", failed)
	}
	return nil
}

func (f *Files) putBack(rel string, was frozenFile) error {
	path := f.Where(rel)
	info, err := os.Lstat(path)
	there := err == nil
	if was.Absent {
		if there {
			return os.RemoveAll(path)
		}
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if there && (was.Link != "" || !info.Mode().IsRegular()) { // a link would lead the copy elsewhere
		if err := os.RemoveAll(path); err != nil {
			return err
		}
		there = false
	}
	if was.Link != "" {
		return os.Symlink(was.Link, path)
	}
	content := was.Content
	if partly(rel) && there {
		now, err := atomicfile.Read(path, MaxSize)
		if err != nil {
			return err
		}
		content = restored(was.Content, now)
	}
	if err := atomicfile.Write(path, content, was.Mode); err != nil {
		return err
	}
	return os.Chmod(path, was.Mode)
}

// find takes what there is to keep.
func (f *Files) find() error {
	found := map[string]bool{}
	for _, glob := range f.o.Protect {
		if err := f.match(found, glob); err != nil {
			return err
		}
	}
	for _, file := range slices.Sorted(maps.Keys(found)) {
		if err := f.take(file, ""); err != nil {
			return err
		}
	}
	if err := f.findPrograms(); err != nil {
		return err
	}
	if err := f.findInGit(); err != nil {
		return err
	}
	file, err := f.read("pawl.toml")
	f.files["pawl.toml"] = file
	return err
}

// take keeps a file, if it is there.
func (f *Files) take(rel, deps string) error {
	info, err := os.Lstat(f.Where(rel))
	if _, known := f.files[rel]; known || err != nil || info.Size() > MaxSize {
		return nil //nolint:nilerr // it is not there: nothing to take
	}
	if !info.Mode().IsRegular() && (deps == "" || info.Mode()&fs.ModeSymlink == 0) {
		return nil
	}
	file, err := f.read(rel)
	file.Deps = deps
	f.files[rel] = file
	return err
}

func (f *Files) match(found map[string]bool, glob string) error {
	matches, err := doublestar.Glob(os.DirFS(f.o.Root), strings.TrimPrefix(glob, "./"), doublestar.WithFilesOnly(), doublestar.WithNoFollow())
	if err != nil {
		return fmt.Errorf("find protected files by %q: %w", glob, err)
	}
	for _, m := range matches {
		if m != ".git" && !strings.HasPrefix(m, ".git/") {
			found[m] = true
		}
	}
	return nil
}
