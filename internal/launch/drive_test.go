package launch_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/config"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/launch"
	"github.com/pawl-dev/pawl/internal/runner"
	"github.com/pawl-dev/pawl/internal/verify"
)

// bench is a small Go repository, a script for the agent, and a home for Pawl.
type bench struct {
	t    *testing.T
	root string
	env  config.Environment
}

func newBench(t *testing.T, files map[string]string) *bench {
	t.Helper()
	b := &bench{t: t, root: t.TempDir()}
	home := t.TempDir()
	b.env = config.Environment{
		Home: home, PawlHome: filepath.Join(home, "pawl"), ConfigHome: filepath.Join(home, "config"),
		Vars: append(os.Environ(), "HOME="+home),
	}
	t.Setenv("HOME", home)
	t.Setenv("GIT_CONFIG_GLOBAL", filepath.Join(home, "gitconfig"))
	t.Setenv("GOCACHE", goEnv(t, "GOCACHE"))
	t.Setenv("GOMODCACHE", goEnv(t, "GOMODCACHE"))
	b.git("config", "--global", "user.name", "dev")
	b.git("config", "--global", "user.email", "dev@example.com")
	b.git("init", "-q", "-b", "main")
	for name, text := range files {
		b.write(name, text)
	}
	b.git("add", "-A")
	b.git("commit", "-q", "-m", "start")
	return b
}

func goEnv(t *testing.T, key string) string {
	t.Helper()
	out, err := exec.Command("go", "env", key).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

func (b *bench) write(name, text string) {
	b.t.Helper()
	path := filepath.Join(b.root, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) git(args ...string) string {
	b.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = b.root
	out, err := cmd.CombinedOutput()
	if err != nil {
		b.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// run drives a loop with a script to its end.
func (b *bench) run(script string, words []string, flags map[string]any) loop.State {
	b.t.Helper()
	path := filepath.Join(b.t.TempDir(), "script.txtar")
	if err := os.WriteFile(path, []byte(script), 0o600); err != nil {
		b.t.Fatal(err)
	}
	all := map[string]any{"agent": "scripted", "agent_command": path}
	for k, v := range flags {
		all[k] = v
	}
	ctx, cancel := context.WithTimeout(b.t.Context(), 2*time.Minute)
	defer cancel()
	p, err := launch.Prepare(ctx, launch.Request{Dir: b.root, Words: words, Flags: all, Env: b.env})
	if err != nil {
		b.t.Fatal(err)
	}
	d, err := p.Begin(ctx)
	if err != nil {
		b.t.Fatal(err)
	}
	d.Observer = teller{b.t}
	state, err := d.Run(ctx)
	if err != nil {
		b.t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		b.t.Fatal(err)
	}
	return state
}

// teller writes what happens to the test's log.
type teller struct{ t *testing.T }

func (w teller) Stepped(s loop.State, e loop.Event, acts []loop.Action) {
	w.t.Logf("%s → %s %s", e.Kind, s.Phase, s.Reason)
	if e.Gates != nil {
		w.t.Logf("  gates %s: %s green=%v %s %s", e.Gates.Purpose, e.Gates.Status, e.Gates.Green, e.Gates.Evidence, e.Gates.Reason)
	}
}
func (w teller) Agent(e agent.Event)    { w.t.Logf("  agent %s %s %s", e.Kind, e.Detail, e.Text) }
func (w teller) Gate(p verify.Progress) {}
func (w teller) Note(n runner.Note)     { w.t.Logf("  note %s", n.Text) }

const goMod = "module example.com/greet\n\ngo 1.26\n"

func TestAPlanOfTwoTasksEndsVerified(t *testing.T) {
	b := newBench(t, map[string]string{
		"go.mod":        goMod,
		"greet.go":      "package greet\n\nfunc Hello() string { return \"hello\" }\n",
		"greet_test.go": "package greet\n\nimport \"testing\"\n\nfunc TestHello(t *testing.T) {\n\tif Hello() != \"hello\" {\n\t\tt.Fatal(Hello())\n\t}\n}\n",
		"plan.md":       "# Plan\n\n- [ ] add Bye\n- [ ] add Hi\n",
	})
	s := b.run(`
-- 1/files/bye.go --
package greet

func Bye() string { return "bye" }
-- 1/files/bye_test.go --
package greet

import "testing"

func TestBye(t *testing.T) {
	if Bye() != "bye" {
		t.Fatal(Bye())
	}
}
-- 1/reply --
<promise>DONE</promise>
-- 2/files/hi.go --
package greet

func Hi() string { return "hi" }
-- 2/files/hi_test.go --
package greet

import "testing"

func TestHi(t *testing.T) {
	if Hi() != "hi" {
		t.Fatal(Hi())
	}
}
-- 2/reply --
<promise>DONE</promise>
`, []string{"plan.md"}, map[string]any{"gates": []string{"go test ./..."}})
	if s.Outcome != loop.Verified {
		t.Fatalf("%s: %s", s.Outcome, s.Reason)
	}
	if got := b.git("log", "--format=%s", "main..HEAD"); got != "feat(2): add Hi\nfeat(1): add Bye" {
		t.Errorf("commits:\n%s", got)
	}
	if got := b.git("status", "--porcelain"); got != "" {
		t.Errorf("left over: %s", got)
	}
	if got := b.git("show", "HEAD:plan.md"); got != "# Plan\n\n- [x] add Bye\n- [x] add Hi" {
		t.Errorf("plan:\n%s", got)
	}
}
