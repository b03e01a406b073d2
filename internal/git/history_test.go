package git

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestHistory(t *testing.T) {
	t.Parallel()
	b := newRepo(t, "a", "one", "d/b c", "two")
	b.write("a", "three")
	b.write("new", "x")
	b.git("add", ".")
	b.git("commit", "-qm", "second")
	got, err := b.repo.History(context.Background(), 10)
	if diff := cmp.Diff([][]string{{"a", "new"}, {"README", "a", "d/b c"}}, got); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
	if got, err = b.repo.History(context.Background(), 1); len(got) != 1 || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}
