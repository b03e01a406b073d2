package git

import (
	"context"
	"path/filepath"
	"testing"
)

// An untracked file of a snapshot is missing in the next one after a rule ignores it, wherever the
// rule is.
func TestIgnoreRuleTakesEffectImmediately(t *testing.T) {
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
