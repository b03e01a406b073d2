package git

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/failure"
)

// shadowed returns a folder without git, and Pawl's repository for it.
func shadowed(t *testing.T, files ...string) (b *sandbox, gitDir string) {
	t.Helper()
	b = &sandbox{tester: t, dir: RealPath(t.TempDir())}
	for i := 0; i+1 < len(files); i += 2 {
		b.write(files[i], files[i+1])
	}
	gitDir = filepath.Join(t.TempDir(), "shadow.git")
	repo, err := Shadow(context.Background(), b.dir, gitDir)
	b.must(err)
	b.repo = repo
	return b, gitDir
}

func (b *sandbox) listing() []string {
	b.Helper()
	var all []string
	b.must(filepath.WalkDir(b.dir, func(p string, _ os.DirEntry, err error) error {
		all = append(all, strings.TrimPrefix(p, b.dir))
		return err
	}))
	return all
}

func TestShadowWritesNothingBesideTheWork(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	b, gitDir := shadowed(t, "a.txt", "1\r\n", "sub/b.txt", "1\n", "node_modules/x", "x", ".env", "SECRET=1", "Cargo.toml", "", "target/out", "x")
	before := b.listing()
	s, err := b.repo.Status(ctx)
	b.must(err)
	if s.Branch != "pawl" || s.Head == "" || len(s.Dirty)+len(s.Untracked) > 0 {
		t.Errorf("status: %+v", s)
	}
	if got, want := must(t)(b.repo.git(ctx, "ls-tree", "-r", "--name-only", "HEAD")), "Cargo.toml\na.txt\nsub/b.txt"; got != want {
		t.Errorf("the first commit holds %q", got)
	}
	point, err := b.repo.Checkpoint(ctx, "brisk-otter-7f3a", "start")
	b.must(err)

	again, err := Shadow(ctx, b.dir, gitDir) // found, not made anew
	b.must(err)
	if head, err := again.Head(ctx); err != nil || head != s.Head {
		t.Errorf("HEAD %s, %v; want %s", head, err, s.Head)
	}
	b.write("a.txt", "2\n")
	b.remove("sub")
	b.write("new.txt", "2\n")
	changes, err := again.Diff(ctx, point.Commit, b.snapshot())
	b.must(err)
	var paths []string
	for _, c := range changes {
		paths = append(paths, c.Path)
	}
	slices.Sort(paths)
	if diff := cmp.Diff([]string{"a.txt", "new.txt", "sub/b.txt"}, paths); diff != "" {
		t.Error(diff)
	}
	_, err = again.Restore(ctx, point.Commit, nil)
	b.must(err)
	if got := b.read("a.txt"); got != "1\r\n" {
		t.Errorf("a.txt is %q", got)
	}
	if diff := cmp.Diff(before, b.listing()); diff != "" {
		t.Error(diff)
	}
}

func TestShadowHasWorktrees(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	b, _ := shadowed(t, "a.txt", "1\n")
	tree := b.snapshot()
	b.write("a.txt", "2\n")
	w, err := b.repo.Worktree(ctx, filepath.Join(t.TempDir(), "judge"), tree)
	b.must(err)
	if got, err := os.ReadFile(filepath.Join(w.Root(), "a.txt")); err != nil || string(got) != "1\n" {
		t.Errorf("a.txt is %q, %v", got, err)
	}
	b.must(w.Reset(ctx, b.snapshot()))
	if got, err := os.ReadFile(filepath.Join(w.Root(), "a.txt")); err != nil || string(got) != "2\n" {
		t.Errorf("a.txt is %q, %v", got, err)
	}
	b.must(w.Remove(ctx))
	if got := b.read("a.txt"); got != "2\n" {
		t.Errorf("the work itself is %q", got)
	}
}

// A repository without a commit is no obstacle, and does not change.
func TestShadowBesideAnUnbornBranch(t *testing.T) {
	t.Parallel()
	b := &sandbox{tester: t, dir: RealPath(t.TempDir())}
	b.git("init", "-q")
	b.write("a.txt", "1\n")
	b.git("add", "a.txt")
	before := b.listing()
	repo, err := Shadow(context.Background(), b.dir, filepath.Join(t.TempDir(), "shadow.git"))
	b.must(err)
	b.repo = repo
	if tree := b.snapshot(); !strings.Contains(must(t)(repo.git(context.Background(), "ls-tree", tree)), "a.txt") {
		t.Error("the snapshot lacks a.txt")
	}
	if diff := cmp.Diff(before, b.listing()); diff != "" {
		t.Error(diff)
	}
}

func must(t *testing.T) func(string, error) string {
	return func(s string, err error) string {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
}

func TestShadowRefuses(t *testing.T) {
	t.Parallel()
	dir := RealPath(t.TempDir())
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ root, gitDir, want string }{
		"a home":    {dir, filepath.Join(dir, "state", "shadow.git"), "holds Pawl's own folder too"},
		"a file":    {file, filepath.Join(t.TempDir(), "shadow.git"), "not a folder"},
		"no folder": {filepath.Join(dir, "none"), filepath.Join(t.TempDir(), "shadow.git"), "none"},
	} {
		_, err := Shadow(context.Background(), c.root, c.gitDir)
		if err == nil || !strings.Contains(err.Error(), c.want) || failure.CodeOf(err) != failure.Usage {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Stat(c.gitDir); err == nil {
			t.Errorf("%s: a repository was made", name)
		}
	}
}

// Reopen works in the middle of a user's merge.
func TestReopenInAMerge(t *testing.T) {
	t.Parallel()
	b := newRepo(t)
	b.diverge()
	b.fails("merge", "main")
	repo, err := Reopen(context.Background(), b.dir)
	b.must(err)
	if operation(repo) != "merge" {
		t.Errorf("operation %q", operation(repo))
	}
}

func TestTracks(t *testing.T) {
	t.Parallel()
	b := newRepo(t, "sub/[a].md", "x")
	b.write("sub/a", "x")
	for path, want := range map[string]bool{"[a].md": true, "a": false, "none": false} {
		got, err := Tracks(context.Background(), b.path("sub"), path)
		if err != nil || got != want {
			t.Errorf("%s: %v, %v", path, got, err)
		}
	}
	if got, err := Tracks(context.Background(), t.TempDir(), "a"); err != nil || got {
		t.Errorf("no repository: %v, %v", got, err)
	}
}
