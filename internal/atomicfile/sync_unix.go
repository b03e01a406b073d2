//go:build unix

package atomicfile

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// SyncDir waits until the disk has the names in a folder, so that files created, renamed or removed
// stay so after a power failure. It does nothing where the system or file system cannot do that.
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

// nonblock makes opening a pipe return at once, without a writer.
const nonblock = syscall.O_NONBLOCK
