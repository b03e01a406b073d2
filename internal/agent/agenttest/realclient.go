package agenttest

import (
	"encoding/json"
	"flag"
	"fmt"
	"iter"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/agent/agenttest/messagesapi"
)

// clientPath is where `make e2e` installs the pinned client, below the module.
var clientPath = filepath.Join(".cache", "clients", "node_modules", "@anthropic-ai",
	fmt.Sprintf("claude-code-%s-%s", runtime.GOOS, nodeArch()), "claude")

// nodeArch is GOARCH by npm's names.
func nodeArch() string {
	if runtime.GOARCH == "amd64" {
		return "x64"
	}
	return runtime.GOARCH
}

// Client is the path of the real Claude Code client: $PAWL_CLAUDE, or the one
// that is Installed.
func Client(t testing.TB) string {
	t.Helper()
	if path := os.Getenv("PAWL_CLAUDE"); path != "" {
		return path
	}
	return Installed(t, clientPath)
}

// Installed is the path of something that .ci/clients puts below the module.
// Without it the test is skipped, unless PAWL_E2E=1 says that it must be there.
// The test's name says that it needs it: .ci/tests runs those by their names.
func Installed(t testing.TB, below string) string {
	t.Helper()
	if !slices.ContainsFunc([]string{"TestClient", "TestSession", "TestTerminal"}, func(prefix string) bool { return strings.HasPrefix(t.Name(), prefix) }) {
		t.Fatal("a test with a client is called TestClient…, TestSession… or TestTerminal…")
	}
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			path := filepath.Join(dir, below)
			if _, err := os.Stat(path); err == nil {
				return path
			}
			break
		}
	}
	Lacks(t, "there is no %s: .ci/clients installs it", below)
	return ""
}

// Lacks skips a test for what the machine does not have. PAWL_E2E=1 says that it has
// everything: then it fails.
func Lacks(t testing.TB, format string, args ...any) {
	t.Helper()
	if os.Getenv("PAWL_E2E") == "1" {
		t.Fatalf("PAWL_E2E=1, but "+format, args...)
	}
	t.Skipf(format, args...)
}

// Needs is Lacks for a program that is not on the PATH. PAWL_PROGRAMS=1 says that the
// machine has all of them, though no client.
func Needs(t testing.TB, program string) {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		if os.Getenv("PAWL_PROGRAMS") == "1" {
			t.Fatalf("PAWL_PROGRAMS=1, but %s is not installed", program)
		}
		Lacks(t, "%s is not installed", program)
	}
}

// Stride is how far a test goes from one of many like cases to the next, a step that it
// injects a fault at say: n, and 1 where PAWL_EVERY_STEP=1 asks for them all, as
// `make steps` does.
func Stride(n int) int {
	if os.Getenv("PAWL_EVERY_STEP") == "1" {
		return 1
	}
	return n
}

// Each is each n-th case of a table, all with PAWL_EVERY_STEP=1: for tables of which one
// case costs seconds, and whose cases differ little.
func Each[T any](cases []T, n int) []T {
	var some []T
	for i := 0; i < len(cases); i += Stride(n) {
		some = append(some, cases[i])
	}
	return some
}

// Some is Each, by the names of the cases.
func Some[T any](cases map[string]T, n int) iter.Seq2[string, T] {
	return func(yield func(string, T) bool) {
		for _, name := range Each(slices.Sorted(maps.Keys(cases)), n) {
			if !yield(name, cases[name]) {
				return
			}
		}
	}
}

// SideBySide has a TestMain run n tests at once, unless -parallel says otherwise: for tests
// that wait for other programs more than they compute.
func SideBySide(n int) {
	flag.Parse()
	asked := false
	flag.Visit(func(f *flag.Flag) { asked = asked || f.Name == "test.parallel" })
	if asked {
		return
	}
	if err := flag.Set("test.parallel", strconv.Itoa(n)); err != nil {
		panic(err)
	}
}

// API starts a scripted Messages API for the length of a test.
func API(t testing.TB, script messagesapi.Script) *messagesapi.Server {
	t.Helper()
	s := messagesapi.Serve(script)
	t.Cleanup(s.Close)
	return s
}

// Env is the environment in which the real client talks to a scripted API and
// to nobody else, with a HOME of its own.
func Env(t testing.TB, api *messagesapi.Server) map[string]string {
	t.Helper()
	home := t.TempDir()
	return map[string]string{
		"HOME":               home,
		"USERPROFILE":        home,
		"XDG_CONFIG_HOME":    filepath.Join(home, ".config"),
		"TMPDIR":             os.TempDir(),
		"PATH":               os.Getenv("PATH"),
		"ANTHROPIC_BASE_URL": api.URL,
		"ANTHROPIC_API_KEY":  "sk-ant-scripted",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
		"DISABLE_TELEMETRY":                        "1",
		"DISABLE_AUTOUPDATER":                      "1",
	}
}

// Onboard spares the real client its questions at the first start on a terminal:
// theme, key, whether the folders are trusted, how it asks for permission.
func Onboard(t testing.TB, env map[string]string, folders ...string) {
	t.Helper()
	projects := map[string]any{}
	for _, dir := range folders {
		projects[dir] = map[string]any{"hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true}
	}
	key := env["ANTHROPIC_API_KEY"]
	data, err := json.Marshal(map[string]any{
		"hasCompletedOnboarding": true, "theme": "dark", "projects": projects,
		"hasSeenAutoDefaultNudge": true, "hasSeenAutoDefaultNotice": true,
		"customApiKeyResponses": map[string]any{"approved": []string{key[max(0, len(key)-20):]}, "rejected": []string{}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(env["HOME"], ".claude.json"), data, 0o600); err != nil {
		t.Fatal(err)
	}
}
