// Package workfile reads and changes files in a folder that an agent may write, such as a work
// tree, and never leaves that folder.
//
//	err := workfile.Write(root, "docs/plan.md", data, 0o644)
//
// Pawl runs outside of the agent's sandbox. An agent can replace a file or a folder by a symbolic
// link to a place that only the user may write. If Pawl followed the link, it would write or delete
// there for the agent, or show it what it may not read. So files are named relative to the folder,
// and no function follows a link in such a name: Write replaces links by folders and files, the
// others return ErrLink. Each step is bound to the folder by os.Root, so a link that appears
// meanwhile cannot lead out of it either.
//
// Files that the user names may be links; use package atomicfile for these.
package workfile

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/pawl-dev/pawl/internal/atomicfile"
)

// ErrLink is wrapped by the error for a name in which a folder, or the file to be read, is a link or no
// folder or regular file.
var ErrLink = errors.New("a link, or not a regular file, is in its place")

// Write replaces a file atomically and creates the folders above it. name is relative to root, with
// slashes. A link or a file in the place of a folder is replaced by a folder, a link in the place of
// the file by the file. An existing regular file keeps its mode; a folder is not replaced.
func Write(root, name string, data []byte, perm fs.FileMode) error {
	err := inFolder(root, name, true, func(dir *os.Root, base string) error {
		info, err := dir.Lstat(base)
		switch {
		case err == nil && info.IsDir():
			return fmt.Errorf("%w: it is a folder", atomicfile.ErrNotRegular)
		case err == nil && info.Mode().IsRegular():
			perm = info.Mode().Perm()
		}
		temp := ".pawl-" + rand.Text() + ".tmp" // see atomicfile.IsTemp
		if err = writeNew(dir, temp, data, perm); err == nil {
			err = dir.Rename(temp, base)
		}
		if err != nil {
			return errors.Join(err, ignoreNotExist(dir.Remove(temp)))
		}
		return atomicfile.SyncDir(path.Join(root, path.Dir(clean(name))))
	})
	return wrap("write", root, name, err)
}

func writeNew(dir *os.Root, name string, data []byte, perm fs.FileMode) error {
	f, err := dir.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Chmod(perm)
	}
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// Symlink creates a symbolic link in place of any file, and the folders above it like Write.
func Symlink(root, name, target string) error {
	err := inFolder(root, name, true, func(dir *os.Root, base string) error {
		if err := dir.RemoveAll(base); err != nil {
			return err
		}
		return dir.Symlink(target, base)
	})
	return wrap("link", root, name, err)
}

// Chmod sets the mode of a regular file.
func Chmod(root, name string, perm fs.FileMode) error {
	err := inFolder(root, name, false, func(dir *os.Root, base string) error {
		f, err := openRegular(dir, base)
		if err != nil {
			return err
		}
		return errors.Join(f.Chmod(perm), f.Close())
	})
	return wrap("change the mode of", root, name, err)
}

// RemoveAll removes a file or a folder, of a link only the link itself. It returns nil if there is
// nothing to remove, and ErrLink if a folder above it is a link.
func RemoveAll(root, name string) error {
	err := inFolder(root, name, false, func(dir *os.Root, base string) error { return dir.RemoveAll(base) })
	return wrap("remove", root, name, ignoreNotExist(err))
}

// RemoveLinks removes links and files in the places of the folders above a file.
func RemoveLinks(root, name string) error {
	for folder := path.Dir(clean(name)); folder != "."; folder = path.Dir(folder) {
		switch info, err := Lstat(root, folder); {
		case errors.Is(err, ErrLink), errors.Is(err, fs.ErrNotExist): // a folder above it is the link, or missing
		case err != nil:
			return err
		case !info.IsDir():
			return RemoveAll(root, folder)
		}
	}
	return nil
}

// Read returns the content of a regular file of at most max bytes.
func Read(root, name string, max int64) (data []byte, err error) {
	err = inFolder(root, name, false, func(dir *os.Root, base string) error {
		f, err := openRegular(dir, base)
		if err != nil {
			return err
		}
		defer func() { _ = f.Close() }()
		data, err = io.ReadAll(io.LimitReader(f, max+1))
		if err == nil && int64(len(data)) > max {
			data, err = nil, fmt.Errorf("it is larger than %d bytes", max)
		}
		return err
	})
	return data, wrap("read", root, name, err)
}

// Lstat describes a file. It returns ErrLink if a folder above it is a link.
func Lstat(root, name string) (info fs.FileInfo, err error) {
	err = inFolder(root, name, false, func(dir *os.Root, base string) error {
		info, err = dir.Lstat(base)
		return err
	})
	return info, wrap("inspect", root, name, err)
}

// Check returns ErrLink if a file that exists, or a folder above it, is a link.
func Check(root, name string) error {
	info, err := Lstat(root, name)
	if err == nil && info.Mode().Type() == fs.ModeSymlink {
		err = wrap("inspect", root, name, ErrLink)
	}
	return ignoreNotExist(err)
}

// openRegular opens a regular file for reading, without waiting for a pipe that took its place.
func openRegular(dir *os.Root, name string) (*os.File, error) {
	info, err := dir.Lstat(name)
	if err == nil && !info.Mode().IsRegular() {
		err = ErrLink
	}
	if err != nil {
		return nil, err
	}
	f, err := dir.OpenFile(name, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil, err
	}
	if now, err := f.Stat(); err != nil || !os.SameFile(info, now) {
		return nil, errors.Join(ErrLink, err, f.Close())
	}
	return f, nil
}

// inFolder calls do with the folder that contains a file, and the file's name in it. With create it
// creates folders that are missing, also where a link or a file is.
func inFolder(root, name string, create bool, do func(dir *os.Root, base string) error) error {
	name = clean(name)
	if !fs.ValidPath(name) || name == "." {
		return fmt.Errorf("%q is not a file below the folder", name)
	}
	dir, err := os.OpenRoot(root)
	if err != nil {
		return err
	}
	defer func() { _ = dir.Close() }()
	folder, base := path.Split(name)
	for part := range strings.SplitSeq(strings.TrimSuffix(folder, "/"), "/") {
		if part == "" {
			continue
		}
		next, err := enter(dir, part, create)
		if err != nil {
			return err
		}
		_ = dir.Close()
		dir = next
	}
	return do(dir, base)
}

// enter opens a folder in dir.
func enter(dir *os.Root, name string, create bool) (*os.Root, error) {
	info, err := dir.Lstat(name)
	switch {
	case err == nil && info.IsDir():
		return dir.OpenRoot(name)
	case err == nil && !create:
		return nil, ErrLink
	case err == nil:
		err = dir.Remove(name)
	case create:
		err = ignoreNotExist(err)
	}
	if err == nil {
		err = dir.Mkdir(name, 0o755)
	}
	if err != nil {
		return nil, err
	}
	return dir.OpenRoot(name)
}

func clean(name string) string { return path.Clean(strings.TrimPrefix(name, "/")) }

func ignoreNotExist(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func wrap(what, root, name string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s %s in %s: %w", what, name, root, err)
}
