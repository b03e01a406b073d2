package git

import (
	"context"
	"os"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestUnchanged(t *testing.T) {
	t.Parallel()
	b := newRepo(t, "same", "1\n", "edited", "1\n", "gone", "1\n", "mode", "1\n", "back", "1\n")
	b.remove("gone")
	b.remove("back")
	b.write("new", "1\n")
	tree := b.snapshot()
	b.write("edited", "2\n")
	b.write("back", "1\n")
	want := []string{"same", "gone", "new"}
	if runtime.GOOS == "windows" {
		want = []string{"same", "gone", "mode", "new"}
	} else {
		b.must(os.Chmod(b.path("mode"), 0o755))
	}
	got, err := b.repo.Unchanged(context.Background(), tree, []string{"same", "edited", "gone", "mode", "back", "new"})
	b.must(err)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
