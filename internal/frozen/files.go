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
	options Options
	copies  map[string]fileCopy // by path relative to the root, with slashes
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

type fileCopy struct {
	Content []byte      `json:"content"`
	Mode    fs.FileMode `json:"mode"`
	Link    string      `json:"link,omitempty"`   // it is a symbolic link, to there
	Absent  bool        `json:"absent,omitempty"` // it was not there, and must not come to be
}

// MaxFileBytes is the largest file that is kept, in bytes.
const MaxFileBytes = 8 << 20

// Freeze takes the copies; where the store holds some already, from before a
// crash, it takes those: the work tree may have been changed since.
func Freeze(ctx context.Context, o Options) (*Files, error) {
	f := &Files{options: o, copies: map[string]fileCopy{}}
	switch err := atomicfile.ReadJSON(f.indexPath(), &f.copies); {
	case err == nil:
		return f, nil
	case !errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("read frozen copies %s: %w", f.indexPath(), err)
	}
	return f, errors.Join(f.scan(ctx), f.save())
}

// Scan finds what Take would freeze, and keeps nothing.
func Scan(ctx context.Context, o Options) (*Files, error) {
	f := &Files{options: o, copies: map[string]fileCopy{}}
	return f, f.scan(ctx)
}

// WorkTreeFiles lists the frozen files of the work tree, by path relative to the root with
// slashes, sorted: an edit of one can be refused before it is made. No edit goes to the
// git directory in any case.
func (f *Files) WorkTreeFiles() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(f.copies)), InGitDir)
}

func (f *Files) indexPath() string { return filepath.Join(f.options.Store, "frozen.json") }

func (f *Files) save() error {
	err := os.MkdirAll(f.options.Store, 0o700)
	if err == nil {
		err = atomicfile.WriteJSON(f.indexPath(), f.copies)
	}
	if err != nil {
		return fmt.Errorf("keep frozen copies: %w", err)
	}
	return nil
}

func (f *Files) readCurrent(rel string) (fileCopy, error) {
	info, err := os.Lstat(f.AbsPath(rel))
	switch {
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR):
		return fileCopy{Absent: true}, nil
	case err == nil && info.Mode()&fs.ModeSymlink != 0:
		var link string
		if link, err = os.Readlink(f.AbsPath(rel)); err == nil {
			return fileCopy{Link: link}, nil
		}
	case err == nil && !info.Mode().IsRegular():
		return fileCopy{Absent: true}, nil
	case err == nil:
		var b []byte
		if b, err = atomicfile.Read(f.AbsPath(rel), atomicfile.Large); err == nil {
			return fileCopy{Content: b, Mode: info.Mode().Perm()}, nil
		}
	}
	return fileCopy{}, fmt.Errorf("read protected file: %w", err)
}

// Changes lists the frozen files that are not what they were, sorted, by path
// relative to the root with slashes.
func (f *Files) Changes(ctx context.Context) ([]string, error) {
	var changed []string
	for _, path := range slices.Sorted(maps.Keys(f.copies)) {
		saved := f.copies[path]
		current, err := f.readCurrent(path)
		if err != nil {
			return nil, err
		}
		same := saved.Absent == current.Absent && saved.Link == current.Link && bytes.Equal(saved.Content, current.Content) && saved.Mode&0o111 == current.Mode&0o111
		if !same && isGitConfig(path) && saved.isRegular() && current.isRegular() {
			if same, err = f.hasSameTreeSettings(ctx, path, current.Content); err != nil {
				return nil, err
			}
		}
		if !same {
			changed = append(changed, path)
		}
	}
	return changed, nil
}

// isRegular: it is a regular file.
func (f fileCopy) isRegular() bool { return !f.Absent && f.Link == "" }

// AcceptChange takes a file as it is now for the copy: the change was the user's.
func (f *Files) AcceptChange(path string) error {
	if _, frozen := f.copies[path]; !frozen {
		return nil
	}
	now, err := f.readCurrent(path)
	if err != nil {
		return err
	}
	f.copies[path] = now
	return f.save()
}

// Restore makes these files what they were; of a configuration of git's only the settings
// that are compared. What is not frozen is left alone.
func (f *Files) Restore(ctx context.Context, paths []string) error {
	var failed error
	for _, path := range paths {
		if saved, frozen := f.copies[path]; frozen {
			failed = errors.Join(failed, f.restoreFile(ctx, path, saved))
		}
	}
	if failed != nil {
		return fmt.Errorf("restore protected files: %w", failed)
	}
	return nil
}

func (f *Files) restoreFile(ctx context.Context, rel string, saved fileCopy) error {
	path := f.AbsPath(rel)
	info, err := os.Lstat(path)
	exists := err == nil
	if saved.Absent {
		if exists {
			return os.RemoveAll(path)
		}
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if exists && (saved.Link != "" || !info.Mode().IsRegular()) { // a link would lead the copy elsewhere
		if err := os.RemoveAll(path); err != nil {
			return err
		}
		exists = false
	}
	if saved.Link != "" {
		return os.Symlink(saved.Link, path)
	}
	content := saved.Content
	if exists && isGitConfig(rel) {
		now, err := atomicfile.Read(path, MaxFileBytes)
		if err != nil {
			return err
		}
		if content, err = restoreTreeSettings(ctx, saved.Content, now); err != nil {
			return err
		}
	}
	if err := atomicfile.Write(path, content, saved.Mode); err != nil {
		return err
	}
	return os.Chmod(path, saved.Mode)
}

// scan takes what there is to keep.
func (f *Files) scan(ctx context.Context) error {
	for _, glob := range f.options.Protect {
		found, err := doublestar.Glob(os.DirFS(f.options.Root), strings.TrimPrefix(glob, "./"), doublestar.WithFilesOnly(), doublestar.WithNoFollow())
		if err != nil {
			return fmt.Errorf("find protected files by %q: %w", glob, err)
		}
		for _, file := range found {
			if err := f.addFile(file); err != nil {
				return err
			}
		}
	}
	if err := f.scanGitDir(ctx); err != nil {
		return err
	}
	file, err := f.readCurrent("pawl.toml")
	f.copies["pawl.toml"] = file
	return err
}

// addFile keeps a regular file of the work tree, if it is there.
func (f *Files) addFile(rel string) error {
	info, err := os.Lstat(f.AbsPath(rel))
	if err != nil || !info.Mode().IsRegular() || info.Size() > MaxFileBytes || rel == ".git" || InGitDir(rel) {
		return nil //nolint:nilerr // it is not there: nothing to take
	}
	file, err := f.readCurrent(rel)
	f.copies[rel] = file
	return err
}
