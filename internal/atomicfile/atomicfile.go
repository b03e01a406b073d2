// Package atomicfile reads files without waiting, and replaces files atomically: neither a reader
// nor a crash nor a full disk leaves half of one. It writes a temporary file in the same folder,
// syncs it to disk, and renames it.
//
//	err := atomicfile.Write("plan.md", data, 0o644)
//	data, err := atomicfile.Read("plan.md", 4<<20) // at most 4 MB
//
// It is for files of Pawl's own and for files that the user names, such as settings of another
// tool. An existing file keeps its mode. A symbolic link is followed: its target is replaced, and
// the link stays. In a folder that an agent can change, use package workfile, which follows no link.
package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// ErrNotRegular is wrapped by the error for a path that leads to a folder, a device, a pipe or a
// socket. Such a file is not changed.
var ErrNotRegular = errors.New("not a regular file")

// Write replaces the content of a file, or creates it with mode perm, which the umask does not
// narrow. An existing file keeps its mode. After Write returns nil, the content is on disk. After an
// error the old content is unchanged, with one exception: if only the sync of the folder failed, the
// new content is in place and might be lost in a power failure.
func Write(path string, data []byte, perm fs.FileMode) error {
	target, err := replace(path, data, perm, (*os.File).Sync)
	if err == nil {
		err = SyncDir(filepath.Dir(target))
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// Swap is like Write, but does not wait for the disk. It is for files that can be derived again. After
// a power failure the file may be the old one, or empty. A reader never sees a part.
func Swap(path string, data []byte, perm fs.FileMode) error {
	if _, err := replace(path, data, perm, nil); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// replace writes a temporary file and renames it to path, or to the target of the link at path. sync
// is called before the rename; nil for none.
func replace(path string, data []byte, perm fs.FileMode, sync func(*os.File) error) (target string, err error) {
	target, perm, err = resolve(path, perm)
	if err != nil {
		return "", err
	}
	f, err := os.CreateTemp(filepath.Dir(target), tempName)
	if err != nil {
		return "", err
	}
	_, err = f.Write(data)
	if err == nil && perm != 0o600 { // CreateTemp's mode
		err = f.Chmod(perm)
	}
	if err == nil && sync != nil {
		err = sync(f)
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), target)
	}
	if err != nil {
		return "", errors.Join(err, os.Remove(f.Name()))
	}
	return target, nil
}

// tempName is the pattern of the temporary files' names.
const tempName = ".pawl-*.tmp"

// IsTemp reports whether a file name, without its folder, is that of a temporary file. A process that
// is killed during Write leaves one.
func IsTemp(name string) bool {
	ok, err := filepath.Match(tempName, name)
	return ok && err == nil
}

// resolve follows a link at path. It returns the file to replace, and its mode or perm.
func resolve(path string, perm fs.FileMode) (string, fs.FileMode, error) {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return path, perm, nil
	}
	if err != nil {
		return "", 0, err
	}
	if info.Mode().Type() == fs.ModeSymlink {
		if path, err = filepath.EvalSymlinks(path); err != nil {
			return "", 0, fmt.Errorf("follow the link: %w", err)
		}
		if info, err = os.Lstat(path); err != nil {
			return "", 0, err
		}
	}
	if !info.Mode().IsRegular() {
		return "", 0, fmt.Errorf("%w (%s)", ErrNotRegular, info.Mode().Type())
	}
	return path, info.Mode().Perm(), nil
}
