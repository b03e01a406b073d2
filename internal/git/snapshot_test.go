package git

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestSnapshotHoldsTheWholeWorkTree(t *testing.T) {
	t.Parallel()
	tests := map[string]func(b *sandbox){
		"nothing changed":      func(b *sandbox) {},
		"modified":             func(b *sandbox) { b.write("a.txt", "new") },
		"untracked":            func(b *sandbox) { b.write("deep/er/new.txt", "x") },
		"deleted":              func(b *sandbox) { b.remove("a.txt") },
		"staged":               func(b *sandbox) { b.write("s.txt", "s"); b.git("add", "s.txt") },
		"staged, then changed": func(b *sandbox) { b.write("s.txt", "s"); b.git("add", "s.txt"); b.write("s.txt", "t") },
		"staged, then deleted": func(b *sandbox) { b.write("s.txt", "s"); b.git("add", "s.txt"); b.remove("s.txt") },
		"intent to add":        func(b *sandbox) { b.write("s.txt", "s"); b.git("add", "-N", "s.txt") },
		"executable":           func(b *sandbox) { b.must(os.Chmod(b.path("a.txt"), 0o755)) },
		"file becomes folder":  func(b *sandbox) { b.remove("a.txt"); b.write("a.txt/inner", "x") },
		"folder becomes file":  func(b *sandbox) { b.remove("dir"); b.write("dir", "x") },
		"file becomes symlink": func(b *sandbox) { b.remove("a.txt"); b.must(os.Symlink("dir", b.path("a.txt"))) },
		"folder becomes symlink": func(b *sandbox) {
			b.must(os.Rename(b.path("dir"), b.path("other")))
			b.must(os.Symlink("other", b.path("dir")))
		},
		"staged, then its folder a link to itself": func(b *sandbox) {
			b.write("n/x", "x")
			b.git("add", "n/x")
			b.snapshot()
			b.remove("n")
			b.must(os.Symlink("n", b.path("n")))
		},
		"dangling symlink":     func(b *sandbox) { b.must(os.Symlink("/no/where", b.path("link"))) },
		"newline in a name":    func(b *sandbox) { b.write("a\nb \"c\"\t.txt", "x") },
		"no UTF-8 in a name":   func(b *sandbox) { b.write("caf\xe9.txt", "x") },
		"looks like an option": func(b *sandbox) { b.write("-n", "x"); b.write(":(glob)*", "y") },
		"case-only rename":     func(b *sandbox) { b.must(os.Rename(b.path("a.txt"), b.path("A.txt"))) },
		"ignored":              func(b *sandbox) { b.write("x.log", "x"); b.write(".gitignore", "*.log\n") },
		"ignored but tracked":  func(b *sandbox) { b.write("x.log", "x"); b.git("add", "x.log"); b.write(".gitignore", "*.log\n") },
		"added by force":       func(b *sandbox) { b.write(".gitignore", "*.log\n"); b.write("x.log", "x"); b.git("add", "-f", "x.log") },
		"committed by agent":   func(b *sandbox) { b.write("a.txt", "new"); b.git("commit", "-qam", "mine"); b.write("a.txt", "newer") },
		"no longer tracked":    func(b *sandbox) { b.git("rm", "-q", "--cached", "a.txt"); b.write(".gitignore", "a.txt\n") },
		"autocrlf":             func(b *sandbox) { b.git("config", "core.autocrlf", "true"); b.write("a.txt", "one\r\ntwo\n") },
		"safecrlf": func(b *sandbox) {
			b.git("config", "core.autocrlf", "input")
			b.write("mixed.txt", "one\r\ntwo\n")
		},
		"untracked beside": func(b *sandbox) { b.git("reset", "-q"); b.write("n", "n") },
	}
	for name, change := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if runtime.GOOS != "linux" && (strings.Contains(name, "UTF-8") || strings.Contains(name, "case")) {
				t.Skip("the file system of this system does not allow such names")
			}
			b := newRepo(t, "a.txt", "a\n", "dir/b.txt", "b\n", "dir/sub/c.txt", "c\n")
			b.snapshot() // so that the second one uses a kept index
			change(b)
			before, want := b.untouchable(), b.reference()
			for range 2 {
				if got := b.snapshot(); got != want {
					t.Errorf("snapshot differs from what git add makes:\n%s", b.git("diff-tree", "-r", want, got))
				}
			}
			if b.untouchable() != before {
				t.Error("the index, HEAD, a branch or the stash changed")
			}
		})
	}
}

func TestSnapshotForgetsWhatBecameIgnored(t *testing.T) {
	t.Parallel()
	b := newRepo(t)
	b.write("node_modules/lib.js", "x")
	b.snapshot()
	b.write(".gitignore", "node_modules\n")
	tree := b.snapshot()
	if got := b.git("ls-tree", "-r", "--name-only", tree); strings.Contains(got, "lib.js") {
		t.Errorf("an ignored file is still in the tree:\n%s", got)
	}
	if got := b.read("node_modules/lib.js"); got != "x" {
		t.Errorf("the ignored file itself: %q", got)
	}
}

