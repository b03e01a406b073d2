package git

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/failure"
)

func (b *sandbox) restore(target string, keep ...string) Restored {
	b.Helper()
	done, err := b.repo.Restore(context.Background(), target, keep)
	b.must(err)
	return done
}

func (b *sandbox) checkpoint() Checkpoint {
	b.Helper()
	c, err := b.repo.Checkpoint(context.Background(), "brisk-otter", "try")
	b.must(err)
	return c
}

func TestRestoreBringsBackTheTree(t *testing.T) {
	t.Parallel()
	tests := map[string]func(b *sandbox){
		"modified, deleted, added": func(b *sandbox) { b.write("a.txt", "x"); b.remove("dir/b.txt"); b.write("n/e/w", "x") },
		"executable":               func(b *sandbox) { b.must(os.Chmod(b.path("a.txt"), 0o755)) },
		"file became folder":       func(b *sandbox) { b.remove("a.txt"); b.write("a.txt/x/y", "x") },
		"folder became file":       func(b *sandbox) { b.remove("dir"); b.write("dir", "x") },
		"file became symlink":      func(b *sandbox) { b.remove("a.txt"); b.must(os.Symlink("dir", b.path("a.txt"))) },
		"folder became symlink": func(b *sandbox) {
			b.must(os.Rename(b.path("dir"), b.path("other")))
			b.must(os.Symlink("other", b.path("dir")))
		},
		"symlink became file": func(b *sandbox) { b.remove("link"); b.write("link", "x") },
		"names with newlines": func(b *sandbox) { b.write("x\ny", "x"); b.remove("new\nline") },
		"case-only rename":    func(b *sandbox) { b.must(os.Rename(b.path("a.txt"), b.path("A.txt"))) },
		"a commit on a new branch": func(b *sandbox) {
			b.write("c", "c")
			b.git("checkout", "-qb", "x")
			b.git("add", "c")
			b.git("commit", "-qm", "x")
		},
		"everything staged":   func(b *sandbox) { b.write("c", "c"); b.remove("a.txt"); b.git("add", "-A") },
		"a new ignore rule":   func(b *sandbox) { b.write(".gitignore", "untracked.txt\n") },
		"read-only file":      func(b *sandbox) { b.write("a.txt", "x"); b.must(os.Chmod(b.path("a.txt"), 0o444)) },
		"a folder left empty": func(b *sandbox) { b.remove("a.txt"); b.must(os.MkdirAll(b.path("a.txt/empty"), 0o755)) },
	}
	for name, change := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newRepo(t, "a.txt", "a\n", "dir/b.txt", "b\n", "new\nline", "n\n", "x.log/.gitignore", "*\n")
			b.must(os.Symlink("a.txt", b.path("link")))
			b.write("untracked.txt", "mine\n")
			b.write("x.log/ignored", "kept\n")
			point := b.checkpoint()
			change(b)
			before, changed := b.untouchable(), b.snapshot()

			done := b.restore(point.Commit)
			if diff := cmp.Diff(Restored{Before: changed, After: point.Tree, Changed: done.Changed}, done); diff != "" {
				t.Errorf("restore (-want +got):\n%s", diff)
			}
			if got := b.reference(); got != point.Tree {
				t.Errorf("the tree differs:\n%s", b.git("diff-tree", "-r", point.Tree, got))
			}
			if b.untouchable() != before {
				t.Error("the index, HEAD, a branch or the stash changed")
			}
			if got := b.read("x.log/ignored"); got != "kept\n" {
				t.Errorf("an ignored file changed: %q", got)
			}
			if again := b.restore(point.Commit); len(again.Changed) != 0 {
				t.Errorf("restoring again changed %q", again.Changed)
			}
			b.restore(done.Before)
			if got := b.reference(); got != changed {
				t.Errorf("the undo differs:\n%s", b.git("diff-tree", "-r", changed, got))
			}
		})
	}
}

func TestRestoreLeavesAloneWhatNoSnapshotHolds(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		before, after func(b *sandbox)
		file, content string // must still exist
		left          []Skipped
	}{
		"an ignored file where a captured one was": {
			before: func(b *sandbox) { b.write("out.log", "captured") },
			after:  func(b *sandbox) { b.write(".git/info/exclude", "*.log\n"); b.write("out.log", "precious") },
			file:   "out.log", content: "precious",
			left: []Skipped{{"out.log", "a file in no snapshot is there (ignored, or too large)"}},
		},
		"an ignored file in a folder where a file was": {
			before: func(b *sandbox) { b.write("out", "captured") },
			after: func(b *sandbox) {
				b.write(".git/info/exclude", "*.log\n")
				b.remove("out")
				b.write("out/x.log", "precious")
			},
			file: "out/x.log", content: "precious",
			left: []Skipped{{"out", `"out/x.log" is in the way, and in no snapshot`}},
		},
		"an ignored file where a folder was": {
			before: func(b *sandbox) { b.write("out/deep/x", "captured") },
			after:  func(b *sandbox) { b.write(".git/info/exclude", "out\n"); b.remove("out"); b.write("out", "precious") },
			file:   "out", content: "precious",
			left: []Skipped{{"out/deep/x", `"out" is in the way, and in no snapshot`}},
		},
		"a repository where a file was": {
			before: func(b *sandbox) { b.write("out", "captured") },
			after: func(b *sandbox) {
				b.remove("out")
				b.write("out/precious", "precious")
				b.gitIn(b.path("out"), "init", "-q")
			},
			file: "out/precious", content: "precious",
			left: []Skipped{{"out", `"out/.git/HEAD" is in the way, and in no snapshot`}},
		},
		"a submodule": {
			before: func(b *sandbox) { b.submodule("sub") },
			after: func(b *sandbox) {
				b.write("sub/README", "precious")
				b.gitIn(b.path("sub"), "commit", "-qam", "next")
			},
			file: "sub/README", content: "precious",
			left: []Skipped{{"sub", "a submodule"}},
		},
		"a file that grew too large": {
			before: func(b *sandbox) {},
			after:  func(b *sandbox) { b.sparse("big", maxFile+1) },
			file:   "big", content: strings.Repeat("\x00", maxFile+1),
		},
		"an ignored file with the very content": {
			before: func(b *sandbox) { b.write("out.log", "same"); b.must(os.Symlink("x", b.path("l.log"))) },
			after:  func(b *sandbox) { b.write(".git/info/exclude", "*.log\n") },
			file:   "out.log", content: "same",
		},
		"a path to keep": {
			before: func(b *sandbox) {},
			after:  func(b *sandbox) { b.write("keep/mine", "precious") },
			file:   "keep/mine", content: "precious",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newRepo(t, "a", "1")
			tc.before(b)
			point := b.checkpoint()
			tc.after(b)
			b.write("a", "2")
			done := b.restore(point.Commit, "keep")
			if diff := cmp.Diff(tc.left, done.Left); diff != "" {
				t.Errorf("left (-want +got):\n%s", diff)
			}
			if got := b.read(tc.file); got != tc.content {
				t.Errorf("%s = %.40q", tc.file, got)
			}
			if got := b.read("a"); got != "1" {
				t.Errorf("a = %q: the rest was not restored", got)
			}
		})
	}
}

