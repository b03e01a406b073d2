package git

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTransferBringsOneChangeAndNothingElse(t *testing.T) {
	t.Parallel()
	lines := "1\n2\n3\n4\n5\n6\n7\n"
	b := newRepo(t, "shared", lines, "clash", "a", "gone", "g", "later", "old")
	base := b.snapshot()
	b.write("shared", strings.Replace(lines, "7", "seven", 1))
	b.write("clash", "work")
	b.write("new", "n")
	b.remove("gone")
	work := b.snapshot()
	b.write("shared", strings.Replace(lines, "1", "one", 1))
	b.write("clash", "other")
	b.write("gone", "g")
	b.write("later", "changed later")
	b.remove("new")
	onto := b.snapshot()

	tree, clashes, err := b.repo.Transfer(context.Background(), onto, base, work)
	b.must(err)
	got := map[string]string{}
	for _, path := range []string{"shared", "clash", "new", "later"} {
		got[path] = b.git("show", tree+":"+path)
	}
	want := map[string]string{"shared": "one\n2\n3\n4\n5\n6\nseven", "clash": "other", "new": "n", "later": "changed later"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("tree (-want +got):\n%s", diff)
	}
	if got := b.git("ls-tree", "--name-only", tree, "gone"); got != "" {
		t.Errorf("%s is still there", got)
	}
	if diff := cmp.Diff([]string{"clash"}, clashes); diff != "" {
		t.Errorf("clashes (-want +got):\n%s", diff)
	}
	if b.snapshot() != onto {
		t.Error("the work tree changed")
	}
}
