package confine_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/agent/agenttest"
	"github.com/pawl-dev/pawl/internal/confine"
	"github.com/pawl-dev/pawl/internal/proc"
)

// honest holds scripts that work needs.
var honest = []struct{ name, script string }{
	{"edit a file", `echo b >> a.txt && rm a.txt && git checkout -q a.txt`},
	{"make and move folders", `mkdir -p x/y && echo z > x/y/z && mv x/y x/w && test -f x/w/z`},
	{"commit", `echo b >> a.txt && git add -A && git commit -qm 'second' && git log --oneline | grep -q second`},
	{"branch, reset, stash", `git branch other && echo c >> a.txt && git stash -q && git stash pop -q && git reset -q --hard && git switch -q other && git switch -q main`},
	{"temporary files", `f=$(mktemp) && echo x > "$f" && d=$(mktemp -d) && echo x > "$d/y" && test -d "$TMPDIR"`},
	{"a cache", `mkdir -p "$HOME/.cache/tool" && echo x > "$HOME/.cache/tool/x"`},
	{"the caches of build tools", `for d in gradle/caches gradle/wrapper .sbt/boot .pub-cache/hosted .yarn/berry .local/share/pnpm/store; do
		mkdir -p "$HOME/$d/x" && echo x > "$HOME/$d/x/y" || exit 1; done; mv "$HOME/.pub-cache/hosted/x" "$HOME/.pub-cache/hosted/z"`},
	{"the client's transcripts", `mkdir -p "$HOME/.claude/projects/p" && echo '{}' > "$HOME/.claude/projects/p/s.jsonl"`},
	{"the client's sessions", `echo '{}' > "$HOME/.claude/sessions/1.json"`},
	{"the client's login", `echo renewed > "$HOME/.claude/.credentials.json"`},
	{"shared memory", `echo x > /dev/shm/pawl-test && rm /dev/shm/pawl-test`},
	{"a server on loopback", `"$SELF" attack serve`},
	{"read the system", `cat /etc/passwd > f && ls /usr/bin > f`},
	{"processes of its own", `sleep 30 & kill $! && ps > f || true`},
	{"go", `command -v go >/dev/null || exit 0
		printf 'module m\n' > go.mod && printf 'package m\nimport "testing"\nfunc TestX(t *testing.T) { t.TempDir() }\n' > m_test.go
		go vet . && go test .`},
	{"python", `command -v python3 >/dev/null || exit 0
		printf 'import unittest\nclass T(unittest.TestCase):\n  def test(self): pass\n' > test_x.py && python3 -m unittest -q test_x`},
	{"node", `command -v npm >/dev/null || exit 0
		printf '{"name":"m","version":"1.0.0","scripts":{"test":"node -e 0"}}' > package.json && npm install --offline --no-audit --silent && npm test --silent`},
}

func TestHonestWorkGoesOn(t *testing.T) {
	t.Parallel()
	for _, sandbox := range []struct {
		mechanism confine.Mechanism
		level     confine.Level
	}{{confine.Bubblewrap, confine.Tree}, {confine.Bubblewrap, confine.Strict}, {confine.Landlock, confine.Tree}} {
		t.Run(fmt.Sprintf("%s %s", sandbox.mechanism, sandbox.level), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, sandbox.mechanism, sandbox.level, nil)
			for _, h := range honest {
				if out, code := w.shell(h.script); code != 0 {
					t.Errorf("%s: exit %d\n%s", h.name, code, indent(out))
				}
			}
			if out, code := w.run(w.sandbox.Agent, "no-such-program"); code != 126 || !strings.Contains(out, "no such command") {
				t.Errorf("a program that is not there: exit %d: %s", code, out)
			}
			if out, code := w.shell("exit 7"); code != 7 {
				t.Errorf("exit %d instead of 7: %s", code, out)
			}
			if err := w.sandbox.Close(); err != nil {
				t.Error(err)
			}
			if _, err := os.Lstat(filepath.Join(w.root, ".claude")); err == nil {
				t.Error("an empty .claude is left in the work tree")
			}
			if got, err := os.ReadFile(filepath.Join(w.root, "a.txt")); err != nil || string(got) != "a\nb\n" {
				t.Errorf("a.txt is %q, %v", got, err)
			}
		})
	}
}

// In a linked work tree the repository's configuration and its other work trees are protected, and
// commits work.
func TestLinkedWorkTree(t *testing.T) {
	t.Parallel()
	w := newWorld(t, confine.Bubblewrap, confine.Tree, func(o *confine.Options) {
		for _, name := range []string{"one", "two"} {
			cmd := []string{"-C", o.Root, "worktree", "add", "-q", "../" + name}
			(&world{t: t, root: o.Root, env: o.Vars}).outside(append([]string{"git"}, cmd...)...)
		}
		o.GitDir = filepath.Join(o.CommonDir, "worktrees", "one")
		o.Root = filepath.Join(filepath.Dir(o.Root), "one")
	})
	common := filepath.Join(w.root, ".git")
	w.root = filepath.Join(filepath.Dir(w.root), "one")
	if out, code := w.shell(`echo b >> a.txt && git commit -qam second && git log --oneline | grep second`); code != 0 {
		t.Errorf("commit: %s", out)
	}
	for _, script := range []string{
		`echo 'gitdir: /tmp/evil' > .git`, `rm .git`, `echo /tmp/evil > "` + common + `/worktrees/one/commondir"`,
		`echo /tmp/evil > "` + common + `/worktrees/two/commondir"`, `echo x >> "` + common + `/config"`, `echo x > ../repo/a.txt`,
	} {
		if out, code := w.shell(script); code == 0 {
			t.Errorf("%s: got out %s", script, out)
		}
	}
}

