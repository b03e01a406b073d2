// Package atomicfile replaces files atomically, so that neither a reader nor a crash nor a
// full disk leaves half of one: it writes a temporary file in the same folder, syncs it to
// disk, and renames it.
//
//	err := atomicfile.Write("plan.md", data, 0o644)
//	data, err := atomicfile.Read("plan.md", 4<<20) // of at most 4 MB
//
// It is used for Pawl's own derived files and for files that are the user's (a
// plan, settings of another tool). An existing file keeps its mode. A symbolic
// link is followed and its target replaced, so a plan that is linked into the
// repository stays a link; whatever is neither absent nor a regular file in the
// end (a folder, a device, a pipe, a dangling link) is refused and untouched.
package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// ErrNotRegular is wrapped by the error for a path that leads to something other
// than a regular file.
var ErrNotRegular = errors.New("not a regular file")

// Write makes data the content of the file at path. perm is for a file that is
// new (not narrowed by the umask); an existing one keeps its own. When it
// returns nil the bytes are on disk under that name; on an error the old content
// stands unchanged, unless the error wraps a failed sync of the folder, after
// which the new content is in place but might not survive a power cut.
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

// Swap is Write for what is derived from other files and can be made anew: it
// does not wait for the disk. After a power cut the file may be the old one, or
// empty; a reader and a crash of the process still never meet half of one.
func Swap(path string, data []byte, perm fs.FileMode) error {
	if _, err := replace(path, data, perm, nil); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// replace gives data the name of path, or of what path links to. sync is done to
// the bytes before they take the name; nil for nothing.
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
	if err == nil && perm != 0o600 { // it was made with
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

// IsTemp reports whether a file's name (without its folder) is one of those that
// Write leaves behind when it is killed.
func IsTemp(name string) bool {
	ok, err := filepath.Match(tempName, name)
	return ok && err == nil
}

// resolve follows path to the file that is to be replaced and tells its mode.
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
