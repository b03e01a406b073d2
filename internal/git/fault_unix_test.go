//go:build unix

package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/pawl-dev/pawl/internal/agent/agenttest"
	"github.com/pawl-dev/pawl/internal/failure"
)

// A git that could not start or died has given no answer. Whichever git call of an operation fails,
// the operation returns an error or the same result as without the fault.
func TestFailedGitIsNoAnswer(t *testing.T) {
	operations := map[string]struct {
		arrange func(b *sandbox)
		do      func(ctx context.Context, b *sandbox) (string, error)
	}{
		"open": {nil, func(ctx context.Context, b *sandbox) (string, error) {
			_, err := Open(ctx, b.dir)
			if _, unborn := errors.AsType[*NoCommitError](err); unborn {
				return "no commit", nil
			}
			return "opened", err
		}},
		"default branch": {func(b *sandbox) { b.git("config", "init.defaultBranch", "none") }, func(ctx context.Context, b *sandbox) (string, error) { return b.repo.DefaultBranch(ctx) }},
		"default branch, configured": {
			func(b *sandbox) { b.git("branch", "dev"); b.git("config", "init.defaultBranch", "dev") },
			func(ctx context.Context, b *sandbox) (string, error) { return b.repo.DefaultBranch(ctx) },
		},
		"ensure a new branch":      {nil, ensureBranch},
		"ensure one that is there": {func(b *sandbox) { b.git("branch", "pawl/l") }, ensureBranch},
		"ensure one that is elsewhere": {func(b *sandbox) {
			b.git("branch", "pawl/l")
			b.git("commit", "-q", "--allow-empty", "-m", "next")
		}, ensureBranch},
		"switch back": {func(b *sandbox) {
			b.git("branch", "pawl/l")
			b.git("commit", "-q", "--allow-empty", "-m", "next")
		}, func(ctx context.Context, b *sandbox) (string, error) {
			done, err := b.repo.SwitchBack(ctx, SwitchRequest{Loop: "l", Branch: "pawl/l", Base: "HEAD"})
			return done.From + " " + strconv.FormatBool(done.Head != "" && done.Head+"\n" == b.read(".git/refs/heads/pawl/l")), err
		}},
		"remote": {func(b *sandbox) {
			b.git("remote", "add", "origin", "elsewhere")
			b.git("remote", "add", "mine", "here")
			b.git("config", "branch.main.remote", "mine")
		}, func(ctx context.Context, b *sandbox) (string, error) {
			to, err := b.repo.Remote(ctx, "main")
			return to.Name, err
		}},
		"commit, signed": {func(b *sandbox) {
			b.hook(".git/sign", "cat >/dev/null; printf '[GNUPG:] SIG_CREATED ' >&2; printf 'a signature\\n'\n")
			b.git("config", "gpg.program", b.path(".git/sign"))
			b.git("config", "commit.gpgsign", "true")
		}, func(ctx context.Context, b *sandbox) (string, error) {
			done, err := b.repo.Commit(ctx, CommitRequest{Loop: "l", Branch: "main", Parent: "HEAD", Tree: "HEAD", Message: "m"})
			return strconv.FormatBool(done.Unsigned == ""), err
		}},
		"submodules": {func(b *sandbox) { b.submodule("sub") }, func(ctx context.Context, b *sandbox) (string, error) {
			subs, err := b.submodules(ctx)
			return strconv.Itoa(len(subs)), err
		}},
		"shadow": {func(b *sandbox) {
			b.must(os.Mkdir(b.path("../of-"+filepath.Base(b.dir)), 0o755))
			_, err := b.shadow(context.Background())
			b.must(err)
			b.write("../of-"+filepath.Base(b.dir)+"/work", "of the loop")
		}, func(ctx context.Context, b *sandbox) (string, error) { return b.shadow(ctx) }},
		"worktree of a commit": {nil, func(ctx context.Context, b *sandbox) (string, error) {
			commit, err := b.repo.commitOf(ctx, "HEAD")
			return strconv.FormatBool(commit+"\n" == b.read(".git/refs/heads/main")), err
		}},
	}
	path := os.Getenv("PATH")
	for name, op := range operations {
		t.Run(name, func(t *testing.T) {
			fresh := func() *sandbox {
				t.Setenv("PATH", path)
				b := newRepo(t, "a.txt")
				if op.arrange != nil {
					op.arrange(b)
				}
				return b
			}
			want, err := op.do(context.Background(), fresh())
			refused := err != nil
			for n := 1; ; n += agenttest.Stride(4) {
				b := fresh()
				count := failing(t, n)
				got, err := op.do(context.Background(), b)
				if err == nil && (got != want || refused) {
					t.Errorf("with git %d of it dead: %q, want %q or an error", n, got, want)
				}
				if calls, _ := os.ReadFile(count); len(calls) < n {
					t.Logf("%d gits", len(calls))
					return
				}
			}
		})
	}
}

