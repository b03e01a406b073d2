package git

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Changes that gates make to the checkout, its index and its git state must not survive a reset or
// a move.
func TestWorktreeForgetsWhatGatesDid(t *testing.T) {
	t.Parallel()
	inside := func(b *sandbox) { // changes that the watch must not miss
		b.must(os.Chmod(b.path("a"), 0o755))
		b.must(os.Rename(b.path("dir/b"), b.path("c")))
	}
	for name, spoil := range map[string]func(*sandbox, *Worktree){
		"a hidden change": func(b *sandbox, _ *Worktree) {
			b.write("a", "forged")
			b.git("update-index", "--assume-unchanged", "a")
		},
		"an index that believes it": func(b *sandbox, _ *Worktree) {
			b.write("a", "forged")
			b.git("-c", "core.checkStat=minimal", "-c", "core.trustctime=false", "add", "-A")
		},
		"no index": func(b *sandbox, w *Worktree) {
			b.write("a", "forged")
			b.must(os.Remove(filepath.Join(w.GitDir(), "index")))
		},
		"a forged copy": func(b *sandbox, w *Worktree) {
			b.write("a", "forged")
			b.git("add", "a")
			_, err := copyIndex(filepath.Join(w.GitDir(), "index"), w.indexCopy())
			b.must(err)
		},
		"a sparse checkout": func(b *sandbox, w *Worktree) {
			b.must(os.MkdirAll(filepath.Join(w.GitDir(), "info"), 0o755))
			b.must(os.WriteFile(filepath.Join(w.GitDir(), "info", "sparse-checkout"), []byte("/a\n"), 0o644))
			b.git("config", "core.sparseCheckout", "true")
			b.remove("dir")
		},
		"a moved folder": func(b *sandbox, _ *Worktree) {
			b.must(os.Rename(b.path("dir"), b.path("elsewhere")))
			b.must(os.Symlink("elsewhere", b.path("dir")))
		},
		"a folder for a file": func(b *sandbox, _ *Worktree) {
			b.remove("a")
			b.write("a/b/c", "x")
		},
		"a merge": func(b *sandbox, w *Worktree) {
			b.write("MERGED", "x")
			b.must(os.WriteFile(filepath.Join(w.GitDir(), "MERGE_HEAD"), []byte(b.git("rev-parse", "HEAD")+"\n"), 0o644))
		},
		"a lock":            func(_ *sandbox, w *Worktree) { _ = os.WriteFile(filepath.Join(w.GitDir(), "index.lock"), nil, 0o644) },
		"nothing":           func(*sandbox, *Worktree) {},
		"a change":          func(b *sandbox, _ *Worktree) { b.write("a", "forged") },
		"a new file":        func(b *sandbox, _ *Worktree) { b.write("dir/c", "x") },
		"a mode and a name": func(b *sandbox, _ *Worktree) { inside(b) },
		"a file, lost":      func(b *sandbox, _ *Worktree) { b.remove("dir") },
		"what git ignores":  func(b *sandbox, _ *Worktree) { b.write("x.o", "x"); b.write("d/x.o", "x") },
		"another name, lost": func(b *sandbox, _ *Worktree) {
			b.must(os.Link(b.path("a"), b.path("z")))
			b.write("z", "forged")
			b.remove("z")
		},
		"another name, there": func(b *sandbox, _ *Worktree) {
			b.must(os.Link(b.path("a"), b.path("z")))
			b.write("z", "forged")
		},
		"another name in a folder": func(b *sandbox, _ *Worktree) {
			b.must(os.Mkdir(b.path("y"), 0o755))
			b.must(os.Link(b.path("a"), b.path("y/z")))
			b.write("y/z", "forged")
			b.remove("y/z")
		},
		"another name in place of .git": func(b *sandbox, _ *Worktree) {
			git := b.read(".git")
			b.remove(".git")
			b.must(os.Link(b.path("a"), b.path(".git")))
			b.write(".git", "forged")
			b.remove(".git")
			b.write(".git", git)
		},
		"another HEAD":     func(b *sandbox, _ *Worktree) { b.git("checkout", "-q", "-B", "other") },
		"other attributes": func(b *sandbox, _ *Worktree) { b.write(".gitattributes", "* text eol=crlf\n") },
	} {
		for _, watched := range []int{0, 1} {
			t.Run(fmt.Sprint(name, watched), func(t *testing.T) { checkForgets(t, watched, spoil) })
		}
	}
}

