package dirwatch_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/agent/agenttest"
	"github.com/pawl-dev/pawl/internal/dirwatch"
)

func TestTreeTellsWhatChanged(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(dir string) error
		want   []string
	}{
		{"nothing", func(string) error { return nil }, nil},
		{"a file is written", func(dir string) error { return os.WriteFile(filepath.Join(dir, "d/e/old"), []byte("y"), 0o600) }, []string{"d/e/old"}},
		{"a file is renamed", func(dir string) error { return os.Rename(filepath.Join(dir, "d/e/old"), filepath.Join(dir, "new")) }, []string{"d/e/old", "new"}},
		{"a mode changes", func(dir string) error { return os.Chmod(filepath.Join(dir, "d/e/old"), 0o700) }, []string{"d/e/old"}},
		{"a file is removed", func(dir string) error { return os.Remove(filepath.Join(dir, "d/e/old")) }, []string{"d/e/old"}},
		{"a folder is moved, then written to", func(dir string) error {
			if err := os.Rename(filepath.Join(dir, "d/e"), filepath.Join(dir, "f")); err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(dir, "f/old"), []byte("y"), 0o600)
		}, []string{"d/e", "f", "f/old"}},
		{"folders are made", func(dir string) error {
			if err := os.MkdirAll(filepath.Join(dir, "n/m"), 0o700); err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(dir, "n/m/new"), []byte("y"), 0o600)
		}, []string{"n"}},
		{"git writes", func(dir string) error { return os.WriteFile(filepath.Join(dir, ".git/index"), []byte("y"), 0o600) }, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "root")
			for _, below := range []string{"d/e", ".git"} {
				if err := os.MkdirAll(filepath.Join(dir, below), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.WriteFile(filepath.Join(dir, "d/e/old"), []byte("x"), 0o600); err != nil {
				t.Fatal(err)
			}
			w := dirwatch.NewTree(dir)
			if w == nil {
				agenttest.Lacks(t, "folders of this file system are not watched, or the watches of the user are used up")
			}
			defer func() { _ = w.Close() }()
			if err := tt.change(dir); err != nil {
				t.Fatal(err)
			}
			changed, known := w.Changed()
			if diff := cmp.Diff(tt.want, slices.Sorted(maps.Keys(changed))); diff != "" || !known {
				t.Errorf("known %v (-want +got)\n%s", known, diff)
			}
			if !w.Restart() || len(changed) > 0 && len(mustChange(t, w)) > 0 {
				t.Error("what changed before Restart is reported after it")
			}
		})
	}
}

func mustChange(t *testing.T, w *dirwatch.Tree) map[string]bool {
	t.Helper()
	changed, known := w.Changed()
	if !known {
		t.Fatal("the watch was lost")
	}
	return changed
}

// More happens than the kernel keeps, or the root is another: then a caller must look itself.
func TestTreeSaysThatItDoesNotKnow(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "root")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	w := dirwatch.NewTree(dir)
	if w == nil {
		agenttest.Lacks(t, "folders of this file system are not watched, or the watches of the user are used up")
	}
	defer func() { _ = w.Close() }()
	if err := os.Rename(dir, dir+"2"); err != nil {
		t.Fatal(err)
	}
	if _, known := w.Changed(); known {
		t.Error("the root was moved away and the watch knows of all changes")
	}
	w.Moved(dir + "2")
	if _, known := w.Changed(); !known {
		t.Error("the caller moved the root and the watch knows of nothing")
	}
	for i := range 20_000 { // two events each
		name := filepath.Join(dir+"2", string(rune('a'+i%2)))
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
	if _, known := w.Changed(); known {
		t.Error("events were lost and the watch knows of all changes")
	}
	if !w.Restart() {
		t.Error("the watch does not begin anew")
	}
	if err := os.WriteFile(filepath.Join(dir+"2", "x"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if !mustChange(t, w)["x"] {
		t.Error("a change after the new beginning is not reported")
	}
}
