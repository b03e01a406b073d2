package git

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// stateDir, in the git directory of the work tree, contains caches only.
const stateDir = "pawl"

// IndexDir returns the folder of the private indexes.
func (r *Repo) IndexDir() string { return filepath.Join(r.gitDir, stateDir) }

// makeIndexDir makes the folder of the private indexes, also in place of a file or a link: Pawl
// deletes what is old in it, and through a link of an agent that would be a folder of the user's.
func (r *Repo) makeIndexDir() error {
	if !r.hasIndexDir() {
		if err := ignoreNotExist(os.Remove(r.IndexDir())); err != nil {
			return fmt.Errorf("make the folder of private indexes: %w", err)
		}
	}
	// Not MkdirAll: a deleted .git must not be created.
	if err := os.Mkdir(r.IndexDir(), 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("make the folder of private indexes: %w", err)
	}
	return nil
}

// hasIndexDir reports whether there is that folder, and not a link to another.
func (r *Repo) hasIndexDir() bool {
	info, err := os.Lstat(r.IndexDir())
	return err == nil && info.IsDir()
}
