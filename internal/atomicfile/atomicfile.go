// Package atomicfile replaces files so that a reader, a crash or a full disk
// never meets half of one: the bytes go to a temporary file in the same folder,
// reach the disk, and then take the name in a single step.
//
//	err := atomicfile.Write("plan.md", data, 0o644)
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
	target, perm, err := resolve(path, perm)
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	temp, err := writeTemp(target, data, perm)
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if err := os.Rename(temp, target); err != nil {
		return fmt.Errorf("write %s: %w", path, errors.Join(err, os.Remove(temp)))
	}
	if err := SyncDir(filepath.Dir(target)); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// tempName is the pattern of the temporary files' names.
const tempName = ".pawl-*.tmp"

// IsTemp tells whether a file's name (without its folder) is one of those that
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

// writeTemp puts data on disk beside target, under a hidden name, and removes
// what it made if that fails.
func writeTemp(target string, data []byte, perm fs.FileMode) (name string, err error) {
	f, err := os.CreateTemp(filepath.Dir(target), tempName)
	if err != nil {
		return "", err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	_, err = f.Write(data)
	if err == nil {
		err = f.Chmod(perm)
	}
	if err == nil {
		err = f.Sync()
	}
	return f.Name(), errors.Join(err, f.Close())
}
