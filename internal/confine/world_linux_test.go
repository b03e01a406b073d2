package confine_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/agent/agenttest"
	"github.com/pawl-dev/pawl/internal/confine"
)

// The test program enters sandboxes as pawl does, and makes the attacks that no shell can make.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "confined" {
		at := slices.Index(os.Args, "--")
		err := confine.Enter(os.Args[slices.Index(os.Args, "--policy")+1], slices.Contains(os.Args[:at], "--inside"), os.Args[at+1:], os.Environ())
		fmt.Fprintln(os.Stderr, err)
		os.Exit(126)
	}
	if len(os.Args) > 2 && os.Args[1] == "attack" {
		if err := attacks()[os.Args[2]](os.Args[3:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// world is a repository with a home, Pawl's state and a sandbox.
type world struct {
	t          testing.TB
	root, home string
	state      string
	self       string
	env        []string
	sandbox    *confine.Sandbox
}

// want skips a test if a level is not available with a mechanism. Without bubblewrap, Landlock
// provides Tree only, and behaves differently.
func want(t testing.TB, mechanism confine.Mechanism, level confine.Level) {
	t.Helper()
	sys := confine.Detect(t.Context())
	if mechanism == confine.Landlock {
		sys = confine.Without(sys)
	}
	err := sys.CheckLevel(level)
	if got := sys.Mechanism(level); err == nil && got != mechanism {
		err = fmt.Errorf("%s is built with %s here, not with %s", level, got, mechanism)
	}
	if err == nil {
		return
	}
	agenttest.Lacks(t, "%v", err)
}

// newWorld builds a sandbox with a mechanism. Its folders are outside the machine's temporary
// folders, which Landlock leaves writable.
func newWorld(t testing.TB, mechanism confine.Mechanism, level confine.Level, more func(*confine.Options)) *world {
	t.Helper()
	want(t, mechanism, level)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	base := elsewhere(t)
	w := &world{t: t, root: filepath.Join(base, "repo"), home: filepath.Join(base, "home"), state: filepath.Join(base, "state"), self: self}
	dirs := []string{w.root, w.state}
	for dir := range strings.FieldsSeq(".ssh .claude .cache gradle .sbt/1.0 .pub-cache/hosted .yarn .local/share/pnpm") {
		dirs = append(dirs, filepath.Join(w.home, filepath.FromSlash(dir)))
	}
	for _, dir := range dirs {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Link(self, filepath.Join(base, "self")); err != nil { // root without its privileges may not find it where go test put it
		w.outside("cp", self, filepath.Join(base, "self"))
	}
	w.self = filepath.Join(base, "self")
	w.put(filepath.Join(w.home, ".ssh", "id_ed25519"), "-----KEY-----\n")
	w.put(filepath.Join(w.home, ".netrc"), "machine x password -----KEY-----\n")
	w.put(filepath.Join(w.home, ".npmrc"), "//registry/:_authToken=-----KEY-----\n")
	w.put(filepath.Join(w.home, ".claude", "settings.json"), "{}\n")
	w.put(filepath.Join(w.home, ".claude", ".credentials.json"), "-----KEY-----\n")
	w.put(filepath.Join(w.home, ".bashrc"), "# mine\n")
	w.put(filepath.Join(w.state, "journal.jsonl"), "{}\n")
	w.env = append(os.Environ(), "HOME="+w.home, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "XDG_CACHE_HOME="+filepath.Join(w.home, ".cache"),
		"MY_SECRET_TOKEN=-----KEY-----", "PGPASSWORD=-----KEY-----", "DATABASE_URL=postgres://app:-----KEY-----@db/x", "ANTHROPIC_API_KEY=sk-test", "CLAUDE_CONFIG_DIR=", "GRADLE_USER_HOME="+filepath.Join(w.home, "gradle"))
	if out, err := exec.Command("go", "env", "GOCACHE").Output(); err == nil {
		w.env = append(w.env, "GOCACHE="+strings.TrimSpace(string(out)))
	}
	w.outside("git", "init", "-q", "-b", "main", ".")
	w.outside("git", "config", "user.name", "T")
	w.outside("git", "config", "user.email", "t@example.com")
	w.put(filepath.Join(w.root, "a.txt"), "a\n")
	w.outside("git", "add", "a.txt")
	w.outside("git", "commit", "-qm", "first")
	o := confine.Options{
		Level: level, Program: w.self, Dir: filepath.Join(w.state, "confine"), Root: w.root,
		GitDir: filepath.Join(w.root, ".git"), CommonDir: filepath.Join(w.root, ".git"),
		Index: filepath.Join(w.root, ".git", "pawl"), State: []string{w.state}, Home: w.home, Vars: w.env, Client: true,
	}
	if more != nil {
		more(&o)
	}
	sys := confine.Detect(t.Context())
	if mechanism == confine.Landlock {
		sys = confine.Without(sys)
	}
	if w.sandbox, err = confine.BuildOn(sys, o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.sandbox.Close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

// elsewhere returns a folder for a test in the user's cache, outside the temporary folders, which
// a sandbox leaves writable. The test is skipped if $HOME is temporary.
func elsewhere(t testing.TB) string {
	t.Helper()
	dir, why := cacheFolder()
	if why == nil {
		t.Cleanup(func() { _ = os.RemoveAll(dir) })
		return dir
	}
	agenttest.Lacks(t, "there is no folder outside the temporary ones: %s", why)
	return ""
}

func cacheFolder() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	if temporary(cache) {
		return "", fmt.Errorf("%s is temporary", cache)
	}
	if err := os.MkdirAll(cache, 0o700); err != nil {
		return "", err
	}
	return os.MkdirTemp(cache, "pawl-confine-")
}

func temporary(dir string) bool {
	return slices.ContainsFunc([]string{"/tmp", "/var/tmp", os.TempDir()}, func(temp string) bool {
		rel, err := filepath.Rel(temp, dir)
		return err == nil && filepath.IsLocal(rel)
	})
}

func (w *world) put(path, text string) {
	w.t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) outside(argv ...string) string {
	w.t.Helper()
	out, code := w.run(nil, argv...)
	if code != 0 {
		w.t.Fatalf("%q: exit %d\n%s", argv, code, out)
	}
	return out
}

// shell runs a script in the agent's sandbox.
func (w *world) shell(script string) (string, int) {
	w.t.Helper()
	return w.run(w.sandbox.Agent, "sh", "-c", script)
}

func (w *world) run(prefix []string, argv ...string) (string, int) {
	w.t.Helper()
	all := append(slices.Clone(prefix), argv...)
	cmd := exec.CommandContext(w.t.Context(), all[0], all[1:]...)
	cmd.Dir, cmd.Env = w.root, append(slices.Clone(w.env), "SELF="+w.self, "ROOT="+w.root, "STATE="+w.state)
	cmd.WaitDelay = 5 * time.Second
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return out.String(), exit.ExitCode()
	}
	if err != nil {
		w.t.Fatalf("%q: %v", all, err)
	}
	return out.String(), 0
}

// picture returns the content of the folders that must not change.
func (w *world) picture() string {
	w.t.Helper()
	return w.outside("sh", "-c", `for d in "$HOME" "$STATE" "$ROOT/.git/hooks" "$ROOT/.git/config" "$ROOT/.claude"; do
		find "$d" -not -path "*/confine/*" -not -path "*/confine" -not -path "*/.cache/*" -not -path '*/.claude/projects*' | sort
		find "$d" -type f -not -path "*/confine/*" -not -path "*/.cache/*" -not -path '*/.claude/projects*' -exec cksum {} + | sort
	done 2>&1`)
}

func indent(s string) string { return "\t" + strings.ReplaceAll(strings.TrimSpace(s), "\n", "\n\t") }
