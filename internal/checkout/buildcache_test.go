package checkout

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/git"
)

// Bytecode of a file that differs between two trees is removed. Otherwise Python would not run a
// mutant of the same length, written in the same second.
func TestStaleBytecodeIsRemoved(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	sh := func(argv ...string) {
		t.Helper()
		cmd := exec.Command(argv[0], argv[1:]...)
		cmd.Dir = root
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%q: %v\n%s", argv, err, out)
		}
	}
	write := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	sh("git", "init", "-q", "-b", "main", "--template=")
	for name, text := range map[string]string{".gitignore": "__pycache__/\n", "d/m.py": "TWO = 2\n", "d/mm.py": "", "d/n.py": ""} {
		write(filepath.Join(root, name), text)
	}
	sh("git", "add", "-A")
	sh("git", "-c", "user.name=dev", "-c", "user.email=dev@example.com", "commit", "-qm", "one")
	write(filepath.Join(root, "d/m.py"), "TWO = 5\n")
	sh("git", "-c", "user.name=dev", "-c", "user.email=dev@example.com", "commit", "-qam", "two")
	// The user wants this file in checkouts; each reset would remove it.
	write(filepath.Join(root, ".worktreeinclude"), "tool\n")
	write(filepath.Join(root, "tool"), "\x7fELF")
	if err := os.Chmod(filepath.Join(root, "tool"), 0o700); err != nil {
		t.Fatal(err)
	}
	repo, err := git.Open(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	k := New(Options{Root: root, Repo: repo, Dir: t.TempDir()})
	t.Cleanup(func() { _ = k.Remove(context.Background()) })
	for _, c := range []struct {
		tree string
		left []string
	}{
		{"HEAD^", nil},
		{"HEAD^", []string{"m.cpython-313-pytest-8.pyc", "m.cpython-313.pyc", "mm.cpython-313.pyc", "n.cpython-313.pyc"}},
		{"HEAD", []string{"mm.cpython-313.pyc", "n.cpython-313.pyc"}},
		{"HEAD^", []string{"mm.cpython-313.pyc", "n.cpython-313.pyc"}},
	} {
		tree, err := repo.Resolve(t.Context(), c.tree)
		if err != nil {
			t.Fatal(err)
		}
		dir, err := k.CheckOut(t.Context(), tree)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(filepath.Join(dir, "tool")); err != nil {
			t.Error(err)
		}
		caches := filepath.Join(dir, "d", "__pycache__")
		found, _ := os.ReadDir(caches)
		var left []string
		for _, e := range found {
			left = append(left, e.Name())
		}
		if diff := cmp.Diff(c.left, left); diff != "" {
			t.Errorf("%s: %s", c.tree, diff)
		}
		for _, name := range []string{"m.cpython-313.pyc", "m.cpython-313-pytest-8.pyc", "mm.cpython-313.pyc", "n.cpython-313.pyc"} {
			write(filepath.Join(caches, name), "compiled")
		}
	}
}

// The error of a failed setup names its command, even without output.
func TestSetupErrorNamesTheCommand(t *testing.T) {
	t.Parallel()
	for setup, want := range map[string]string{
		"exit 7": "exit 7 failed with exit code 7: it printed nothing",
		"echo npm error code E404; echo npm error A complete log of this run can be found in: /x-debug-0.log; exit 7": "echo npm error code E404; echo npm error A complete log of this run can be found in: /x-debug-0.log; exit 7 failed with exit code 7: npm error code E404",
		"echo no network; echo >&2; exit 7": "echo no network; echo >&2; exit 7 failed with exit code 7: no network",
	} {
		k := New(Options{Dir: t.TempDir(), Env: os.Environ(), Setup: []string{setup}})
		if err := k.SetUp(t.Context(), t.TempDir()); err == nil || err.Error() != want {
			t.Errorf("%s: %v", setup, err)
		}
	}
}
