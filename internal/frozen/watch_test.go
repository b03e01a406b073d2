package frozen_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/frozen"
)

// What judges is named when it was written, also where it is again what it was.
func TestWatchNamesWhatWasPutBack(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	path := func(name string) string { return filepath.Join(root, name) }
	write := func(name, content string) {
		t.Helper()
		if err := os.WriteFile(path(name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("check.sh", "exit 1\n")
	write("still.sh", "exit 0\n")
	write("swapped.sh", "exit 0\n")
	f, err := frozen.Look(context.Background(), frozen.Options{Root: root, Protect: []string{"pawl.toml"}, Gates: []gate.Gate{{Command: "sh check.sh && sh still.sh && sh swapped.sh"}}})
	if err != nil {
		t.Fatal(err)
	}
	touched := f.Watch()
	if got := touched(); len(got) > 0 {
		t.Errorf("nothing was written: %v", got)
	}
	write("check.sh", "exit 1\n") // as it was, but for its time
	if err := os.Chtimes(path("check.sh"), time.Time{}, time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	write("next", "exit 0\n")
	if err := os.Rename(path("next"), path("swapped.sh")); err != nil {
		t.Fatal(err)
	}
	write("pawl.toml", "")
	if diff := cmp.Diff([]string{"check.sh", "pawl.toml", "swapped.sh"}, touched()); diff != "" {
		t.Error(diff)
	}
}
