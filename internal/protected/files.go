// Package protected keeps copies of files and restores them when an agent changes them: Pawl's
// own files, files that the user protects, and git's configuration and hooks. In git's
// configuration only the settings that affect git's view of the work tree are compared and
// restored.
//
// No other file is restored. Other gate inputs (tests, scripts, Makefiles, settings of tools,
// installed programs) may change; a claim is also gated with their original versions, see
// packages verify and work.
package protected

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

	"github.com/bmatcuk/doublestar/v4"

	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/workfile"
)

// Files holds the copies, which are stored outside of the work tree.
type Files struct {
	options Options
	copies  map[string]fileCopy // by path relative to the root, with slashes
}

// Options say which files to protect and where to store the copies.
type Options struct {
	Root    string   // of the work tree, absolute
	Store   string   // folder outside the work tree for the copies
	Protect []string // globs of the user's, relative to Root
	// The git directory of the work tree and the one it shares with others; "" =
	// nothing of them is protected.
	GitDir, CommonDir string
}

type fileCopy struct {
	Content []byte      `json:"content"`
	Mode    fs.FileMode `json:"mode"`
	Link    string      `json:"link,omitempty"`   // target, if it is a symbolic link
	Absent  bool        `json:"absent,omitempty"` // the file did not exist, and must not be created
}

// MaxFileBytes is the size of the largest file that is protected.
const MaxFileBytes = 8 << 20

// Freeze copies the files. If the store already has copies, from before a crash, it
// loads those, since the work tree may have changed after that.
func Freeze(ctx context.Context, o Options) (*Files, error) {
	f := &Files{options: o, copies: map[string]fileCopy{}}
	switch err := atomicfile.ReadJSON(f.indexPath(), &f.copies); {
	case err == nil:
		return f, nil
	case !errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("read protected copies %s: %w", f.indexPath(), err)
	}
	return f, errors.Join(f.scan(ctx), f.save())
}

// Scan returns the files that Freeze would copy, without storing anything.
func Scan(ctx context.Context, o Options) (*Files, error) {
	f := &Files{options: o, copies: map[string]fileCopy{}}
	return f, f.scan(ctx)
}

// WorkTreeFiles returns the protected files of the work tree, sorted, relative to the root
// with slashes. The guard denies edits of them. Files in the git directory are not among
// them, since the guard denies all edits there.
func (f *Files) WorkTreeFiles() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(f.copies)), InGitDir)
}

func (f *Files) indexPath() string { return filepath.Join(f.options.Store, "protected.json") }

func (f *Files) save() error {
	err := os.MkdirAll(f.options.Store, 0o700)
	if err == nil {
		err = atomicfile.WriteJSON(f.indexPath(), f.copies)
	}
	if err != nil {
		return fmt.Errorf("keep protected copies: %w", err)
	}
	return nil
}

// readCurrent reads a file without following links. A link above it counts as a link in its place:
// the agent may have put it there.
func (f *Files) readCurrent(rel string) (fileCopy, error) {
	root, name := f.place(rel)
	info, err := workfile.Lstat(root, name)
	switch {
	case errors.Is(err, workfile.ErrLink):
		return fileCopy{Link: linkAbove}, nil
	case errors.Is(err, fs.ErrNotExist):
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
		if b, err = workfile.Read(root, name, atomicfile.Large); err == nil {
			return fileCopy{Content: b, Mode: info.Mode().Perm()}, nil
		}
	}
	return fileCopy{}, fmt.Errorf("read protected file: %w", err)
}

// linkAbove stands for a link in the place of a folder. No link has this target.
const linkAbove = "\x00"

// Changes returns the protected files that differ from their copies, sorted, relative to the
// root with slashes.
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

// isRegular reports whether the copy is of a regular file.
func (f fileCopy) isRegular() bool { return !f.Absent && f.Link == "" }

// AcceptChange replaces the copy of a file by its current version: the user made the change.
func (f *Files) AcceptChange(path string) error {
	if _, known := f.copies[path]; !known {
		return nil
	}
	now, err := f.readCurrent(path)
	if err != nil {
		return err
	}
	f.copies[path] = now
	return f.save()
}

// Restore restores these files. In git's configuration it restores only the settings that
// are compared. It ignores files that are not protected.
func (f *Files) Restore(ctx context.Context, paths []string) error {
	var failed error
	for _, path := range paths {
		if saved, known := f.copies[path]; known {
			failed = errors.Join(failed, f.restoreFile(ctx, path, saved))
		}
	}
	if failed != nil {
		return fmt.Errorf("restore protected files: %w", failed)
	}
	return nil
}

func (f *Files) restoreFile(ctx context.Context, rel string, saved fileCopy) error {
	root, name := f.place(rel)
	if saved.Link == linkAbove { // a folder above it was the user's link, and no copy was made
		return nil
	}
	if err := workfile.RemoveLinks(root, name); err != nil {
		return err
	}
	info, err := workfile.Lstat(root, name)
	isRegular := err == nil && info.Mode().IsRegular()
	if saved.Absent || saved.isRegular() && !isRegular {
		if err := workfile.RemoveAll(root, name); err != nil || saved.Absent {
			return err
		}
	}
	if saved.Link != "" {
		return workfile.Symlink(root, name, saved.Link)
	}
	content := saved.Content
	if isRegular && isGitConfig(rel) {
		now, err := workfile.Read(root, name, MaxFileBytes)
		if err != nil {
			return err
		}
		if content, err = restoreTreeSettings(ctx, saved.Content, now); err != nil {
			return err
		}
	}
	if err := workfile.Write(root, name, content, saved.Mode); err != nil {
		return err
	}
	return workfile.Chmod(root, name, saved.Mode)
}

// scan adds all files to freeze.
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

// addFile adds a file of the work tree, if it is a regular file.
func (f *Files) addFile(rel string) error {
	info, err := os.Lstat(f.AbsPath(rel))
	if err != nil || !info.Mode().IsRegular() || info.Size() > MaxFileBytes || rel == ".git" || InGitDir(rel) {
		return nil //nolint:nilerr // there is no such file
	}
	file, err := f.readCurrent(rel)
	f.copies[rel] = file
	return err
}
