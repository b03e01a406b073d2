//go:build unix

package git

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/failure"
)

// Git opens a named pipe instead of a file that it reads, and waits for a writer. Every operation
// must still end, with an error that names the pipe.
func TestNamedPipeIsReported(t *testing.T) {
	t.Parallel()
	places := map[string]bool{ // whether every operation reads it
		".gitignore": true, ".gitattributes": true, ".gitmodules": true,
		".git/HEAD": true, ".git/index": true, ".git/config": true, ".git/packed-refs": true,
		".git/info/exclude": true, ".git/info/attributes": true,
		"sub/.gitignore": false, "sub/.gitattributes": false, "new/.gitignore": false,
		".git/refs/heads/main": false, ".git/refs/heads/other": false, ".git/logs/HEAD": false,
		".git/objects/info/alternates": false, ".git/shallow": false,
	}
	operations := map[string]func(ctx context.Context, b *sandbox) error{
		"open":     func(ctx context.Context, b *sandbox) error { _, err := Open(ctx, b.dir); return err },
		"status":   func(ctx context.Context, b *sandbox) error { _, err := b.repo.Status(ctx); return err },
		"snapshot": func(ctx context.Context, b *sandbox) error { _, _, err := b.repo.Snapshot(ctx); return err },
		"commit": func(ctx context.Context, b *sandbox) error {
			_, err := b.repo.Commit(ctx, CommitRequest{Loop: "l", Branch: "main", Parent: "HEAD", Tree: "HEAD", Message: "m"})
			return err
		},
	}
	for place, always := range places {
		for name, do := range operations {
			t.Run(name+" "+strings.ReplaceAll(place, "/", " "), func(t *testing.T) {
				t.Parallel()
				b := newRepo(t, "sub/.gitignore", "*.o\n", "sub/.gitattributes", "*.c text\n")
				b.git("branch", "other")
				b.write("sub/x", "new\n")
				b.write("new/x", "new\n")
				b.repo.pipesAfter = 50 * time.Millisecond
				b.pipe(place)
				ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
				defer cancel()
				err := do(ctx, b)
				pipe, found := errors.AsType[*PipeError](err)
				switch {
				case ctx.Err() != nil:
					t.Errorf("it waited: %v", err)
				case found && (pipe.Path != b.path(place) || !strings.Contains(failure.Hint(err), "remove it")):
					t.Errorf("error %v, hint %q", err, failure.Hint(err))
				case always && (err == nil || !strings.Contains(err.Error(), b.path(place))):
					t.Errorf("error %v", err)
				}
			})
		}
	}
}

// Symlinks to files that do not block are not rejected.
func TestOtherFilesAreNotPipes(t *testing.T) {
	t.Parallel()
	b := newRepo(t)
	b.must(os.MkdirAll(b.path(".git/info"), 0o755))
	for _, name := range []string{".git/info/exclude", ".git/info/attributes"} {
		b.must(os.Symlink(os.DevNull, b.path(name)))
	}
	b.must(os.Mkdir(b.path(".gitignore"), 0o755))
	b.must(syscall.Mkfifo(b.path("pipe"), 0o600)) // git does not open any of these
	b.must(syscall.Mkfifo(b.path(".git/pipe"), 0o600))
	b.must(os.Symlink("nowhere", b.path(".git/shallow")))
	b.snapshot()
	if got := b.repo.gitDirs().search(context.Background()); got != "" {
		t.Errorf("found %s", got)
	}
	b.remove(".git/info/exclude")
	b.must(os.Symlink("../pipe", b.path(".git/info/exclude")))
	if got := b.repo.gitDirs().search(context.Background()); got != b.path(".git/info/exclude") {
		t.Errorf("found %q, want the link to a pipe", got)
	}
}

// A linked worktree has two git directories, neither in its root.
func TestPipesOfALinkedWorktree(t *testing.T) {
	t.Parallel()
	b := newRepo(t)
	w, err := b.repo.Worktree(context.Background(), filepath.Join(t.TempDir(), "w"), "HEAD")
	b.must(err)
	for _, place := range []string{filepath.Join(w.gitDir, "index"), filepath.Join(w.commonDir, "config"), filepath.Join(w.commonDir, "refs", "heads", "main")} {
		kept, err := os.ReadFile(place)
		b.must(err)
		b.must(os.Remove(place))
		b.must(syscall.Mkfifo(place, 0o600))
		if got := w.gitDirs().search(context.Background()); RealPath(got) != RealPath(place) {
			t.Errorf("found %q, want %s", got, place)
		}
		if filepath.Base(place) != "main" { // Open itself reads all but the branch
			if _, err := Open(context.Background(), w.root); !errors.As(err, new(*PipeError)) {
				t.Errorf("%s: %v", place, err)
			}
		}
		b.must(os.Remove(place))
		b.must(os.WriteFile(place, kept, 0o600))
	}
}

func TestAGitThatDoesNotEndIsStopped(t *testing.T) {
	t.Parallel()
	b := newRepo(t)
	b.pipe("sub/.gitignore")
	b.write("sub/x", "new\n")
	b.repo.callTime = 50 * time.Millisecond
	_, _, err := b.repo.Snapshot(context.Background())
	if !errors.Is(err, errTimeout) || !strings.Contains(failure.Hint(err), "git status") {
		t.Errorf("error %v, hint %q", err, failure.Hint(err))
	}
}

// A pipe that replaces a file or folder counts as a deletion: the tree lacks the file, and a
// restore brings it back.
func TestPipeReplacesFile(t *testing.T) {
	t.Parallel()
	b := newRepo(t, "tracked.sh", "true\n", "dir/x", "x\n")
	b.write("new.sh", "true\n")
	point := b.checkpoint()
	for _, place := range []string{"tracked.sh", "new.sh", "dir"} {
		b.must(os.RemoveAll(b.path(place)))
		b.must(syscall.Mkfifo(b.path(place), 0o600))
	}
	tree, skipped, err := b.repo.Snapshot(context.Background())
	b.must(err)
	if len(skipped) > 0 {
		t.Errorf("skipped %v", skipped)
	}
	if got := b.git("diff-tree", "-r", "--name-only", point.Tree, tree); got != "dir/x\nnew.sh\ntracked.sh" {
		t.Errorf("the tree lacks:\n%s", got)
	}
	done := b.restore(point.Commit)
	if len(done.Left) > 0 || done.After != point.Tree || b.read("tracked.sh") != "true\n" || b.read("dir/x") != "x\n" {
		t.Errorf("left %v; %s", done.Left, b.git("status", "--porcelain"))
	}
}

// pipe replaces a file with a named pipe.
func (b *sandbox) pipe(p string) {
	b.Helper()
	b.remove(p)
	b.must(os.MkdirAll(filepath.Dir(b.path(p)), 0o755))
	b.must(syscall.Mkfifo(b.path(p), 0o600))
}
