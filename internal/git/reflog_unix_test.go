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
