//go:build unix

package e2e_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/pawl-dev/pawl/internal/agent/agenttest"
)

var given = flag.String("pawl", "", "the binary to test, instead of one that is built; pawl-hook is beside it")

// built is the binary under test, built once; pawl-hook lies beside it.
var built = sync.OnceValues(func() (string, error) {
	if *given != "" {
		return *given, nil
	}
	out, err := exec.Command("go", buildArgs(buildDir())...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build pawl: %w\n%s", err, out)
	}
	return filepath.Join(buildDir(), "pawl"), nil
})

// buildArgs ask for binaries that count what they reach where a folder for that
// is named (.ci/cover).
func buildArgs(dir string) []string {
	args := []string{"build", "-trimpath", "-o", dir + string(filepath.Separator)}
	if os.Getenv("PAWL_COVERDIR") != "" {
		args = append(args, "-cover", "-coverpkg=github.com/pawl-dev/pawl/...")
	}
	return append(args, "github.com/pawl-dev/pawl/cmd/pawl", "github.com/pawl-dev/pawl/cmd/pawl-hook")
}

func buildDir() string { return filepath.Join(os.TempDir(), fmt.Sprintf("pawl-e2e-%d", os.Getpid())) }

func TestMain(m *testing.M) {
	agenttest.SideBySide(4)
	agenttest.Part()
	code := m.Run()
	_ = os.RemoveAll(buildDir())
	os.Exit(code)
}

// bench is a repository to work on and a home to work from.
type bench struct {
	t      *testing.T
	binary string
	root   string // of the repository
	home   string
	env    map[string]string
}

// newBench makes a repository with one commit of the given files on main.
func newBench(t *testing.T, files map[string]string) *bench {
	t.Helper()
	binary, err := built()
	if err != nil {
		t.Fatal(err)
	}
	caches, err := goCaches()
	if err != nil || len(caches) != 2 {
		t.Fatalf("go env: %q, %v", caches, err)
	}
	// The home is not a temporary folder to Pawl: TMPDIR is one of its own.
	home := resolved(t, t.TempDir())
	b := &bench{t: t, binary: binary, root: filepath.Join(home, "work"), home: home}
	b.env = map[string]string{
		"HOME": home, "PATH": pathWithoutPawl(), "TMPDIR": filepath.Join(home, "tmp"), "LC_ALL": "C",
		"PAWL_HOME":         filepath.Join(home, "state"),
		"GIT_CONFIG_GLOBAL": filepath.Join(home, "gitconfig"), "GIT_CONFIG_NOSYSTEM": "1",
		"GOCACHE": caches[0], "GOMODCACHE": caches[1], "GOPROXY": "off",
	}
	if dir := os.Getenv("PAWL_COVERDIR"); dir != "" {
		b.env["GOCOVERDIR"] = dir
	}
	for _, dir := range []string{b.root, b.env["TMPDIR"]} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	b.git("config", "--global", "user.name", "dev")
	b.git("config", "--global", "user.email", "dev@example.com")
	b.git("init", "-q", "-b", "main")
	b.write(files)
	b.git("add", "-A")
	b.git("commit", "-q", "--allow-empty", "-m", "start")
	return b
}

// pathWithoutPawl is the PATH without the folders that somebody installed Pawl into: a
// client would find that one where a test takes away its own.
func pathWithoutPawl() string {
	dirs := slices.DeleteFunc(filepath.SplitList(os.Getenv("PATH")), func(dir string) bool {
		found, _ := filepath.Glob(filepath.Join(dir, "pawl*"))
		return len(found) > 0
	})
	return strings.Join(dirs, string(os.PathListSeparator))
}

func resolved(t *testing.T, path string) string {
	t.Helper()
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		t.Fatal(err)
	}
	return real
}

// goCaches are those of whoever runs the tests: builds in a home of their own
// would begin with nothing.
var goCaches = sync.OnceValues(func() ([]string, error) {
	out, err := exec.Command("go", "env", "GOCACHE", "GOMODCACHE").Output()
	return strings.Fields(string(out)), err
})

// path of a file of the repository.
func (b *bench) path(name string) string { return filepath.Join(b.root, filepath.FromSlash(name)) }

func (b *bench) write(files map[string]string) {
	b.t.Helper()
	for name, text := range files {
		mode := os.FileMode(0o644)
		if strings.HasPrefix(text, "#!") {
			mode = 0o755
		}
		path := b.path(name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			b.t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			b.t.Fatal(err)
		}
	}
}

// read gives a file of the repository, "" if there is none.
func (b *bench) read(name string) string {
	data, err := os.ReadFile(b.path(name))
	if err != nil {
		return ""
	}
	return string(data)
}

func (b *bench) environ(more ...string) []string {
	var env []string
	for k, v := range b.env {
		env = append(env, k+"="+v)
	}
	return append(env, more...)
}

func (b *bench) git(args ...string) string {
	b.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = b.root, b.environ()
	out, err := cmd.CombinedOutput()
	if err != nil {
		b.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// subjects of the commits that the loop made on the current branch, oldest first.
func (b *bench) subjects() []string {
	b.t.Helper()
	return strings.Fields(strings.ReplaceAll(b.git("log", "--reverse", "--format=%s", "start..HEAD"), " ", "_"))
}

// script writes a script for the scripted agent and gives its path.
func (b *bench) script(text string) string {
	b.t.Helper()
	path := filepath.Join(b.home, "script.txtar")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		b.t.Fatal(err)
	}
	return path
}

// status is what `pawl status --json` says of the newest loop.
type status struct {
	ID, Name, State, Outcome string
	Iteration                int
	Tasks                    struct{ Done, Open, Blocked int }
	Evidence                 string
	Commits                  int
	CostUSD                  float64 `json:"cost_usd"`
	Turns                    int
}

func (b *bench) status() status {
	b.t.Helper()
	r := b.pawl("status", ".", "--json")
	var s status
	if err := json.Unmarshal([]byte(r.out), &s); err != nil {
		b.t.Fatalf("pawl status --json: %v\n%s", err, r)
	}
	return s
}

// record is one line of a loop's journal.
type record struct {
	Seq  int             `json:"seq"`
	Type string          `json:"type"`
	Data json.RawMessage `json:"data"`
}

// journal is that of the newest loop.
func (b *bench) journal() []record {
	b.t.Helper()
	var records []record
	for line := range strings.Lines(b.pawl("log", ".", "--json").out) {
		var r record
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			b.t.Fatalf("pawl log --json: %v: %s", err, line)
		}
		records = append(records, r)
	}
	return records
}

// events counts the journal's events of a kind.
func (b *bench) events(kind string) int {
	b.t.Helper()
	n := 0
	for _, r := range b.journal() {
		var e struct{ Kind string }
		if r.Type == "event" && json.Unmarshal(r.Data, &e) == nil && e.Kind == kind {
			n++
		}
	}
	return n
}

// checkJournalChain checks the chain of the newest loop's journal.
func (b *bench) checkJournalChain() {
	b.t.Helper()
	if r := b.pawl("log", ".", "--verify"); r.code != 0 {
		b.t.Errorf("the journal is not intact: %s", r)
	}
}

func sortedLines(s string) []string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	slices.Sort(lines)
	return lines
}
