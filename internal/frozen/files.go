// Package frozen keeps copies of the files that are put back when an agent changes them:
// Pawl's own, what the user protects, and what git is told. Of git's configuration only
// the settings that shape what git sees are compared and put back.
//
// Nothing else is put back. Whatever else decides what a gate says (tests, scripts,
// Makefiles, settings of tools, installed programs) may change; a claim is judged with it
// as it was, too: see packages verify and work.
package frozen

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/pawl-dev/pawl/internal/atomicfile"
)

// Files are the copies, outside of the work tree.
type Files struct {
	o     Options
	files map[string]frozenFile // by path relative to the root, with slashes
}

// Options say what to freeze and where to keep it.
type Options struct {
	Root    string   // of the work tree, absolute
	Store   string   // folder outside the work tree for the copies
	Protect []string // globs of the user's, relative to Root
	// The git directory of the work tree and the one it shares with others; "" =
	// nothing of them is frozen.
	GitDir, CommonDir string
}

type frozenFile struct {
	Content []byte      `json:"content"`
	Mode    fs.FileMode `json:"mode"`
	Link    string      `json:"link,omitempty"`   // it is a symbolic link, to there
	Absent  bool        `json:"absent,omitempty"` // it was not there, and must not come to be
}

// MaxSize is the largest file that is kept, in bytes.
const MaxSize = 8 << 20

// Take takes the copies; where the store holds some already, from before a
// crash, it takes those: the work tree may have been changed since.
func Take(ctx context.Context, o Options) (*Files, error) {
	f := &Files{o: o, files: map[string]frozenFile{}}
	switch err := atomicfile.ReadJSON(f.index(), &f.files); {
	case err == nil:
		return f, nil
	case !errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("read frozen copies %s: %w", f.index(), err)
	}
	return f, errors.Join(f.find(ctx), f.save())
}

// Find finds what Take would freeze, and keeps nothing.
func Find(ctx context.Context, o Options) (*Files, error) {
	f := &Files{o: o, files: map[string]frozenFile{}}
	return f, f.find(ctx)
}

// Whole lists the frozen files of the work tree, by path relative to the root with
// slashes, sorted: an edit of one can be refused before it is made. No edit goes to the
// git directory in any case.
func (f *Files) Whole() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(f.files)), InGitDir)
}

func (f *Files) index() string { return filepath.Join(f.o.Store, "frozen.json") }

func (f *Files) save() error {
	err := os.MkdirAll(f.o.Store, 0o700)
	if err == nil {
		err = atomicfile.WriteJSON(f.index(), f.files)
	}
	if err != nil {
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
	return frozenFile{}, fmt.Errorf("read protected file: %w", err)
}

// Changes lists the frozen files that are not what they were, sorted, by path
// relative to the root with slashes.
func (f *Files) Changes(ctx context.Context) ([]string, error) {
	var changed []string
	for _, path := range slices.Sorted(maps.Keys(f.files)) {
		was := f.files[path]
		now, err := f.read(path)
		if err != nil {
			return nil, err
		}
		same := was.Absent == now.Absent && was.Link == now.Link && bytes.Equal(was.Content, now.Content) && was.Mode&0o111 == now.Mode&0o111
		if !same && isGitConfig(path) && was.plain() && now.plain() {
			if same, err = f.sameSettings(ctx, path, now.Content); err != nil {
				return nil, err
			}
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

// PutBack makes these files what they were; of a configuration of git's only the settings
// that are compared. What is not frozen is left alone.
func (f *Files) PutBack(ctx context.Context, paths []string) error {
	var failed error
	for _, path := range paths {
		if was, frozen := f.files[path]; frozen {
			failed = errors.Join(failed, f.putBack(ctx, path, was))
		}
	}
	if failed != nil {
		return fmt.Errorf("restore protected files: %w", failed)
	}
	return nil
}

func (f *Files) putBack(ctx context.Context, rel string, was frozenFile) error {
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
	if there && isGitConfig(rel) {
		now, err := atomicfile.Read(path, MaxSize)
		if err != nil {
			return err
		}
		if content, err = restoredConfig(ctx, was.Content, now); err != nil {
			return err
		}
	}
	if err := atomicfile.Write(path, content, was.Mode); err != nil {
		return err
	}
	return os.Chmod(path, was.Mode)
}

// find takes what there is to keep.
func (f *Files) find(ctx context.Context) error {
	for _, glob := range f.o.Protect {
		found, err := doublestar.Glob(os.DirFS(f.o.Root), strings.TrimPrefix(glob, "./"), doublestar.WithFilesOnly(), doublestar.WithNoFollow())
		if err != nil {
			return fmt.Errorf("find protected files by %q: %w", glob, err)
		}
		for _, file := range found {
			if err := f.take(file); err != nil {
				return err
			}
		}
	}
	if err := f.findInGit(ctx); err != nil {
		return err
	}
	file, err := f.read("pawl.toml")
	f.files["pawl.toml"] = file
	return err
}

// take keeps a regular file of the work tree, if it is there.
func (f *Files) take(rel string) error {
	info, err := os.Lstat(f.Where(rel))
	if err != nil || !info.Mode().IsRegular() || info.Size() > MaxSize || rel == ".git" || InGitDir(rel) {
		return nil //nolint:nilerr // it is not there: nothing to take
	}
	file, err := f.read(rel)
	f.files[rel] = file
	return err
}
