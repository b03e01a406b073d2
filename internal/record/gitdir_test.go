package record_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/pawl-dev/pawl/internal/record"
)

func TestCheckedOutBranch(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for name, text := range map[string]string{
		"main/.git/HEAD":               "ref: refs/heads/release/1\n",
		"main/.git/worktrees/two/HEAD": "ref: refs/heads/topic\n",
		"main/sub/x":                   "",
		"two/.git":                     "gitdir: " + filepath.Join(root, "main/.git/worktrees/two") + "\n",
		"three/.git":                   "gitdir: ../main/.git/worktrees/two\n",
		"apart/.git/HEAD":              "0123456789abcdef0123456789abcdef01234567\n",
		"odd/.git":                     "no work tree\n",
		"bare/.git/config":             "",
	} {
		file := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for dir, want := range map[string]string{
		"main": "release/1", "main/sub": "release/1", "main/sub/not/there": "release/1", "two": "topic", "three": "topic",
		"apart": "", "odd": "", "bare": "",
	} {
		if got := record.CheckedOutBranch(filepath.Join(root, filepath.FromSlash(dir))); got != want {
			t.Errorf("%s is on %q, want %q", dir, got, want)
		}
	}
}