// Build refuses a sandbox whose protected paths could be replaced.
func TestALinkInPlaceOfHooksIsRefused(t *testing.T) {
	t.Parallel()
	want(t, confine.Bubblewrap, confine.Tree)
	root := t.TempDir()
	if err := os.MkdirAll(filepath.Join(root, ".git"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(t.TempDir(), filepath.Join(root, ".git", "hooks")); err != nil {
		t.Fatal(err)
	}
	_, err := confine.Build(t.Context(), confine.Options{
		Level: confine.Tree, Program: "/bin/true", Dir: t.TempDir(), Root: root, GitDir: filepath.Join(root, ".git"), CommonDir: filepath.Join(root, ".git"),
	})
	if err == nil || !strings.Contains(err.Error(), "symbolic link") {
		t.Errorf("%v", err)
	}
}

// Allowed hosts can be reached, by the proxy or directly on this machine. A gate cannot reach the
// agent's endpoint.
func TestForbiddenWaysOutAreClosed(t *testing.T) {
	t.Parallel()
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "the api") }))
	t.Cleanup(api.Close)
	far := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, "far: "+r.Host) }))
	t.Cleanup(far.Close)
	name, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	farURL, err := url.Parse(far.URL)
	if err != nil {
		t.Fatal(err)
	}
	farHost := name + ":" + farURL.Port() // by a name: what it stands for nobody inside knows
	w := newWorld(t, confine.Bubblewrap, confine.Strict, func(o *confine.Options) {
		o.Vars = append(o.Vars, "ANTHROPIC_BASE_URL="+api.URL)
		o.Hosts = []string{farHost}
	})
	w.env = append(w.env, "API="+api.URL, "FAR=http://"+farHost)
	get := func(prefix []string, url string) string {
		out, _ := w.run(prefix, w.self, "attack", "get", url)
		said, _, _ := strings.Cut(out, "\n") // a program that counts its coverage complains behind it
		return said
	}
	if got := get(w.sandbox.Agent, api.URL); got != "200 the api" {
		t.Errorf("the agent's endpoint: %q", got)
	}
	if got := get(w.sandbox.Gates, api.URL); strings.Contains(got, "the api") {
		t.Errorf("a gate reaches the agent's endpoint: %q", got)
	}
	for who, prefix := range map[string][]string{"agent": w.sandbox.Agent, "gate": w.sandbox.Gates} {
		if got := get(prefix, "http://"+farHost); got != "200 far: "+farHost && !strings.HasPrefix(got, "502") { // the machine may not know its own name
			t.Errorf("%s: an allowed host: %q", who, got)
		}
		if got := get(prefix, "http://example.com/"); !strings.HasPrefix(got, "403 pawl: example.com is blocked") {
			t.Errorf("%s: another host: %q", who, got)
		}
		if got := get(prefix, "https://example.com/"); !strings.Contains(got, "Forbidden") {
			t.Errorf("%s: a tunnel to another host: %q", who, got)
		}
	}
}

// Ending a confined command ends all processes that it started, first with TERM.
func TestConfinedProcessesEnd(t *testing.T) {
	t.Parallel()
	for _, mechanism := range []confine.Mechanism{confine.Bubblewrap, confine.Landlock} {
		t.Run(string(mechanism), func(t *testing.T) {
			t.Parallel()
			agenttest.Needs(t, "setsid")
			w := newWorld(t, mechanism, confine.Tree, nil)
			marker := filepath.Base(filepath.Dir(w.root))
			start := func(script string) *proc.Process {
				p, err := proc.Start(t.Context(), proc.Spec{
					Argv: append(w.sandbox.Agent, "sh", "-c", script), Dir: w.root, Env: w.env, Marker: marker, Grace: 3 * time.Second,
				})
				if err != nil {
					t.Fatal(err)
				}
				return p
			}
			ready := func(name string) {
				t.Helper()
				for end := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
					if _, err := os.Stat(filepath.Join(w.root, name)); err == nil {
						return
					}
					if time.Now().After(end) {
						t.Fatalf("%s does not come", name)
					}
				}
			}
			// A shell command in a session of its own, as the client has them.
			p := start(`setsid sh -c 'echo > away; exec sleep 300' & trap 'echo bye > bye; exit 0' TERM; echo > ready; while :; do sleep 0.05; done`)
			ready("ready")
			ready("away")
			if own, all := proc.RSS(p.PID()), p.RSS(); mechanism == confine.Bubblewrap && all < own {
				t.Errorf("the command's memory is %d bytes, that of its sandbox %d", all, own)
			}
			if n := p.SweepSessions(); n != 1 {
				t.Errorf("%d processes that left the session, want 1", n)
			}
			if err := syscall.Kill(-p.PID(), syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			if e := p.Wait(); !e.OK() {
				t.Errorf("it ended by %+v", e)
			}
			ready("bye")
			p = start(`setsid sleep 300 & echo > ready2; trap '' TERM; while :; do sleep 0.05; done`)
			ready("ready2")
			if n := proc.SweepMarked(marker, time.Second); n < 2 {
				t.Errorf("%d marked processes, want 2 at least", n)
			}
			p.Wait()
			if n := proc.SweepMarked(marker, time.Second); n != 0 {
				t.Errorf("%d processes are left", n)
			}
		})
	}
}
