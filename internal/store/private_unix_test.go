//go:build unix

package store_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/store"
)

// Files in a loop's folder decide which commands run. Files that others own or may write
// are not read, and no loop is created there.
func TestFilesWritableByOthersAreRefused(t *testing.T) {
	t.Parallel()
	const anyone, nobody = 0o777, 65534
	cases := []struct {
		name string
		path func(home, loop string) string
	}{
		{"the home", func(home, _ string) string { return home }},
		{"the folder of loops", func(home, _ string) string { return filepath.Join(home, "loops") }},
		{"the loop's folder", func(_, loop string) string { return loop }},
		{"its spec", func(_, loop string) string { return filepath.Join(loop, "spec.json") }},
	}
	changes := map[string]func(path string) error{
		"belongs to another user": func(path string) error { return os.Chown(path, nobody, nobody) },
		"other users may write":   func(path string) error { return os.Chmod(path, anyone) },
	}
	for _, c := range cases {
		for want, change := range changes {
			t.Run(c.name+" "+want, func(t *testing.T) {
				t.Parallel()
				home := filepath.Join(t.TempDir(), "home")
				l := create(t, store.Open(home), "/repo")
				path := c.path(home, l.Dir)
				if err := change(path); err != nil {
					t.Skip("only root may:", err)
				}
				_, err := l.Spec()
				if err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), want) || !strings.Contains(failure.Hint(err), path) {
					t.Errorf("%v, hint %q", err, failure.Hint(err))
				}
				if _, err := store.Open(home).Create("/repo", spec{}); (err != nil) != (path == home || path == filepath.Dir(l.Dir)) {
					t.Errorf("another loop: %v", err)
				}
			})
		}
	}
}
