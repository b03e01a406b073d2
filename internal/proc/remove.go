package proc

import (
	"io/fs"
	"os"
	"path/filepath"
)

// RemoveAll removes a folder in which programs were at work, also where they left
// read-only folders in it (Go's module cache does).
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
