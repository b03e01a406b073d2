package git

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/failure"
)

func TestOpenRefusesByName(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		arrange    func(b *sandbox) (dir string)
		want, hint string
	}{
		"no repository": {func(b *sandbox) string { return t.TempDir() }, "is in no git repository", "git init"},
		"no commit": {func(b *sandbox) string {
			d := b.dir + "/sub"
			b.must(os.Mkdir(d, 0o755))
			b.gitIn(d, "init", "-q")
			return d
		}, "has no commit yet", "--allow-empty"},
		"bare":            {func(b *sandbox) string { b.git("clone", "-q", "--bare", ".", "bare.git"); return b.path("bare.git") }, "is a bare repository", "git worktree add"},
		"in .git":         {func(b *sandbox) string { return b.path(".git/objects") }, "lies inside a git directory", "work tree"},
		"no folder":       {func(b *sandbox) string { return b.path("nowhere") }, "no such file", ""},
		"a file":          {func(b *sandbox) string { return b.path("README") }, "is not a directory", ""},
		"mid-merge":       {func(b *sandbox) string { b.diverge(); b.fails("merge", "main"); return b.dir }, "in the middle of a git merge", "git merge --abort"},
		"mid-rebase":      {func(b *sandbox) string { b.diverge(); b.fails("rebase", "main"); return b.dir }, "in the middle of a git rebase", "git rebase --abort"},
		"mid-cherry-pick": {func(b *sandbox) string { b.diverge(); b.fails("cherry-pick", "main"); return b.dir }, "in the middle of a git cherry-pick", "git cherry-pick --abort"},
		"mid-revert":      {func(b *sandbox) string { b.diverge(); b.fails("revert", "main"); return b.dir }, "in the middle of a git revert", "git revert --abort"},
		"mid-bisect":      {func(b *sandbox) string { b.git("bisect", "start"); return b.dir }, "in the middle of a git bisect", "git bisect reset"},
		"mid-am": {func(b *sandbox) string {
			b.must(os.MkdirAll(b.path(".git/rebase-apply"), 0o755))
			b.write(".git/rebase-apply/applying", "")
			return b.dir
		}, "in the middle of a git am", "git am --abort"},
		"somebody else's": {func(b *sandbox) string { b.chown(12345); return b.dir }, "belongs to another user", "safe.directory"},
		"a line break":    {func(b *sandbox) string { d := b.dir + "\nx"; b.must(os.Rename(b.dir, d)); b.dir = d; return d }, "holds a line break", "rename"},
		"not UTF-8":       {func(b *sandbox) string { d := b.dir + "\xff"; b.must(os.Rename(b.dir, d)); b.dir = d; return d }, "is not UTF-8", "rename"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name == "somebody else's" && os.Geteuid() != 0 {
				t.Skip("only root can give files away")
			}
			if name == "not UTF-8" && runtime.GOOS != "linux" {
				t.Skip("the file system takes no such name")
			}
			b := newRepo(t)
			dir := tc.arrange(b)
			_, err := Open(context.Background(), dir)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Fatalf("error %v, want %q", err, tc.want)
			}
			if hint := failure.Hint(err); !strings.Contains(hint, tc.hint) {
				t.Errorf("hint %q, want %q", hint, tc.hint)
			}
			if tc.hint != "" && failure.CodeOf(err) != failure.Usage {
				t.Errorf("code %d", failure.CodeOf(err))
			}
		})
	}
}

func TestOpenFindsTheWorkTree(t *testing.T) {
	t.Parallel()
	b := newRepo(t, "dir/file", "x")
	b.git("worktree", "add", "-q", "inner")
	b.submodule("sub")
	tests := map[string]struct {
		dir, root, gitDir string
		linked            bool
	}{
		"the root":             {".", ".", ".git", false},
		"a folder in it":       {"dir", ".", ".git", false},
		"a worktree inside it": {"inner", "inner", ".git/worktrees/inner", true},
		"a submodule":          {"sub", "sub", ".git/modules/sub", false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, err := Open(context.Background(), b.path(tc.dir))
			b.must(err)
			got := []any{r.Root(), r.GitDir(), r.GitDir() != r.CommonDir()}
			if diff := cmp.Diff([]any{b.path(tc.root), b.path(tc.gitDir), tc.linked}, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if tc.linked && r.CommonDir() != b.path(".git") {
				t.Errorf("common dir %s", r.CommonDir())
			}
		})
	}
}

