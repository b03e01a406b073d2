package git

import (
	"context"
	"path/filepath"
	"testing"
)

// A file that was captured untracked is in the next snapshot no more once a rule ignores
// it, wherever the rule is made.
func TestARuleIsSeenAtOnce(t *testing.T) {
	t.Parallel()
	for name, rule := range map[string]func(b *sandbox){
		"at the top":   func(b *sandbox) { b.write(".gitignore", "out/\n") },
		"beside it":    func(b *sandbox) { b.write("out/.gitignore", "*\n") },
		"of the clone": func(b *sandbox) { b.write(".git/info/exclude", "out/\n") },
		"of the user":  func(b *sandbox) { b.write(filepath.Join(".git", "rules"), "out/\n") },
		"of another file": func(b *sandbox) {
			b.write(".git/more", "out/\n")
			b.git("config", "core.excludesFile", b.path(".git/more"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newRepo(t, "kept", "1")
			b.git("config", "core.excludesFile", b.path(".git/rules"))
			clean := b.snapshot()
			b.write("out/x", "made")
			for range 3 {
				b.snapshot()
			}
			rule(b)
			entries, err := b.repo.Entries(context.Background(), b.snapshot())
			b.must(err)
			if _, there := entries["out/x"]; there || clean == "" {
				t.Errorf("it is captured still: %v", entries)
			}
		})
	}
}

// What Python compiled is no work where nothing ignores it either; what is tracked of it is.
func TestCompiledPythonIsNoWork(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	b := newRepo(t, "m.py", "one\n")
	b.write("old/__pycache__/old.cpython-313.pyc", "tracked")
	b.git("add", "-A")
	b.git("commit", "-qm", "with what was compiled")
	clean := b.snapshot()
	b.write("__pycache__/m.cpython-313.pyc", "compiled")
	b.write("d/__pycache__/n.cpython-313-pytest-8.pyc", "compiled")
	b.write("d/__pycache__/notes.txt", "mine")
	b.write("old/__pycache__/old.cpython-313.pyc", "changed")
	want := map[string]bool{"d/__pycache__/notes.txt": true, "old/__pycache__/old.cpython-313.pyc": true}
	changes, err := b.repo.Diff(ctx, clean, b.snapshot())
	b.must(err)
	if len(changes) != len(want) || !want[changes[0].Path] || !want[changes[1].Path] {
		t.Errorf("captured: %+v", changes)
	}
	status, err := b.repo.Status(ctx)
	b.must(err)
	untracked, _, _, err := b.repo.Unstaged(ctx)
	b.must(err)
	for _, found := range [][]string{status.Untracked, untracked} {
		if len(found) != 1 || !want[found[0]] {
			t.Errorf("untracked: %q", found)
		}
	}
	b.git("add", "-A") // as an agent does, without looking
	b.git("checkout", "-q", "HEAD", "old")
	if changes, err = b.repo.Diff(ctx, clean, b.snapshot()); err != nil || len(changes) != 1 || changes[0].Path != "d/__pycache__/notes.txt" {
		t.Errorf("captured once staged: %+v, %v", changes, err)
	}
}