// failing puts a git first on PATH whose n-th call is killed before it prints anything. The file
// has one byte for each call.
func failing(t *testing.T, n int) (count string) {
	t.Helper()
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	count = filepath.Join(dir, "count")
	script := fmt.Sprintf("#!/bin/sh\nprintf x >>%s\n[ $(wc -c <%[1]s) -ne %d ] || kill -9 $$\nexec %s \"$@\"\n", count, n, git)
	if err := os.WriteFile(filepath.Join(dir, "git"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	return count
}

func ensureBranch(ctx context.Context, b *sandbox) (string, error) {
	if _, err := b.repo.EnsureBranch(ctx, "pawl/l"); err != nil {
		return "", err
	}
	return b.repo.Branch(ctx)
}

// shadow opens Pawl's repository for a folder, and returns its commit.
func (b *sandbox) shadow(ctx context.Context) (string, error) {
	r, err := Shadow(ctx, b.path("../of-"+filepath.Base(b.dir)), b.path("../shadow-"+filepath.Base(b.dir)))
	if err != nil {
		return "", err
	}
	head, err := r.Head(ctx)
	if err != nil {
		return "", err
	}
	kept, err := os.ReadFile(b.path("../first-" + filepath.Base(b.dir)))
	if os.IsNotExist(err) {
		return "the first", os.WriteFile(b.path("../first-"+filepath.Base(b.dir)), []byte(head), 0o600)
	}
	return map[bool]string{true: "the first", false: "another"}[string(kept) == head], err
}

// A git that failed on a full or read-only disk returns the error of the system, so that a caller
// can tell the user what to do.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	for words, want := range map[string]error{
		"fatal: sha1 file 'index.lock' write error. Out of diskspace":         syscall.ENOSPC,
		"error: unable to write symref for HEAD: No space left on device":     syscall.ENOSPC,
		"error: unable to write file a.go: Disk quota exceeded":               syscall.EDQUOT,
		"fatal: Unable to create '/r/.git/index.lock': Read-only file system": syscall.EROFS,
	} {
		err := fmt.Errorf("take a snapshot: %w", &runError{verb: "update-index", code: 128, stderr: words, err: errors.New("exit status 128")})
		if !errors.Is(err, want) || errors.Is(err, syscall.EPERM) || failure.Hint(err) == "" {
			t.Errorf("%s: not %v; hint %q", words, want, failure.Hint(err))
		}
	}
}

// If the work tree is gone, the error names it, although the system then reports git as missing.
func TestMissingWorkTree(t *testing.T) {
	t.Parallel()
	b := newRepo(t, "a.txt")
	if err := os.RemoveAll(b.dir); err != nil {
		t.Fatal(err)
	}
	_, err := b.repo.Head(t.Context())
	if err == nil || !strings.Contains(err.Error(), b.repo.Root()+" was moved or removed") {
		t.Error(err)
	}
}

// A missing folder for temporary files is named as one.
func TestMissingTemporaryFolder(t *testing.T) {
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "none"))
	_, err := Settings(t.Context(), nil)
	if err == nil || !strings.Contains(err.Error(), "there is no folder for temporary files: "+os.TempDir()) || !strings.Contains(failure.Hint(err), "TMPDIR") {
		t.Errorf("%v, hint %q", err, failure.Hint(err))
	}
}
