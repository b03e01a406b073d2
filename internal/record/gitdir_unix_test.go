//go:build unix

package record_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/pawl-dev/pawl/internal/record"
)

// The guard asks in the middle of a call, and whoever made a pipe of HEAD may never
// write into it.
func TestCheckedOutBranchDoesNotBlockOnPipe(t *testing.T) {
	t.Parallel()
	for _, pipe := range []string{".git", ".git/HEAD"} {
		root := t.TempDir()
		path := filepath.Join(root, filepath.FromSlash(pipe))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Mkfifo(path, 0o600); err != nil {
			t.Fatal(err)
		}
		if got := record.CheckedOutBranch(root); got != "" {
			t.Errorf("%s: on %q", pipe, got)
		}
	}
}
