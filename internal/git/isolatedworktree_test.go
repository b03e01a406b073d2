package git

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What gates do to the checkout, its index and what git is told there must not outlast a
// reset, nor a move to another folder.
func TestWorktreeForgetsWhatGatesDid(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
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
			b.must(copyIndex(filepath.Join(w.GitDir(), "index"), w.indexCopy()))
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
		"a lock":           func(_ *sandbox, w *Worktree) { _ = os.WriteFile(filepath.Join(w.GitDir(), "index.lock"), nil, 0o644) },
		"other attributes": func(b *sandbox, _ *Worktree) { b.write(".gitattributes", "* text eol=crlf\n") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newRepo(t, "a", "1\n", "dir/b", "1\n", ".gitignore", "*.o\n")
			first := b.snapshot()
			b.write("a", "2\n")
			second := b.snapshot()
			below := t.TempDir()
			w, err := b.repo.Worktree(ctx, filepath.Join(below, "one"), second)
			b.must(err)
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
			if w.Root() != realPath(two) || strings.Contains(b.git("worktree", "list"), "one") || !strings.Contains(b.git("worktree", "list"), realPath(two)) {
				t.Errorf("not moved to %s: at %s\n%s", two, w.Root(), b.git("worktree", "list"))
			}
			b.must(w.Remove(ctx))
			if left, err := os.ReadDir(below); err != nil || len(left) > 0 {
				t.Errorf("left: %v, %v", left, err)
			}
		})
	}
}
