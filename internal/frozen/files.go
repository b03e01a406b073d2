// Package frozen keeps copies of the files that decide what a gate does, and tells
// what became of them: the scripts that gates lead to, the programs in the work
// tree that they run, the configuration of test runners, of CI and of git, Pawl's
// own, and what the person protects.
//
// Of some files only a part judges: the scripts of a package.json, the targets of
// a Makefile that gates lead to, sections of a configuration, keys of git's. Then
// only that part is compared, and only that part is put back; the rest is the
// agent's to change. Test files are not among them: those may change, and what that
// means is judged with copies of their own, see package verify.
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
	"sync"
	"syscall"

	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/core/gate"
)

// Files are the copies, outside of the work tree. Of some only a part judges, see
// partOf.
type Files struct {
	o     Options
	files map[string]frozenFile // by path relative to the root, with slashes
	err   error                 // of asking what git ignores
}

// Options say what to freeze and where to keep it.
type Options struct {
	Root     string      // of the work tree, absolute
	Store    string      // folder outside the work tree for the copies
	Gates    []gate.Gate // their commands name scripts
	Protect  []string    // globs of the person's, relative to Root
	Path     string      // PATH of the gates: what it names in the work tree is frozen too
	Personal []string    // globs of files in the person's home that are looked at, see Moved and [Personal]
	// Ignores tells whether git ignores a path, relative to Root; nil = it ignores none.
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
	deps := sync.OnceValue(f.deps)
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
		if part, ok := partOf(path); ok && !same && was.plain() && now.plain() {
			same = part.same(was.Content, now.Content, f.wordsFor(path))
		}
		if !same {
			changed = append(changed, path)
		}
	}
	return changed, nil
}

// plain: it is a regular file.
func (f frozenFile) plain() bool { return !f.Absent && f.Link == "" }

// Adopt takes a file as it is now for the copy: the change was the person's.
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
	if part, ok := partOf(rel); ok && there {
		now, err := atomicfile.Read(path, MaxSize)
		if err != nil {
			return err
		}
		content = part.mend(was.Content, now, f.wordsFor(rel))
	}
	if err := atomicfile.Write(path, content, was.Mode); err != nil {
		return err
	}
	return os.Chmod(path, was.Mode)
}
