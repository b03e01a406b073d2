//go:build unix

package git

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// An agent can put a link in the place of a log of git, and choose the subject of a commit.
func TestCommitWritesNoLogThroughALink(t *testing.T) {
	for _, dangling := range []bool{false, true} {
		b := newRepo(t, "a", "1")
		outside := filepath.Join(t.TempDir(), ".bashrc")
		if !dangling {
			b.must(os.WriteFile(outside, []byte("# mine\n"), 0o600))
		}
		branch := b.git("symbolic-ref", "HEAD")
		for _, log := range []string{"HEAD", branch} {
			at := filepath.Join(b.repo.GitDir(), "logs", filepath.FromSlash(log))
			b.must(os.RemoveAll(at))
			b.must(os.MkdirAll(filepath.Dir(at), 0o755))
			b.must(os.Symlink(outside, at))
		}
		b.write("a", "2")
		b.commit(CommitRequest{Parent: b.git("rev-parse", "HEAD"), Branch: strings.TrimPrefix(branch, "refs/heads/"), Message: "feat: $(touch pwned)", Tree: b.snapshot()})
		got, err := os.ReadFile(outside)
		if dangling && !os.IsNotExist(err) || !dangling && string(got) != "# mine\n" {
			t.Errorf("the user's file: %q, %v", got, err)
		}
		if log := b.git("reflog", "--format=%gs", "-1"); log != "pawl: feat: $(touch pwned)" {
			t.Errorf("the log of git: %q", log)
		}
	}
}

// The same link in the place of the index leads to that of another repository.
func TestIndexOfAnotherRepositoryStays(t *testing.T) {
	b, other := newRepo(t, "a", "1"), newRepo(t, "mine", "1")
	index, was := other.path(".git/index"), other.read(".git/index")
	b.must(os.Remove(b.path(".git/index")))
	b.must(os.Symlink(index, b.path(".git/index")))
	b.write("a", "2")
	b.commit(CommitRequest{Parent: b.git("rev-parse", "HEAD"), Branch: strings.TrimPrefix(b.git("symbolic-ref", "HEAD"), "refs/heads/"), Message: "feat: a", Tree: b.snapshot()})
	if now := other.read(".git/index"); now != was {
		t.Errorf("the index of the other repository changed:\n%q\n%q", was, now)
	}
	if info, err := os.Lstat(b.path(".git/index")); err != nil || !info.Mode().IsRegular() {
		t.Errorf("%v, %v", info, err)
	}
}
