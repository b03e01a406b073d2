package git

import (
	"context"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/agent/agenttest"
)

// TestMain isolates the tests from the user's git by an empty home with a global configuration.
func TestMain(m *testing.M) {
	if dir := os.Getenv("PAWL_TEST_RESTORE"); dir != "" { // the child that kill_linux_test.go kills
		repo, err := Open(context.Background(), dir)
		if err == nil {
			_, err = repo.Restore(context.Background(), os.Getenv("PAWL_TEST_TARGET"), nil)
		}
		if err != nil {
			panic(err)
		}
		os.Exit(0)
	}
	if dir := os.Getenv("PAWL_TEST_ALIGN"); dir != "" { // the child that lock_unix_test.go kills
		repo, err := Open(context.Background(), dir)
		if err == nil {
			err = repo.AlignIndex(context.Background(), "HEAD")
		}
		if err != nil {
			panic(err)
		}
		os.Exit(0)
	}
	home, err := os.MkdirTemp("", "pawl-git-")
	if err != nil {
		panic(err)
	}
	config := "[user]\n\tname = Ada\n\temail = ada@example.com\n[init]\n\tdefaultBranch = main\n\ttemplateDir =\n[maintenance]\n\tauto = false\n[protocol \"file\"]\n\tallow = always\n"
	if err := os.WriteFile(filepath.Join(home, ".gitconfig"), []byte(config), 0o600); err != nil {
		panic(err)
	}
	for _, kv := range os.Environ() {
		if name, _, _ := strings.Cut(kv, "="); strings.HasPrefix(name, "GIT_") {
			os.Unsetenv(name)
		}
	}
	os.Setenv("HOME", home)
	os.Setenv("XDG_CONFIG_HOME", home)
	os.Setenv("GIT_CONFIG_GLOBAL", filepath.Join(home, ".gitconfig"))
	os.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	// Each round runs about thirty gits; -rapid.checks sets more.
	if err := flag.Set("rapid.checks", "12"); err != nil {
		panic(err)
	}
	agenttest.Part()
	code := m.Run()
	os.RemoveAll(home)
	os.Exit(code)
}

// tester is what *testing.T, *testing.B and *rapid.T share.
type tester interface {
	Helper()
	Fatalf(format string, args ...any)
}

// sandbox is a real repository for a test.
type sandbox struct {
	tester
	dir  string
	repo *Repo
}

// newRepo creates a repository with files given as path, content pairs, all committed.
func newRepo(t testing.TB, files ...string) *sandbox {
	t.Helper()
	b := &sandbox{tester: t, dir: RealPath(t.TempDir())}
	b.git("init", "-q")
	b.write("README", "hello\n")
	for i := 0; i+1 < len(files); i += 2 {
		b.write(files[i], files[i+1])
	}
	b.git("add", "-A")
	b.git("commit", "-q", "-m", "start")
	b.open()
	return b
}

func (b *sandbox) open() {
	b.Helper()
	repo, err := Open(context.Background(), b.dir)
	b.must(err)
	b.repo = repo
}

func (b *sandbox) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatalf("%v", err)
	}
}

// git runs git as the user or the agent would.
func (b *sandbox) git(args ...string) string {
	b.Helper()
	return b.gitIn(b.dir, args...)
}

func (b *sandbox) gitIn(dir string, args ...string) string {
	b.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		b.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimRight(string(out), "\n")
}

func (b *sandbox) path(p string) string { return filepath.Join(b.dir, filepath.FromSlash(p)) }

func (b *sandbox) write(p, content string) {
	b.Helper()
	b.must(os.MkdirAll(filepath.Dir(b.path(p)), 0o755))
	b.must(os.WriteFile(b.path(p), []byte(content), 0o644))
}

func (b *sandbox) read(p string) string {
	b.Helper()
	data, err := os.ReadFile(b.path(p))
	if os.IsNotExist(err) {
		return "(none)"
	}
	b.must(err)
	return string(data)
}

func (b *sandbox) remove(p string) {
	b.Helper()
	b.must(os.RemoveAll(b.path(p)))
}

func (b *sandbox) snapshot() string {
	b.Helper()
	tree, _, err := b.repo.Snapshot(context.Background())
	b.must(err)
	return tree
}

// reference returns the tree that plain git creates of the work tree with an empty index. Snapshot
// must return the same tree.
func (b *sandbox) reference() string {
	b.Helper()
	index := filepath.Join(b.repo.gitDir, "reference-index")
	defer os.Remove(index)
	_, err := copyIndex(filepath.Join(b.repo.gitDir, "index"), index)
	b.must(err)
	var out []byte
	for _, args := range [][]string{{"add", "-A"}, {"write-tree"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir = b.dir
		cmd.Env = append(os.Environ(), "GIT_INDEX_FILE="+index)
		out, err = cmd.Output()
		b.must(err)
	}
	return strings.TrimSpace(string(out))
}

// untouchable returns what no snapshot or restore may change: HEAD, branches, the index and the
// stash.
func (b *sandbox) untouchable() string {
	b.Helper()
	index, err := os.ReadFile(filepath.Join(b.repo.gitDir, "index"))
	b.must(err)
	head, err := os.ReadFile(filepath.Join(b.repo.gitDir, "HEAD"))
	b.must(err)
	return string(head) + b.git("for-each-ref", "refs/heads", "refs/tags", "refs/stash") + string(index)
}

func mergeConflict(b *sandbox) error {
	cmd := exec.Command("git", "merge", "other")
	cmd.Dir = b.dir
	return cmd.Run()
}
