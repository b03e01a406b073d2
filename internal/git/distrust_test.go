//go:build unix

package git

import (
	"testing"
)

// A filter shows git another content than there is, and what was seen with it is
// remembered: by the private index, and by the user's own.
func TestWhatAFilterHidIsSeenAfterwards(t *testing.T) {
	for name, look := range map[string]func(*sandbox){
		"git looked":  func(b *sandbox) { b.git("status"); b.git("add", "-A") },
		"we looked":   func(b *sandbox) { b.snapshot() },
		"both looked": func(b *sandbox) { b.git("add", "-A"); b.snapshot(); b.git("status") },
	} {
		t.Run(name, func(t *testing.T) {
			b := newRepo(t, "a", "old", ".gitattributes", "a filter=same\n")
			was := b.snapshot()
			b.write(".git/old", "old")
			b.write("a", "new")
			b.git("config", "filter.same.clean", "cat .git/old")
			look(b)
			if b.snapshot() != was {
				t.Fatal("the filter hides nothing")
			}
			b.git("config", "--remove-section", "filter.same")
			if err := b.repo.Distrust(); err != nil {
				t.Fatal(err)
			}
			tree := b.snapshot()
			if got, err := b.repo.Show(t.Context(), tree, "a"); err != nil || string(got) != "new" {
				t.Fatalf("%q, %v", got, err)
			}
			if again := b.snapshot(); again != tree {
				t.Errorf("another tree the next time: %s, %s", tree, again)
			}
		})
	}
}
