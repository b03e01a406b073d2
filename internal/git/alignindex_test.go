package git

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The index is to hold the commit, and git to know without reading them which files are
// like it.
func TestIndexFollowsACommit(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		commit, after func(*sandbox) // what the commit has, and what is done to the files then
		differ        string         // files that are not as committed
	}{
		"a change":         {commit: func(b *sandbox) { b.write("a", "2\n") }},
		"a new file":       {commit: func(b *sandbox) { b.write("new/b", "2\n") }},
		"a file less":      {commit: func(b *sandbox) { b.remove("a") }},
		"a mode":           {commit: func(b *sandbox) { b.must(os.Chmod(b.path("a"), 0o755)) }},
		"a link":           {commit: func(b *sandbox) { b.remove("a"); b.must(os.Symlink("dir", b.path("a"))) }},
		"a folder":         {commit: func(b *sandbox) { b.remove("a"); b.write("a/b", "2\n") }},
		"an option":        {commit: func(b *sandbox) { b.write("-q", "2\n"); b.write(":x", "2\n") }},
		"line ends":        {commit: func(b *sandbox) { b.git("config", "core.autocrlf", "true"); b.write("a", "2\r\n") }},
		"changed since":    {commit: func(b *sandbox) { b.write("a", "2\n") }, after: func(b *sandbox) { b.write("a", "3\n") }, differ: "a"},
		"gone since":       {commit: func(b *sandbox) { b.write("a", "2\n") }, after: func(b *sandbox) { b.remove("a") }, differ: "a"},
		"executable since": {commit: func(b *sandbox) { b.write("a", "2\n") }, after: func(b *sandbox) { b.must(os.Chmod(b.path("a"), 0o755)) }, differ: "a"},
		"a folder since":   {commit: func(b *sandbox) { b.write("a", "2\n") }, after: func(b *sandbox) { b.remove("a"); b.write("a/b", "x") }, differ: "a"},
		"there again":      {commit: func(b *sandbox) { b.remove("a") }, after: func(b *sandbox) { b.write("a", "1\n") }},
		"below a link since": {commit: func(b *sandbox) { b.write("dir/b", "2\n") }, after: func(b *sandbox) {
			b.must(os.Rename(b.path("dir"), b.path("e")))
			b.must(os.Symlink("e", b.path("dir")))
		}, differ: "dir/b"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := context.Background()
			b := newRepo(t, "a", "1\n", "dir/b", "1\n")
			b.must(b.repo.AlignIndex(ctx, "HEAD"))
			head := b.git("rev-parse", "HEAD")
			tt.commit(b)
			tree := b.snapshot()
			if tt.after != nil {
				tt.after(b)
			}
			changes, err := b.repo.Diff(ctx, head, tree)
			b.must(err)
			if !b.repo.setEntriesOfIndex(ctx, changes) {
				t.Fatal("it was not done")
			}
			if got := b.git("write-tree"); got != tree {
				t.Errorf("the index differs:\n%s", b.git("diff-tree", "-r", tree, got))
			}
			if diff := cmp.Diff(tt.differ, strings.TrimSpace(b.git("diff-files", "--name-only"))); diff != "" {
				t.Errorf("files that git takes for changed (-want +got)\n%s", diff)
			}
		})
	}
}