func TestSnapshotNamesWhatItSkips(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		arrange func(b *sandbox)
		want    []Skipped
	}{
		"an untracked file over 50 MB": {
			func(b *sandbox) { b.sparse("big.bin", maxFile+1) },
			[]Skipped{{"big.bin", "larger than 50 MB"}},
		},
		"a captured file that grew over 50 MB": {
			func(b *sandbox) { b.write("big.bin", "small"); b.snapshot(); b.sparse("big.bin", maxFile+1) },
			[]Skipped{{"big.bin", "larger than 50 MB"}},
		},
		"a repository inside, with and without a commit": {
			func(b *sandbox) {
				b.must(os.MkdirAll(b.path("vendor/empty"), 0o755))
				b.must(os.MkdirAll(b.path("vendor/full"), 0o755))
				b.gitIn(b.path("vendor/empty"), "init", "-q")
				b.gitIn(b.path("vendor/full"), "init", "-q")
				b.gitIn(b.path("vendor/full"), "commit", "-q", "--allow-empty", "-m", "x")
				b.write("vendor/empty/file", "x")
			},
			[]Skipped{{"vendor/empty/", "a nested repository"}, {"vendor/full/", "a nested repository"}},
		},
		"a worktree inside": {
			func(b *sandbox) { b.git("worktree", "add", "-q", "inner") },
			[]Skipped{{"inner/", "a nested repository"}},
		},
		"a submodule with changes of its own": {
			func(b *sandbox) { b.submodule("sub"); b.write("sub/README", "changed") },
			[]Skipped{{"sub", "a submodule with changes of its own"}},
		},
		"a file that may not be read": {
			func(b *sandbox) {
				b.write("secret", "x")
				b.must(os.Chmod(b.path("secret"), 0))
			},
			[]Skipped{{"secret", "cannot be read"}},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if strings.Contains(name, "may not be read") && os.Geteuid() == 0 {
				t.Skip("root may read everything")
			}
			b := newRepo(t)
			tc.arrange(b)
			for range 2 {
				_, got, err := b.repo.Snapshot(context.Background())
				b.must(err)
				if diff := cmp.Diff(tc.want, got); diff != "" {
					t.Errorf("skipped (-want +got):\n%s", diff)
				}
			}
		})
	}
}

