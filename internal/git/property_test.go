package git

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"
)

// TestRestoreUndoesAnything makes random changes to a work tree. A restore must return the captured
// tree, and its undo the tree before it. Neither may change ignored files, the index, HEAD,
// branches or the stash.
func TestRestoreUndoesAnything(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		b := randomRepo(rt, t.TempDir())
		defer os.RemoveAll(b.dir)
		b.play(rt, "before")
		b.write("kept.ign", "ignored")
		b.write("d/kept.ign", "ignored")
		point := b.checkpoint()
		b.play(rt, "after")
		hidden, changed := b.untouchable(), b.reference()

		done := b.restore(point.Commit)
		b.equal("restored", point.Tree)
		if done.Before != changed {
			rt.Fatalf("the restore took the tree before it for another one")
		}
		b.restore(done.Before)
		b.equal("undone", changed)
		if b.untouchable() != hidden {
			rt.Fatalf("the index, HEAD, a branch or the stash changed")
		}
		if b.read("kept.ign")+b.read("d/kept.ign") != "ignoredignored" {
			rt.Fatalf("an ignored file changed")
		}
	})
}

// TestCommitSquashesAnything does random work of an agent, including commits. One commit must
// contain all of it, without files that were untracked before, and git status must be clean.
func TestCommitSquashesAnything(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		b := randomRepo(rt, t.TempDir())
		defer os.RemoveAll(b.dir)
		b.play(rt, "before")
		b.git("add", "-A")
		b.git("commit", "-q", "--allow-empty", "-m", "base")
		base := b.git("rev-parse", "HEAD")
		b.write("mine/untracked", "x")
		b.play(rt, "agent")

		tree := b.snapshot()
		done := b.commit(CommitRequest{Branch: "main", Parent: base, Tree: b.overlay(tree, base, "mine")})
		if got := b.git("rev-list", base+"..main"); got != done.Commit {
			rt.Fatalf("commits since the base:\n%s", got)
		}
		if got := b.git("status", "--porcelain"); got != "?? mine/" {
			rt.Fatalf("status:\n%s", got)
		}
		b.equal("committed", tree)
	})
}

// randomRepo returns a repository in a new folder.
func randomRepo(t *rapid.T, dir string) *sandbox {
	b := &sandbox{tester: t, dir: RealPath(dir)}
	b.git("init", "-q")
	b.write(".gitignore", "*.ign\n")
	b.git("add", "-A")
	b.git("commit", "-q", "-m", "start")
	b.open()
	return b
}

// equal compares the work tree with a tree, by plain git.
func (b *sandbox) equal(when, want string) {
	b.Helper()
	if got := b.reference(); got != want {
		b.Fatalf("%s: the tree differs:\n%s", when, b.git("diff-tree", "-r", want, got))
	}
	if got := b.snapshot(); got != want {
		b.Fatalf("%s: the snapshot differs:\n%s", when, b.git("diff-tree", "-r", want, got))
	}
}

// play makes a few random changes. It uses few names, so that files, folders and links collide.
func (b *sandbox) play(t *rapid.T, label string) {
	names := []string{"a", "b", "A", "d/a", "d/b", "d/e/f", "a/x", "b/x/y", "new\nline", "d/caf\xe9", " sp ace", "-x"}
	ops := []string{"write", "write", "write", "remove", "rename", "chmod", "symlink", "stage", "commit"}
	for i := range rapid.IntRange(1, 8).Draw(t, label) {
		op := rapid.SampledFrom(ops).Draw(t, fmt.Sprint(label, i))
		name := rapid.SampledFrom(names).Draw(t, "name")
		if op != "stage" && op != "commit" && !b.makeRoom(name) {
			continue
		}
		switch op {
		case "write":
			b.remove(name)
			b.write(name, rapid.SampledFrom([]string{"", "one", "two", "one\r\ntwo\n"}).Draw(t, "content"))
		case "remove":
			b.remove(name)
		case "rename":
			to := rapid.SampledFrom(names).Draw(t, "to")
			if b.makeRoom(to) {
				_ = os.Rename(b.path(name), b.path(to)) // may be impossible: then nothing changes
			}
		case "chmod":
			if info, err := os.Lstat(b.path(name)); err != nil || info.Mode()&os.ModeSymlink != 0 {
				continue // the target of a link may be outside the repository
			}
			_ = os.Chmod(b.path(name), rapid.SampledFrom([]os.FileMode{0o755, 0o644}).Draw(t, "mode"))
		case "symlink":
			b.remove(name)
			b.must(os.Symlink(rapid.SampledFrom([]string{"a", "d", "/none", "../.."}).Draw(t, "target"), b.path(name)))
		case "stage":
			b.git("add", "-A")
		case "commit":
			b.git("add", "-A")
			b.git("commit", "-q", "--allow-empty", "-m", "agent")
		}
	}
}

// makeRoom creates the folder of a path. It returns false if it would have to follow a symlink, or
// delete ignored files that must stay.
func (b *sandbox) makeRoom(p string) bool {
	dir := filepath.Dir(b.path(p))
	for d := dir; d != b.dir; d = filepath.Dir(d) {
		if info, err := os.Lstat(d); err == nil && !info.IsDir() {
			return false
		}
	}
	return os.MkdirAll(dir, 0o755) == nil
}
