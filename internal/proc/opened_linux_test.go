package proc_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pawl-dev/pawl/internal/proc"
)

func TestOpenedFilesAreThoseThatWereReadOrMade(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, "below", name) }
	if err := os.Mkdir(filepath.Dir(file("x")), 0o700); err != nil {
		t.Fatal(err)
	}
	put := func(name string) {
		t.Helper()
		if err := os.WriteFile(file(name), []byte("1"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"read", "written", "left"} {
		put(name)
	}
	w := proc.WatchOpened([]string{dir})
	if _, err := os.ReadFile(file("read")); err != nil {
		t.Fatal(err)
	}
	put("written")
	put("made")
	if err := os.Rename(file("left"), file("moved")); err != nil {
		t.Fatal(err)
	}
	want := []string{file("made"), file("moved"), file("read")}
	if diff := cmp.Diff(want, w.End(), cmpopts.SortSlices(func(a, b string) bool { return a < b })); diff != "" {
		t.Error(diff)
	}
}
