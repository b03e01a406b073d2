package loopinfo

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/store"
)

// Pages open the loops that they list: those of all worktrees of the repository, and no others.
func TestPagesOpenLoopsOfEveryWorktree(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	main, linked, elsewhere := filepath.Join(dir, "main"), filepath.Join(dir, "linked"), filepath.Join(dir, "elsewhere")
	admin := filepath.Join(main, ".git", "worktrees", "linked")
	for _, folder := range []string{admin, linked, filepath.Join(elsewhere, ".git")} {
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for path, text := range map[string]string{filepath.Join(linked, ".git"): "gitdir: " + admin + "\n", filepath.Join(admin, "commondir"): "../..\n"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	st := store.Open(filepath.Join(dir, "home"))
	pages := NewPages(t.Context(), Options{Store: st, Root: main})
	for root, wanted := range map[string]bool{main: true, linked: true, elsewhere: false} {
		l, err := st.Create(root, record.Spec{Identity: record.Identity{Root: root}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := pages.loop(l.ID); (err == nil) != wanted {
			t.Errorf("a loop in %s: %v", filepath.Base(root), err)
		}
	}
}
