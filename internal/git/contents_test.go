package git

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestContentsOfATree(t *testing.T) {
	t.Parallel()
	b := newRepo(t, "a.txt", "1\n", "b.txt", "", "big.txt", strings.Repeat("x", 100), "c.md", "no\n", "d e.txt", "last", "e.txt", "one too many\n")
	got, err := b.repo.Contents(t.Context(), b.snapshot(), 3, 50, func(path string) bool { return strings.HasSuffix(path, ".txt") })
	b.must(err)
	want := map[string][]byte{"a.txt": []byte("1\n"), "b.txt": {}, "d e.txt": []byte("last")}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got, err := b.repo.Contents(t.Context(), b.snapshot(), 3, 50, func(string) bool { return false }); len(got) > 0 || err != nil {
		t.Error(got, err)
	}
}
