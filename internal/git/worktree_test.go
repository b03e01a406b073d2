package git

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWorktreeHoldsAnyTree(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	b := newRepo(t, "a", "1", "dir/b", "1", ".gitignore", "node_modules\n")
	first := b.snapshot()
	b.write("a", "2")
	b.remove("dir")
	b.write("new\nfile", "2")
	second := b.snapshot()
	before := b.untouchable()
	dir := filepath.Join(t.TempDir(), "judge")

	w, err := b.repo.Worktree(ctx, dir, second)
	b.must(err)
	inner := &sandbox{tester: t, dir: w.Root(), repo: w.Repo}
	check := func(want string) {
		t.Helper()
		if got := inner.reference(); got != want {
			t.Errorf("the worktree holds another tree:\n%s", b.git("diff-tree", "-r", want, got))
		}
		if got := inner.git("status", "--porcelain"); got != "" {
			t.Errorf("status in the worktree:\n%s", got)
		}
	}
	check(second)
	inner.write("node_modules/x", "set-up")
	inner.write("left/over", "by a gate")
	inner.write("a", "by a gate")
	inner.write("fixture/x", "by a gate")
	inner.gitIn(inner.path("fixture"), "init", "-q")
	inner.sparse("core", maxFile+1)
	inner.git("add", "a", "left")
	b.must(w.Reset(ctx, first))
	check(first)
	if got := inner.read("node_modules/x"); got != "set-up" {
		t.Errorf("the set-up is gone: %q", got)
	}
	b.must(w.Reset(ctx, "HEAD")) // a commit works as well
	check(first)
	if b.untouchable() != before {
		t.Error("the user's index, HEAD, a branch or the stash changed")
	}

	inner.must(os.Chmod(inner.path("node_modules"), 0o500)) // read-only, like a module cache
	b.must(w.Remove(ctx))
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("the folder is still there: %v", err)
	}
	if got := b.git("worktree", "list"); strings.Contains(got, dir) {
		t.Errorf("still registered:\n%s", got)
	}
	b.must(w.Remove(ctx)) // the second time does nothing
}

func TestRemoveWorktreesTakesOnlyItsOwn(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	b := newRepo(t)
	ours, theirs := t.TempDir(), t.TempDir()
	for _, name := range []string{"one", "two", "three"} {
		_, err := b.repo.Worktree(ctx, filepath.Join(ours, name), "HEAD")
		b.must(err)
	}
	b.git("worktree", "add", "-q", filepath.Join(theirs, "mine"))
	b.git("worktree", "add", "-q", filepath.Join(theirs, "unmounted"))
	b.must(os.RemoveAll(filepath.Join(theirs, "unmounted")))
	b.must(os.RemoveAll(filepath.Join(ours, "two")))
	b.must(os.Remove(filepath.Join(ours, "three", ".git")))
	b.must(b.repo.RemoveWorktrees(ctx, ours))
	left := strings.Count(b.git("worktree", "list"), "\n") + 1
	if left != 3 {
		t.Errorf("left %d, want 3:\n%s", left, b.git("worktree", "list"))
	}
	if entries, err := os.ReadDir(ours); err != nil || len(entries) != 0 {
		t.Errorf("left in the folder: %v, %v", entries, err)
	}
	// A parent folder of the main work tree does not remove the main work tree.
	b.must(b.repo.RemoveWorktrees(ctx, filepath.Dir(b.dir)))
	if b.read("README") != "hello\n" {
		t.Error("the main work tree is gone")
	}
}

