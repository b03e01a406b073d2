package git

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestContentsOfATree(t *testing.T) {
	t.Parallel()
	b := newRepo(t, "a.txt", "1\n", "b.txt", "", "big.txt", strings.Repeat("x", 100), "c.md", "no\n", "d e.txt", "last", "e.txt", "one too many\n")
	texts := NewSelection(func(path string, _ Entry) bool { return strings.HasSuffix(path, ".txt") })
	entries, err := b.repo.Select(t.Context(), b.snapshot(), texts)
	b.must(err)
	got, err := b.repo.Contents(t.Context(), entries, 3, 50)
	b.must(err)
	want := map[string][]byte{"a.txt": []byte("1\n"), "b.txt": {}, "d e.txt": []byte("last")}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got, err := b.repo.Contents(t.Context(), nil, 3, 50); len(got) > 0 || err != nil {
		t.Error(got, err)
	}
}
