//go:build unix

package atomicfile

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// SyncDir makes the names in a folder (created, renamed, removed) survive a
// power cut. It does nothing where the system or the file system has no such
// thing.
func SyncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("sync folder: %w", err)
	}
	// Some network and FUSE file systems answer EINVAL to fsync of a folder.
	if err := f.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) {
		return fmt.Errorf("sync folder: %w", errors.Join(err, f.Close()))
	}
	return f.Close()
}

// nonblock has opening a pipe not wait for who writes into it.
const nonblock = syscall.O_NONBLOCK