func TestOpenIgnoresTheEnvironmentOfAHook(t *testing.T) {
	b := newRepo(t)
	t.Setenv("GIT_DIR", "/nowhere")
	t.Setenv("GIT_INDEX_FILE", "/nowhere/index")
	t.Setenv("GIT_TRACE", "1")
	b.open()
	b.snapshot()
}

func TestScrubKeepsWhoTheUserIs(t *testing.T) {
	t.Parallel()
	got := scrubEnv([]string{"PATH=/bin", "GIT_DIR=x", "GIT_AUTHOR_NAME=Ada", "GIT_CONFIG_KEY_0=a", "GIT_TRACE=1", "GITHUB_TOKEN=t"})
	want := []string{"PATH=/bin", "GIT_AUTHOR_NAME=Ada", "GIT_CONFIG_KEY_0=a", "GITHUB_TOKEN=t"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestStatus(t *testing.T) {
	t.Parallel()
	b := newRepo(t, "a", "a", "b", "b")
	b.submodule("sub")
	b.write("a", "changed")
	b.git("rm", "-q", "b")
	b.write("staged", "x")
	b.git("add", "staged")
	b.write("new\nfile", "x")
	b.write("sub/README", "changed")
	head := b.git("rev-parse", "HEAD")
	got, err := b.repo.Status(context.Background())
	b.must(err)
	want := Status{Branch: "main", Head: head, Dirty: []string{"a", "b", "staged"}, Untracked: []string{"new\nfile"}, Submodules: []string{"sub"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	b.git("checkout", "-q", "--detach")
	b.gitIn(b.path("sub"), "commit", "-qam", "next")
	b.write("sub/more", "x")
	got, err = b.repo.Status(context.Background())
	b.must(err)
	if !got.Detached || got.Branch != "" || cmp.Diff([]string{"a", "b", "staged", "sub"}, got.Dirty) != "" {
		t.Errorf("detached: %+v", got)
	}
}

func TestStatusWritesNothing(t *testing.T) {
	t.Parallel()
	b := newRepo(t, "a", "a")
	b.write("a", "a") // same content, another time: a refresh would write the index
	before := b.untouchable()
	_, err := b.repo.Status(context.Background())
	b.must(err)
	if b.untouchable() != before {
		t.Error("the index changed")
	}
}

// An operation that the agent left open is quit without a change to the work tree, and the next
// commit contains nothing of it.
func TestQuitOperation(t *testing.T) {
	t.Parallel()
	for op, begin := range map[string]func(b *sandbox){
		"":            func(b *sandbox) {},
		"merge":       func(b *sandbox) { b.diverge(); b.fails("merge", "main") },
		"rebase":      func(b *sandbox) { b.diverge(); b.fails("rebase", "main") },
		"cherry-pick": func(b *sandbox) { b.diverge(); b.fails("cherry-pick", "main") },
		"revert":      func(b *sandbox) { b.fails("revert", "HEAD") },
		"bisect":      func(b *sandbox) { b.git("bisect", "start") },
	} {
		t.Run("git "+op, func(t *testing.T) {
			t.Parallel()
			ctx := context.Background()
			b := newRepo(t)
			begin(b)
			branch, base := "main", b.git("rev-parse", "HEAD")
			if b.git("branch", "--list", "other") != "" {
				branch = "other"
			}
			tree := b.snapshot()
			got, err := b.repo.QuitOperation(ctx)
			b.must(err)
			if got != op || operation(b.repo) != "" {
				t.Errorf("ended %q, want %q; still open: %q", got, op, operation(b.repo))
			}
			if b.snapshot() != tree {
				t.Error("the work tree changed")
			}
			b.git("symbolic-ref", "HEAD", "refs/heads/"+branch)
			b.commit(CommitRequest{Branch: branch, Parent: base, Tree: tree})
			if got := b.git("status", "--porcelain"); got != "" {
				t.Errorf("status:\n%s", got)
			}
		})
	}
}

// diverge creates two branches that conflict, and ends on the one called other.
func (b *sandbox) diverge() {
	b.Helper()
	b.write("a", "main")
	b.git("add", "-A")
	b.git("commit", "-qm", "main")
	b.git("checkout", "-q", "-b", "other", "HEAD~1")
	b.write("a", "other")
	b.git("add", "-A")
	b.git("commit", "-qm", "other")
}

// fails runs a git command that must fail.
func (b *sandbox) fails(args ...string) {
	b.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = b.dir
	if args[0] == "revert" {
		b.git("revert", "--no-edit", "--no-commit", "HEAD")
		return
	}
	if cmd.Run() == nil {
		b.Fatalf("git %v succeeded", args)
	}
}

// chown makes git believe that another user owns the repository.
func (b *sandbox) chown(uid int) {
	b.Helper()
	b.must(filepath.Walk(b.dir, func(p string, _ os.FileInfo, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(p, uid, uid)
	}))
}

// If an agent breaks the repository, git must not use the one around it.
func TestOtherRepositoryIsNotUsed(t *testing.T) {
	t.Parallel()
	for name, breakIt := range map[string]func(b *sandbox){
		".git deleted":      func(b *sandbox) { b.remove(".git") },
		"core.worktree set": func(b *sandbox) { b.git("config", "core.worktree", filepath.Dir(b.dir)) },
		"made bare":         func(b *sandbox) { b.git("config", "core.bare", "true") },
	} {
		outer := newRepo(t)
		inner := &sandbox{tester: t, dir: outer.path("inner")}
		inner.must(os.Mkdir(inner.dir, 0o755))
		inner.git("init", "-q")
		inner.write("a", "a")
		inner.git("add", "-A")
		inner.git("commit", "-qm", "start")
		inner.open()
		want := inner.snapshot()
		breakIt(inner)
		tree, _, err := inner.repo.Snapshot(context.Background())
		if name == ".git deleted" {
			if err == nil {
				t.Errorf("%s: took a snapshot of something", name)
			}
			if _, err := os.Stat(inner.path(".git")); !os.IsNotExist(err) {
				t.Errorf("%s: it is there again", name)
			}
			continue
		}
		inner.must(err)
		if tree != want {
			t.Errorf("%s: another tree", name)
		}
	}
}

func TestIgnored(t *testing.T) {
	b := newRepo(t, ".gitignore", "*.log\nout/\n", "d/a", "a")
	b.write("d/b.log", "b")
	b.write("out/deep/c", "c")
	b.write("new", "n")
	got, err := b.repo.Ignored(t.Context())
	if want := []string{"d/b.log", "out/"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
}

func TestSubmodules(t *testing.T) {
	b := newRepo(t, "a", "a")
	b.submodule("d/sub")
	subs, err := b.submodules(t.Context())
	if sub := subs["d/sub"]; err != nil || len(subs) != 1 || sub == nil || sub.Root() != RealPath(b.path("d/sub")) || sub.GitDir() == b.repo.GitDir() {
		t.Errorf("%v, %v", subs, err)
	}
	b.git("submodule", "deinit", "-f", "d/sub")
	if subs, err := b.submodules(t.Context()); err != nil || len(subs) != 0 {
		t.Errorf("what is not checked out is open: %v, %v", subs, err)
	}
}

// submodules opens the submodules of HEAD.
func (b *sandbox) submodules(ctx context.Context) (map[string]*Repo, error) {
	entries, err := b.repo.Entries(ctx, "HEAD")
	if err != nil {
		return nil, err
	}
	return b.repo.Submodules(ctx, entries)
}

func operation(r *Repo) string {
	name, _ := r.Operation()
	return name
}

// Looking at a work tree runs no program that the settings of a repository in it name: an agent can
// create one in its sandbox, and Pawl is outside. Changes inside are seen nevertheless.
func TestNoFilterOfASubmoduleRuns(t *testing.T) {
	b := newRepo(t, "a", "a")
	b.submodule("sub")
	b.git("-C", "sub", "config", "filter.x.clean", "touch ../ran; cat")
	b.write("sub/.gitattributes", "* filter=x\n")
	b.write("nested/f", "a")
	b.git("-C", "nested", "init", "-q")
	b.git("-C", "nested", "add", ".")
	b.git("-C", "nested", "commit", "-q", "-m", "a")
	b.git("add", "nested")
	b.git("-C", "nested", "config", "filter.x.clean", "touch ../ran; cat")
	b.write("nested/.gitattributes", "* filter=x\n")
	b.write("nested/f", "other")
	b.write("sub/README", "changed")
	s, err := b.repo.Status(t.Context())
	if err != nil || !slices.Equal(s.Submodules, []string{"sub"}) {
		t.Errorf("submodules %q, %v", s.Submodules, err)
	}
	if _, _, err := b.repo.Snapshot(t.Context()); err != nil {
		t.Error(err)
	}
	if subs, err := b.submodules(t.Context()); err != nil || subs["sub"] == nil {
		t.Errorf("%v, %v", subs, err)
	} else if _, _, err := subs["sub"].Snapshot(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(b.path("ran")); err == nil {
		t.Error("a filter ran")
	}
}
