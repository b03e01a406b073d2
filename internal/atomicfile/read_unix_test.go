//go:build unix

package atomicfile_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/atomicfile"
)

// Nobody writes into the pipe, /dev/zero has no end, and a sparse file is as large as
// it says: none of them is waited for, or read.
func TestNothingIsReadWithoutEnd(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	pipe, sparse := filepath.Join(dir, "pipe"), filepath.Join(dir, "sparse")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	write(t, sparse, "", 0o600)
	if err := os.Truncate(sparse, 1<<42); err != nil {
		t.Fatal(err)
	}
	for _, target := range []string{pipe, "/dev/zero", sparse} {
		link := filepath.Join(dir, "to-"+filepath.Base(target))
		symlink(t, target, link)
		for _, path := range []string{target, link} {
			began := time.Now()
			if _, err := atomicfile.Read(path, 1<<20); err == nil {
				t.Errorf("%s was read", path)
			}
			if target != sparse {
				if _, err := atomicfile.Open(path); !errors.Is(err, atomicfile.ErrNotRegular) {
					t.Errorf("%s: error %v", path, err)
				}
			}
			atomicfile.Fingerprint(path, 1<<20)
			if took := time.Since(began); took > 5*time.Second {
				t.Errorf("%s took %s", path, took)
			}
		}
	}
}
