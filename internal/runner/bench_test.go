package runner_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/agent/agenttest"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/environment"
	"github.com/pawl-dev/pawl/internal/launch"
	"github.com/pawl-dev/pawl/internal/runner"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/verify"
)

// TestMain sets the same environment for all tests, so that they can run in parallel: a home without
// user settings, and Go's caches, without which each gate that runs go would build the standard
// library. Git copies no sample hooks and does no maintenance, and go runs no vet.
func TestMain(m *testing.M) {
	agenttest.SideBySide(4)
	agenttest.Part()
	home, err := os.MkdirTemp("", "pawl-runner-")
	if err != nil {
		panic(err)
	}
	caches, err := exec.Command("go", "env", "GOCACHE", "GOMODCACHE").Output()
	dirs := strings.Split(strings.TrimSpace(string(caches)), "\n")
	if err != nil || len(dirs) != 2 {
		panic(fmt.Sprintf("go env: %q, %v", caches, err))
	}
	config := filepath.Join(home, "gitconfig")
	if err := os.WriteFile(config, []byte(gitConfig), 0o600); err != nil {
		panic(err)
	}
	for name, value := range map[string]string{"HOME": home, "GIT_CONFIG_GLOBAL": config, "GOCACHE": dirs[0], "GOMODCACHE": dirs[1], "GOFLAGS": os.Getenv("GOFLAGS") + " -vet=off"} {
		if err := os.Setenv(name, value); err != nil {
			panic(err)
		}
	}
	code := m.Run()
	_ = os.RemoveAll(home)
	os.Exit(code)
}

const gitConfig = `[user]
	name = dev
	email = dev@example.com
[init]
	templateDir =
[maintenance]
	auto = false
`

// fileDoubt is the tolerance of a file's time: file systems keep nanoseconds, but the kernel stamps
// files with a coarse clock.
const fileDoubt = 50 * time.Millisecond

// lockWait is long enough for another git process to end: no test leaves one running.
const lockWait = time.Second

// bench is a small Go repository, a script for the agent, and a home for Pawl.
type bench struct {
	t    *testing.T
	root string
	env  environment.Environment
	loop *store.Loop // the last loop that ran

	script string // file of the agent's script
}

func newBench(t *testing.T, files map[string]string) *bench {
	t.Helper()
	b := &bench{t: t, root: t.TempDir()}
	home := t.TempDir()
	b.env = environment.Environment{
		Home: home, PawlHome: filepath.Join(home, "pawl"), ConfigHome: filepath.Join(home, "config"),
		Vars: append(os.Environ(), "HOME="+home),
	}
	b.git("init", "-q", "-b", "main")
	for name, text := range files {
		b.write(name, text)
	}
	b.git("add", "-A")
	b.git("commit", "-q", "-m", "start")
	return b
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
	return b.runObserved(script, words, flags, logObserver{b.t})
}

// runObserved drives a loop like run, with the given observer.
func (b *bench) runObserved(script string, words []string, flags map[string]any, o runner.Observer) loop.State {
	b.t.Helper()
	state, err := b.drive(b.t.Context(), b.begin(script, words, flags), o)
	if err != nil {
		b.t.Fatal(err)
	}
	return state
}

// begin creates the loop of a script.
func (b *bench) begin(script string, words []string, flags map[string]any) *launch.Driver {
	b.t.Helper()
	b.script = filepath.Join(b.t.TempDir(), "script.txtar")
	b.rewrite(script)
	all := map[string]any{"agent": "scripted", "agent_command": b.script}
	maps.Copy(all, flags)
	p, err := launch.Prepare(b.t.Context(), launch.Request{Dir: b.root, Words: words, Flags: all, Env: b.env})
	if err != nil {
		b.t.Fatal(err)
	}
	d, err := p.Begin(b.t.Context())
	if err != nil {
		b.t.Fatal(err)
	}
	return d
}

// rewrite replaces the script of the last loop's agent.
func (b *bench) rewrite(script string) {
	b.t.Helper()
	if err := os.WriteFile(b.script, []byte(script), 0o600); err != nil {
		b.t.Fatal(err)
	}
}

// resume continues the last loop.
func (b *bench) resume(o runner.Observer, more ...loop.Limits) loop.State {
	b.t.Helper()
	var again launch.ResumeOptions
	for _, l := range more {
		again.MoreLimits = l
	}
	d, err := launch.Resume(b.t.Context(), b.loop, b.env, again)
	if err != nil {
		b.t.Fatal(err)
	}
	state, err := b.drive(b.t.Context(), d, o)
	if err != nil {
		b.t.Fatal(err)
	}
	return state
}

// drive runs a loop until it ends or ctx is cancelled, which stands for a killed owner.
func (b *bench) drive(ctx context.Context, d *launch.Driver, o runner.Observer) (loop.State, error) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(ctx, 10*time.Minute)
	defer cancel()
	d.Observer = o
	d.Repo.SetLockWait(lockWait)
	b.loop = d.Loop
	state, err := d.Run(ctx)
	if err := d.Close(); err != nil {
		b.t.Fatal(err)
	}
	return state, err
}

// logObserver writes all events to the test's log.
type logObserver struct{ t *testing.T }

func (w logObserver) Stepped(s loop.State, e loop.Event, acts []loop.Action) {
	w.t.Logf("%s → %s %s", e.Kind(), s.Phase, s.Reason)
	if p, ok := e.Payload.(loop.GatesFinished); ok {
		w.t.Logf("  gates %s: %s green=%v %s %s", p.Gates.Purpose, p.Gates.Status, p.Gates.Green, p.Gates.Evidence, p.Gates.Reason)
	}
}

func (w logObserver) Agent(e agent.Event)    { w.t.Logf("  agent %s %s %s", e.Kind, e.Detail, e.Text) }
func (w logObserver) Gate(p verify.Progress) {}
func (w logObserver) Note(n memory.Note)     { w.t.Logf("  note %s", n.Text) }
