package proc

import (
	"io/fs"
	"os"
	"path/filepath"
)

// RemoveAll removes a folder even if programs left read-only folders in it (as Go's
// module cache does).
func RemoveAll(dir string) error {
	if os.RemoveAll(dir) == nil {
		return nil
	}
	_ = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.IsDir() {
			_ = os.Chmod(path, 0o700)
		}
		return nil
	})
	return os.RemoveAll(dir)
}