func TestRestoreIsFinishedByRunningItAgain(t *testing.T) {
	t.Parallel()
	b := newRepo(t, "a", "1", "dir/b", "1", "c", "1")
	point := b.checkpoint()
	b.write("a", "2")
	b.write("dir/b", "2")
	b.remove("c")
	b.write("c/d", "2")
	b.write("e", "2")
	want := b.checkpoint()
	changes, err := b.repo.Diff(context.Background(), want.Tree, point.Tree)
	b.must(err)
	steps := []func(s *snapshot) error{
		func(s *snapshot) error { return nil },
		func(s *snapshot) error { return b.repo.deleteFiles(changes[:2]) },
		func(s *snapshot) error { return b.repo.deleteFiles(changes) },
		func(s *snapshot) error { return b.repo.setEntries(context.Background(), s.index, changes) },
		func(s *snapshot) error { return b.repo.writeFiles(context.Background(), s.index, changes[:1]) },
	}
	for cut := range len(steps) + 1 {
		b.restore(want.Tree)
		s, err := b.repo.snapshot(context.Background())
		b.must(err)
		for _, step := range steps[:cut] {
			b.must(step(s)) // the process dies here: nothing is closed
		}
		if cut > 3 {
			s.tree, err = b.repo.writeTree(context.Background(), s.index)
			b.must(err)
			b.repo.keepIndex(s) // the worst case
		}
		b.restore(point.Tree)
		if got := b.reference(); got != point.Tree {
			t.Errorf("cut after step %d: the tree differs:\n%s", cut, b.git("diff-tree", "-r", point.Tree, got))
		}
	}
}

func TestRestoreSaysWhatStoppedIt(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		arrange func(b *sandbox) (target string)
		want    string
	}{
		"no such checkpoint": {
			func(b *sandbox) string { return "refs/pawl/none/1" },
			"no such revision",
		},
		"an option in place of a revision": {
			func(b *sandbox) string { return "--all" },
			"no such revision",
		},
		"lost content": {
			func(b *sandbox) string {
				b.write("a", "lost")
				point := b.checkpoint()
				blob := b.git("rev-parse", point.Tree+":a")
				b.must(os.Remove(filepath.Join(b.repo.gitDir, "objects", blob[:2], blob[2:])))
				b.write("a", "now")
				return point.Tree
			},
			`git has lost the content of "a"; nothing was changed`,
		},
		"a read-only folder": {
			func(b *sandbox) string {
				point := b.checkpoint()
				b.write("dir/new", "x")
				b.must(os.Chmod(b.path("dir"), 0o555))
				return point.Tree
			},
			"permission denied",
		},
		"a read-only folder to write in": {
			func(b *sandbox) string {
				point := b.checkpoint()
				b.write("dir/b", "x")
				b.must(os.Chmod(b.path("dir"), 0o555))
				return point.Tree
			},
			"Permission denied",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if strings.Contains(name, "read-only") && os.Geteuid() == 0 {
				t.Skip("root may write everywhere")
			}
			b := newRepo(t, "a", "1", "dir/b", "b")
			t.Cleanup(func() { _ = os.Chmod(b.path("dir"), 0o755) })
			target := tc.arrange(b)
			before := b.reference
			want := ""
			if strings.Contains(name, "lost") {
				want = before()
			}
			_, err := b.repo.Restore(context.Background(), target, nil)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Fatalf("error %v, want %q", err, tc.want)
			}
			if strings.Contains(tc.want, "ermission") && failure.Hint(err) == "" {
				t.Error("no hint")
			}
			if want != "" && before() != want {
				t.Error("something was changed before the error")
			}
		})
	}
}

func TestRestoreWritesLinesAsTheUserWantsThem(t *testing.T) {
	t.Parallel()
	b := newRepo(t, "a.txt", "one\ntwo\n")
	b.git("config", "core.autocrlf", "true")
	point := b.checkpoint()
	b.write("a.txt", "other\r\n")
	b.restore(point.Commit)
	if got := b.read("a.txt"); got != "one\r\ntwo\r\n" {
		t.Errorf("a.txt = %q", got)
	}
	if got := b.snapshot(); got != point.Tree {
		t.Error("the tree differs after all")
	}
}
