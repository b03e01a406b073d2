package git

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A filter program only counts as missing if a file needs it.
func TestMissingFilter(t *testing.T) {
	t.Parallel()
	b := newRepo(t, "a.bin", "one")
	find := func() MissingFilter {
		found, missing, err := b.repo.MissingFilter(context.Background())
		b.must(err)
		if missing != (found != MissingFilter{}) {
			t.Errorf("missing %v: %+v", missing, found)
		}
		return found
	}
	b.git("config", "filter.big.process", "no-such-program-here filter-process")
	b.git("config", "filter.big.required", "true")
	if got := find(); got != (MissingFilter{}) {
		t.Errorf("found %+v where no file has the filter", got)
	}
	b.write(".git/info/attributes", "*.bin filter=big\n")
	if diff := cmp.Diff(MissingFilter{Filter: "big", Program: "no-such-program-here", File: "a.bin"}, find()); diff != "" {
		t.Error(diff)
	}
	b.git("config", "filter.big.process", "git filter-process")
	if got := find(); got != (MissingFilter{}) {
		t.Errorf("found %+v, which is there", got)
	}
	b.git("config", "filter.big.process", "no-such-program-here filter-process")
	b.git("config", "filter.big.required", "false")
	if got := find(); got != (MissingFilter{}) {
		t.Errorf("found %+v, which git does without", got)
	}
}