func checkForgets(t *testing.T, watched int, spoil func(*sandbox, *Worktree)) {
	t.Parallel()
	ctx := context.Background()
	b := newRepo(t, "a", "1\n", "dir/b", "1\n", ".gitignore", "*.o\n")
	first := b.snapshot()
	b.write("a", "2\n")
	second := b.snapshot()
	below := t.TempDir()
	w, err := b.repo.Worktree(ctx, filepath.Join(below, "one"), second)
	b.must(err)
	w.watchTree(ctx, watched)
	check := func(want string) {
		t.Helper()
		inner := &sandbox{tester: t, dir: w.Root(), repo: w.Repo}
		if got := inner.reference(); got != want {
			t.Errorf("the worktree holds another tree:\n%s", b.git("diff-tree", "-r", "-p", want, got))
		}
		if got := inner.git("status", "--porcelain"); got != "" {
			t.Errorf("status in the worktree:\n%s", got)
		}
	}
	spoil(&sandbox{tester: t, dir: w.Root(), repo: w.Repo}, w)
	b.must(w.Reset(ctx, second))
	check(second)
	spoil(&sandbox{tester: t, dir: w.Root(), repo: w.Repo}, w)
	b.must(w.Reset(ctx, first))
	check(first)
	spoil(&sandbox{tester: t, dir: w.Root(), repo: w.Repo}, w)
	(&sandbox{tester: t, dir: w.Root()}).write("built/x.o", "of sources that are gone")
	two := filepath.Join(below, "two")
	b.must(w.Renew(ctx, two, second))
	check(second)
	if _, err := os.Lstat(filepath.Join(two, "built")); err == nil {
		t.Error("what git ignores is there still")
	}
	if w.Root() != RealPath(two) || strings.Contains(b.git("worktree", "list"), "one") || !strings.Contains(b.git("worktree", "list"), RealPath(two)) {
		t.Errorf("not moved to %s: at %s\n%s", two, w.Root(), b.git("worktree", "list"))
	}
	b.must(w.Remove(ctx))
	if left, err := os.ReadDir(below); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// The test checks that git does not read all files.
func TestWorktreeUpdatesWhatChanged(t *testing.T) {
	t.Parallel()
	needsWatch(t)
	ctx := context.Background()
	b := newRepo(t, "a", "1\n", "dir/b", "1\n", ".gitignore", "*.o\n")
	first := b.snapshot()
	b.write("a", "2\n")
	b.write("new/file", "2\n")
	b.remove("dir")
	second := b.snapshot()
	below := t.TempDir()
	w, err := b.repo.Worktree(ctx, filepath.Join(below, "one"), first)
	b.must(err)
	defer func() { b.must(w.Remove(ctx)) }()
	w.watchTree(ctx, 1)
	for i, tree := range []string{second, first, first, second} {
		inner := &sandbox{tester: t, dir: w.Root(), repo: w.Repo}
		inner.write("a", "forged")
		inner.write(fmt.Sprint("left", i), "forged")
		commit, err := w.commitOf(ctx, tree)
		b.must(err)
		b.must(w.resetGitState())
		if !w.update(ctx, commit) {
			t.Fatalf("step %d: all is looked at", i)
		}
		if got := inner.reference(); got != tree {
			t.Errorf("step %d: the worktree holds another tree:\n%s", i, b.git("diff-tree", "-r", tree, got))
		}
		if got := inner.git("status", "--porcelain"); got != "" {
			t.Errorf("step %d: status:\n%s", i, got)
		}
		if got := inner.git("rev-parse", "HEAD"); got != commit {
			t.Errorf("step %d: HEAD is %s", i, got)
		}
		if left, err := w.Ignored(ctx); err != nil || len(left) > 0 {
			t.Errorf("step %d: ignored: %v, %v", i, left, err)
		}
	}
}
