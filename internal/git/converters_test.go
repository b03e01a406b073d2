package git

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestConverters(t *testing.T) {
	t.Parallel()
	b := newRepo(t, "a", "one")
	read := func() map[string]string {
		found, err := b.repo.Converters(context.Background())
		b.must(err)
		return found
	}
	if got := read(); len(got) > 0 {
		t.Errorf("found %v in a repository that has none", got)
	}
	b.git("config", "filter.same.clean", "cat old")
	b.git("config", "core.autocrlf", "true")
	b.write(".git/info/attributes", "a filter=same\n")
	want := map[string]string{"filter.same.clean": "cat old", "info/attributes": "7505463faf06588a"}
	if diff := cmp.Diff(want, read()); diff != "" {
		t.Error(diff)
	}
}
