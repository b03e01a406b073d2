package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/git/indexfile"
)

// Indexes are read as git reads them, in each version and with each flag.
func TestReadIndexAsGitDoes(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"2", "3", "4"} {
		b := newRepo(t, "a", "1", "dir/b", "1", "dir/b.c", "1", "dir/bb/x\ny", "1", strings.Repeat("long/", 60)+"name", "1", "skip", "1", "assume", "1")
		b.must(os.Symlink("a", b.path("link")))
		b.git("add", "link")
		b.git("update-index", "--chmod=+x", "a")
		if version != "2" {
			b.git("update-index", "--skip-worktree", "skip")
		}
		b.git("update-index", "--assume-unchanged", "assume")
		b.write("meant", "later")
		b.git("add", "-N", "meant")
		b.git("update-index", "--index-version", version)
		entries, err := indexfile.Read(filepath.Join(b.repo.gitDir, "index"))
		b.must(err)
		var got, tags strings.Builder
		for _, e := range entries {
			fmt.Fprintf(&got, "%s %s %t\t%s\x00", Entry(e.Object()).Mode, Entry(e.Object()).ID, e.IsConflict(), e.Path)
			tag := "H"
			if e.IsSkipped() {
				tag = "S"
			}
			if e.IsAssumed() {
				tag = strings.ToLower(tag)
			}
			fmt.Fprintf(&tags, "%s %s\x00", tag, e.Path)
			if e.IsIntended() != (e.Path == "meant") {
				t.Errorf("%s: intended %t", e.Path, e.IsIntended())
			}
		}
		if diff := cmp.Diff(strings.ReplaceAll(b.git("ls-files", "-s", "-z"), " 0\t", " false\t"), got.String()); diff != "" {
			t.Errorf("version %s (-git +read):\n%s", version, diff)
		}
		if diff := cmp.Diff(b.git("ls-files", "-v", "-z"), tags.String()); diff != "" {
			t.Errorf("version %s (-git +read):\n%s", version, diff)
		}
	}
}

// Indexes with conflicts, split indexes and those with SHA-256 are left to git.
func TestReadIndexOfOtherKinds(t *testing.T) {
	t.Parallel()
	b := newRepo(t, "a", "1")
	b.git("checkout", "-qb", "other")
	b.write("a", "2")
	b.git("commit", "-qam", "2")
	b.git("checkout", "-q", "-")
	b.write("a", "3")
	b.git("commit", "-qam", "3")
	if mergeConflict(b) == nil {
		t.Fatal("no conflict")
	}
	entries, err := indexfile.Read(filepath.Join(b.repo.gitDir, "index"))
	b.must(err)
	n := 0
	for _, e := range entries {
		if e.IsConflict() {
			n++
		}
	}
	if n != 3 {
		t.Errorf("%d versions: %+v", n, entries)
	}
	b.git("reset", "-q", "--hard")
	b.git("update-index", "--split-index")
	if _, err := indexfile.Read(filepath.Join(b.repo.gitDir, "index")); !errors.Is(err, indexfile.ErrFormat) {
		t.Errorf("a split index: %v", err)
	}
	wide := &sandbox{tester: t, dir: t.TempDir()}
	wide.git("init", "-q", "--object-format=sha256")
	wide.write("a", "1")
	wide.git("add", "a")
	if _, err := indexfile.Read(wide.path(".git/index")); !errors.Is(err, indexfile.ErrFormat) {
		t.Errorf("an index of SHA-256: %v", err)
	}
	wide.git("commit", "-qm", "1")
	wide.git("update-index", "--assume-unchanged", "a")
	wide.open()
	s, err := wide.repo.Status(context.Background())
	wide.must(err)
	if len(s.Hidden) != 1 {
		t.Errorf("hidden: %v", s.Hidden)
	}
}
