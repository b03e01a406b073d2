package git

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The index must contain the commit, and git must know which files equal it without reading them.
func TestIndexFollowsACommit(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		commit, after func(*sandbox) // what is committed, and what is done to the files afterwards
		differ        string         // files that differ from the commit
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
			if !b.repo.setUserIndex(ctx, changes) {
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

// A status without differences shows that the index contains HEAD's tree. Later writes to the index
// invalidate that.
func TestStatusAlignsIndex(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		before, after func(*sandbox) // relative to the status
		known         bool
	}{
		"clean":           {known: true},
		"a new file":      {before: func(b *sandbox) { b.write("new", "1\n") }, known: true},
		"staged":          {before: func(b *sandbox) { b.write("a", "2\n"); b.git("add", "a") }},
		"to be added":     {before: func(b *sandbox) { b.write("new", "1\n"); b.git("add", "-N", "new") }},
		"hidden":          {before: func(b *sandbox) { b.git("update-index", "--skip-worktree", "a") }},
		"staged since":    {after: func(b *sandbox) { b.write("a", "2\n"); b.git("add", "a") }},
		"removed since":   {after: func(b *sandbox) { b.git("rm", "-q", "--cached", "a") }},
		"committed since": {after: func(b *sandbox) { b.write("a", "2\n"); b.git("commit", "-qam", "theirs") }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := context.Background()
			b := newRepo(t, "a", "1\n", "dir/b", "1\n")
			head := b.git("rev-parse", "HEAD")
			for _, do := range []func(*sandbox){tt.before, func(b *sandbox) { _, err := b.repo.Status(ctx); b.must(err) }, tt.after} {
				if do != nil {
					do(b)
				}
			}
			b.write("c", "1\n")
			commit := b.git("commit-tree", "-p", head, "-m", "next", b.snapshot())
			if _, _, known := b.repo.changesSinceAligned(ctx, commit); known != tt.known {
				t.Errorf("known %v, want %v", known, tt.known)
			}
			b.must(b.repo.AlignIndex(ctx, commit))
			if got, want := b.git("write-tree"), b.git("rev-parse", commit+"^{tree}"); got != want {
				t.Errorf("the index differs:\n%s", b.git("diff-tree", "-r", want, got))
			}
		})
	}
}

// However many files a user staged, all stay staged.
func TestAllStagedFilesStayStaged(t *testing.T) {
	t.Parallel()
	b := newRepo(t, "a", "a")
	var names []string
	for i := range 1200 {
		names = append(names, fmt.Sprintf("staged-%04d", i))
		b.write(names[i], "x")
	}
	b.git("add", ".")
	b.must(b.repo.AlignIndex(t.Context(), "HEAD", names...))
	if got := strings.Count(b.git("diff", "--cached", "--name-only"), "staged-"); got != len(names) {
		t.Errorf("%d of %d files are still staged", got, len(names))
	}
}
