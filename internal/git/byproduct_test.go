package git

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Compiled files and installed packages are not work, even if nothing ignores them, unless they are
// tracked.
func TestByproductsAreNotCaptured(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	b := newRepo(t, "m.py", "one\n")
	const mine, notes, old = "d/__pycache__/notes.txt", "notes.o", "old/__pycache__/old.cpython-313.pyc"
	b.write(old, "tracked")
	b.git("add", "-A")
	b.git("commit", "-qm", "with what was compiled")
	clean := b.snapshot()
	b.write("__pycache__/m.cpython-313.pyc", "compiled")
	b.write("d/__pycache__/n.cpython-313-pytest-8.pyc", "compiled")
	b.write(mine, "mine")
	b.write("lib.o", "\x7fELF and more")
	b.write("Test.class", "\xca\xfe\xba\xbe and more")
	b.write("run", "\x7fELF and more")
	b.must(os.Chmod(b.path("run"), 0o755))
	b.write(old, "changed")
	b.write(notes, "text")
	b.write("d/.pawl-12.tmp", "half a plan") // Pawl is writing a file
	captured := func() (found []string) {
		changes, err := b.repo.Diff(ctx, clean, b.snapshot())
		b.must(err)
		for _, c := range changes {
			found = append(found, c.Path)
		}
		return found
	}
	b.write("app/node_modules/left/index.js", "1")
	b.must(os.Symlink("left", b.path("app/node_modules/link")))
	b.write(".venv/pyvenv.cfg", "home = /usr")
	b.write(".venv/lib/x.py", "x")
	b.write("app/index.js", "1")
	b.git("add", "app/index.js")
	b.git("commit", "-qm", "app", "app/index.js")
	clean = b.git("rev-parse", "HEAD")
	if diff := cmp.Diff([]string{mine, notes, old}, captured()); diff != "" {
		t.Error(diff)
	}
	b.must(os.Remove(b.path("d/.pawl-12.tmp")))
	ignored, err := b.repo.Ignored(ctx)
	b.must(err)
	if diff := cmp.Diff([]string{".venv/", "app/node_modules/"}, ignored); diff != "" {
		t.Error(diff)
	}
	status, err := b.repo.Status(ctx)
	b.must(err)
	untracked, _, _, err := b.repo.Unstaged(ctx)
	b.must(err)
	for _, found := range [][]string{status.Untracked, untracked} {
		if diff := cmp.Diff([]string{mine, notes}, found); diff != "" {
			t.Error(diff)
		}
	}
	b.git("add", "-A") // as agents do
	if diff := cmp.Diff([]string{mine, notes, old}, captured()); diff != "" {
		t.Errorf("once staged: %s", diff)
	}
}

// A reset of a checkout keeps installed packages, and removes other folders with such names.
func TestResetKeepsInstalledPackages(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	b := newRepo(t, "a.txt", "1")
	dir := filepath.Join(t.TempDir(), "checkout")
	w, err := b.repo.Worktree(ctx, dir, "HEAD")
	b.must(err)
	t.Cleanup(func() { b.must(w.Remove(context.Background())) })
	for _, name := range []string{"node_modules/left/index.js", "[odd] app/node_modules/left/index.js", ".venv/pyvenv.cfg", "venv/made.py", "made.txt"} {
		b.must(os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755))
		b.must(os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o600))
	}
	b.must(w.Reset(ctx, "HEAD"))
	found, err := os.ReadDir(dir)
	b.must(err)
	var left []string
	for _, e := range found {
		left = append(left, e.Name())
	}
	if diff := cmp.Diff([]string{".git", ".venv", "README", "[odd] app", "a.txt", "node_modules"}, left); diff != "" {
		t.Error(diff)
	}
}