func TestSiftBoundsUntrackedFilesTogether(t *testing.T) {
	t.Parallel()
	b := newRepo(t)
	var files []statusFile
	for _, name := range []string{"b", "a", "small"} {
		b.sparse(name, maxFile)
		files = append(files, statusFile{staged: '?', unstaged: '?', sub: "N...", path: name})
	}
	b.write("small", "x")
	p := b.repo.classify(files, maxUntracked-maxFile-1)
	if diff := cmp.Diff([]string{"small", "b"}, p.add); diff != "" {
		t.Errorf("added (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]Skipped{{"a", "untracked files are larger than 1 GB together"}}, p.skipped); diff != "" {
		t.Errorf("skipped (-want +got):\n%s", diff)
	}
	if !p.full {
		t.Error("a full snapshot does not say so")
	}
}

func TestSnapshotTakesASubmodulesNewCommit(t *testing.T) {
	t.Parallel()
	b := newRepo(t)
	b.submodule("sub")
	b.gitIn(b.path("sub"), "commit", "-q", "--allow-empty", "-m", "next")
	if got, want := b.snapshot(), b.reference(); got != want {
		t.Errorf("snapshot %s, want %s", got, want)
	}
}

func TestSnapshotOfASparseCheckout(t *testing.T) {
	t.Parallel()
	b := newRepo(t, "in/a", "a", "out/b", "b")
	b.git("sparse-checkout", "set", "in")
	b.write("in/a", "changed")
	tree := b.snapshot()
	if got := b.git("ls-tree", "-r", "--name-only", tree); got != "README\nin/a\nout/b" {
		t.Errorf("the tree lost what is not checked out: %q", got)
	}
	b.git("sparse-checkout", "set", "out")
	b.write("in/a", "changed")
	if got := b.git("show", b.snapshot()+":out/b"); got != "b" {
		t.Errorf("out/b = %q", got)
	}
}

func TestSnapshotResolvesConflictsOfAMerge(t *testing.T) {
	t.Parallel()
	b := newRepo(t, "a", "a\n")
	b.git("checkout", "-q", "-b", "other")
	b.write("a", "other\n")
	b.git("commit", "-qam", "other")
	b.git("checkout", "-q", "main")
	b.write("a", "main\n")
	b.git("commit", "-qam", "main")
	if err := mergeConflict(b); err == nil {
		t.Fatal("want a conflict")
	}
	tree := b.snapshot()
	if got := b.git("show", tree+":a"); !strings.Contains(got, "<<<<<<<") {
		t.Errorf("a = %q", got)
	}
	op, err := b.repo.QuitOperation(context.Background())
	b.must(err)
	if op != "merge" || operation(b.repo) != "" {
		t.Errorf("operation %q was ended, %q is still open", op, operation(b.repo))
	}
	if got := b.snapshot(); got != tree {
		t.Errorf("the work tree changed: %s", got)
	}
}

func TestSnapshotLeavesNoFoldersBehind(t *testing.T) {
	t.Parallel()
	b := newRepo(t)
	b.snapshot()
	b.write("n", "n")
	b.snapshot()
	b.git("add", "n")
	b.snapshot()
	entries, err := os.ReadDir(filepath.Join(b.repo.gitDir, stateDir))
	b.must(err)
	if len(entries) != 1 || !strings.HasPrefix(entries[0].Name(), "index-") {
		t.Errorf("left: %v", entries)
	}
}

// sparse creates a file with a size that uses no disk space.
func (b *sandbox) sparse(p string, size int64) {
	b.Helper()
	b.write(p, "")
	b.must(os.Truncate(b.path(p), size))
}

// submodule adds a submodule with a commit.
func (b *sandbox) submodule(p string) {
	b.Helper()
	source := b.dir + "-source"
	b.must(os.MkdirAll(source, 0o755))
	b.gitIn(source, "init", "-q")
	b.must(os.WriteFile(filepath.Join(source, "README"), []byte("sub\n"), 0o644))
	b.gitIn(source, "add", "-A")
	b.gitIn(source, "commit", "-q", "-m", "sub")
	b.git("submodule", "--quiet", "add", source, p)
	b.git("commit", "-q", "-m", "add submodule")
}

func TestSnapshotSeesWhatGitWasToldNotToLookAt(t *testing.T) {
	t.Parallel()
	for _, mark := range []string{"--assume-unchanged", "--skip-worktree"} {
		b := newRepo(t, "a", "a", "b", "b")
		b.write("a", "changed")
		want := b.snapshot()
		b.write("a", "a")
		b.snapshot()
		b.git("update-index", mark, "a")
		b.write("a", "changed")
		if got := b.git("status", "--porcelain"); got != "" {
			t.Fatalf("%s: status:\n%s", mark, got)
		}
		if got := b.snapshot(); got != want {
			t.Errorf("%s: the change is not in the snapshot", mark)
		}
		status, err := b.repo.Status(context.Background())
		b.must(err)
		if diff := cmp.Diff([]string{"a"}, status.Hidden); diff != "" {
			t.Errorf("%s: hidden (-want +got):\n%s", mark, diff)
		}
		b.remove("a")
		if got := b.git("ls-tree", "--name-only", b.snapshot()); got != "README\nb" {
			t.Errorf("%s: the deletion is not in the snapshot: %s", mark, got)
		}
	}
}

func TestSnapshotSeesAChangeOfTheSameSizeAndTime(t *testing.T) {
	t.Parallel()
	b := newRepo(t, "a", "one")
	b.git("config", "core.checkStat", "minimal")
	b.git("config", "core.trustctime", "false")
	then := time.Now().Add(-time.Hour)
	b.must(os.Chtimes(b.path("a"), then, then))
	before := b.snapshot()
	time.Sleep(1100 * time.Millisecond) // git compares times in seconds
	b.write("a", "two")
	b.must(os.Chtimes(b.path("a"), then, then))
	if after := b.snapshot(); after == before {
		t.Error("the change is not in the snapshot")
	}
}

func TestObjectsAreNotReplaced(t *testing.T) {
	t.Parallel()
	b := newRepo(t, "a", "one", "b", "two")
	b.git("replace", b.git("rev-parse", "HEAD:a"), b.git("rev-parse", "HEAD:b"))
	got, err := b.repo.Show(context.Background(), b.git("rev-parse", "HEAD^{tree}"), "a")
	b.must(err)
	if string(got) != "one" {
		t.Errorf("a is %q", got)
	}
}

func TestSnapshotWithoutAnIndex(t *testing.T) {
	t.Parallel()
	b := newRepo(t, "a", "a")
	b.write("ignored-but-tracked.log", "x")
	b.git("add", "-A")
	b.git("commit", "-qm", "x")
	b.write(".git/info/exclude", "*.log\n")
	b.must(os.Remove(b.path(".git/index")))
	if got, want := b.snapshot(), b.git("rev-parse", "HEAD^{tree}"); got != want {
		t.Errorf("snapshot %s, want %s", got, want)
	}
	if _, err := os.Stat(b.path(".git/index")); !os.IsNotExist(err) {
		t.Error("the user's index was made")
	}
}

func TestSnapshotsAtOnceDoNotMeet(t *testing.T) {
	t.Parallel()
	b := newRepo(t)
	for i := range 50 {
		b.write(strings.Repeat("x", i+1), "x")
	}
	want := b.reference()
	got := make(chan string)
	for range 4 {
		go func() {
			tree, _, err := b.repo.Snapshot(context.Background())
			if err != nil {
				tree = err.Error()
			}
			got <- tree
		}()
	}
	for range 4 {
		if tree := <-got; tree != want {
			t.Errorf("snapshot %s, want %s", tree, want)
		}
	}
}
