//go:build unix

package git

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// An agent or a gate can replace the worktree, or git's record of it, by a link. What is deleted is
// then not what the link leads to.
func TestWorktreeReplacedByALink(t *testing.T) {
	for name, use := range map[string]func(b *sandbox, w *Worktree, below string) error{
		"reset": func(b *sandbox, w *Worktree, _ string) error { return w.Reset(t.Context(), "HEAD") },
		"renew": func(b *sandbox, w *Worktree, below string) error {
			return w.Renew(t.Context(), filepath.Join(below, "2"), "HEAD")
		},
		"remove":     func(b *sandbox, w *Worktree, _ string) error { return w.Remove(t.Context()) },
		"remove all": func(b *sandbox, _ *Worktree, below string) error { return b.repo.RemoveWorktrees(t.Context(), below) },
	} {
		for _, place := range []string{"record", "root"} {
			t.Run(name+" "+place, func(t *testing.T) {
				b := newRepo(t, "a", "1")
				below := RealPath(t.TempDir())
				w, err := b.repo.Worktree(t.Context(), filepath.Join(below, "1"), "HEAD")
				b.must(err)
				outside := filepath.Join(RealPath(t.TempDir()), "outside")
				at := map[string]string{"record": w.gitDir, "root": w.root}[place]
				b.must(os.Rename(at, outside)) // all that git wants is there
				b.must(os.WriteFile(filepath.Join(outside, "mine"), []byte("mine"), 0o600))
				b.must(os.Symlink(outside, at))
				err = use(b, w, below)
				if got, readErr := os.ReadFile(filepath.Join(outside, "mine")); readErr != nil || string(got) != "mine" {
					t.Errorf("the user's file: %q, %v (after %v)", got, readErr, err)
				}
			})
		}
	}
}

// The same holds for single files of git's record, and for the copy of the index: nothing is written
// through a link.
func TestWorktreeRecordOfLinks(t *testing.T) {
	for _, name := range []string{"gitdir", "HEAD", "commondir", ".git", "checked-out"} {
		for _, renew := range []bool{false, true} {
			t.Run(fmt.Sprint(name, renew), func(t *testing.T) {
				b := newRepo(t, "a", "1")
				below := RealPath(t.TempDir())
				w, err := b.repo.Worktree(t.Context(), filepath.Join(below, "1"), "HEAD")
				b.must(err)
				b.write("a", "2")
				tree := b.snapshot()
				at := filepath.Join(w.gitDir, name)
				switch name {
				case ".git":
					at = filepath.Join(w.root, name)
				case "checked-out":
					at = w.indexCopy()
				}
				outside := filepath.Join(RealPath(t.TempDir()), "mine")
				was, err := os.ReadFile(at)
				b.must(err)
				b.must(os.WriteFile(outside, was, 0o600))
				b.must(os.Remove(at))
				b.must(os.Symlink(outside, at))
				if renew {
					err = w.Renew(t.Context(), filepath.Join(below, "2"), tree)
				} else {
					err = w.Reset(t.Context(), tree)
				}
				if got, readErr := os.ReadFile(outside); readErr != nil || string(got) != string(was) {
					t.Errorf("the user's file: %q, was %q, %v (after %v)", got, was, readErr, err)
				}
			})
		}
	}
}