func TestLoopWorktreeIsFoundAgain(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	b := newRepo(t)
	b.write("README", "changed here")
	dir := filepath.Join(t.TempDir(), "w")
	for range 2 {
		w, _, err := b.repo.LoopWorktree(ctx, dir, "pawl/otter", "HEAD")
		b.must(err)
		if branch, _ := w.Branch(ctx); branch != "pawl/otter" || w.GitDir() == w.CommonDir() {
			t.Errorf("on %q, git's folder is %s", branch, w.GitDir())
		}
		inner := &sandbox{tester: t, dir: w.Root(), repo: w}
		if got := inner.read("README"); got != "hello\n" {
			t.Errorf("README = %q", got)
		}
	}
	if _, _, err := b.repo.LoopWorktree(ctx, dir, "other", "HEAD"); err == nil || !strings.Contains(err.Error(), "another branch") {
		t.Errorf("another loop's worktree was taken: %v", err)
	}
	if _, _, err := b.repo.LoopWorktree(ctx, dir+"2", "pawl/otter", "HEAD"); err == nil || !strings.Contains(err.Error(), "is checked out in") {
		t.Errorf("a branch was checked out twice: %v", err)
	}
	here, err := b.repo.Branch(ctx)
	b.must(err)
	if _, _, err := b.repo.LoopWorktree(ctx, dir+"3", here, "HEAD"); err == nil || !strings.Contains(err.Error(), "is checked out in") {
		t.Errorf("the branch of the user's checkout was checked out twice: %v", err)
	}
	if _, _, err := b.repo.LoopWorktree(ctx, b.path("README"), "x", "HEAD"); err == nil {
		t.Error("a file was taken for a worktree")
	}
}

func TestLoopWorktreeIsAllOrNothing(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	b := newRepo(t)
	if _, _, err := b.repo.LoopWorktree(ctx, b.path("README"), "x", "HEAD"); err == nil || b.read("README") != "hello\n" {
		t.Errorf("a file was taken for a worktree: %v", err)
	}
	dir := filepath.Join(t.TempDir(), "w")
	_, undo, err := b.repo.LoopWorktree(ctx, dir, "pawl/otter", "HEAD")
	b.must(err)
	b.must(undo(ctx))
	if _, err := os.Lstat(dir); err == nil {
		t.Error("the worktree is there still")
	}
	if got := b.git("branch", "--list", "x", "pawl/*") + b.git("worktree", "list", "--porcelain"); strings.Contains(got, "pawl/") || strings.Contains(got, "x\n") {
		t.Errorf("left behind:\n%s", got)
	}
}

func TestWorktreeOfAnUnknownTree(t *testing.T) {
	t.Parallel()
	b := newRepo(t)
	dir := filepath.Join(t.TempDir(), "w")
	if _, err := b.repo.Worktree(context.Background(), dir, "nope"); err == nil {
		t.Error("want an error")
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Error("something was left behind")
	}
}

func TestCopyIncluded(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	b := newRepo(t, ".gitignore", ".env\nsecrets/\ncache/\n*.link\n", ".worktreeinclude", "# needed\n.env\n/secrets/**\n!secrets/private\n*.link\nREADME\ntool\n")
	to := t.TempDir()
	b.write(".env", "KEY=1")
	b.write("app/.env", "KEY=2")
	b.write("secrets/run.sh", "#!/bin/sh")
	b.must(os.Chmod(b.path("secrets/run.sh"), 0o700))
	b.write("secrets/private", "x")
	b.write("cache/x", "x")
	b.write("untracked.env", "x")
	b.write("tool", "\x7fELF")
	b.must(os.Chmod(b.path("tool"), 0o700))
	b.must(os.Symlink(".env", b.path("a.link")))
	b.must(os.WriteFile(filepath.Join(to, ".env"), []byte("there"), 0o600))

	got, err := b.repo.CopyIncluded(ctx, to)
	b.must(err)
	if diff := cmp.Diff([]string{"a.link", "app/.env", "secrets/run.sh", "tool"}, got); diff != "" {
		t.Errorf("copied (-want +got):\n%s", diff)
	}
	if data, _ := os.ReadFile(filepath.Join(to, ".env")); string(data) != "there" {
		t.Errorf(".env = %q: a file that was there was overwritten", data)
	}
	if info, err := os.Stat(filepath.Join(to, "secrets/run.sh")); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("run.sh: %v, %v", info, err)
	}
	if target, _ := os.Readlink(filepath.Join(to, "a.link")); target != ".env" {
		t.Errorf("link to %q", target)
	}
	if again, err := b.repo.CopyIncluded(ctx, to); err != nil || len(again) != 0 {
		t.Errorf("again: %q, %v", again, err)
	}
	plain := newRepo(t)
	if none, err := plain.repo.CopyIncluded(ctx, to); err != nil || none != nil {
		t.Errorf("without the file: %q, %v", none, err)
	}
}
