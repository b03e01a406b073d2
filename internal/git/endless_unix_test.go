//go:build unix

package git

import (
	"context"
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/failure"
)

// Git opens a .gitignore that is a named pipe, and waits for who writes into it.
func TestAGitThatDoesNotEndIsStopped(t *testing.T) {
	t.Parallel()
	b := newRepo(t)
	b.must(os.RemoveAll(b.path(".gitignore")))
	b.must(syscall.Mkfifo(b.path(".gitignore"), 0o600))
	b.repo.callTime = 50 * time.Millisecond
	_, _, err := b.repo.Snapshot(context.Background())
	if !errors.Is(err, errEndless) || !strings.Contains(failure.Hint(err), "named pipe") {
		t.Errorf("error %v, hint %q", err, failure.Hint(err))
	}
}
