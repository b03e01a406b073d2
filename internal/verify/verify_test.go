//go:build unix

package verify_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/rawlog"
	"github.com/pawl-dev/pawl/internal/verify"
)

// files of a work tree: path to content.
type files map[string]string

// bench is a small repository with a Verifier for it.
type bench struct {
	t    *testing.T
	root string
	repo *git.Repo
	*verify.Verifier
	ran []string // gates that ran, with the probe they ran for; "kept" in front if they did not
}

func sh(t *testing.T, dir string, argv ...string) {
	t.Helper()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%q: %v\n%s", argv, err, out)
	}
}

// environ is the environment of gates, in which go does not vet: where a test is about
// what vet finds, its gate says so.
func environ() []string { return append(os.Environ(), "GOFLAGS="+os.Getenv("GOFLAGS")+" -vet=off") }

func newBench(t *testing.T, start files, change func(*verify.Options)) *bench {
	t.Helper()
	b := &bench{t: t, root: t.TempDir()}
	sh(t, b.root, "git", "init", "-q", "-b", "main", "--template=")
	b.write(start)
	sh(t, b.root, "git", "add", "-A")
	sh(t, b.root, "git", "-c", "user.name=dev", "-c", "user.email=dev@example.com", "-c", "maintenance.auto=false", "commit", "-q", "-m", "start")
	repo, err := git.Open(t.Context(), b.root)
	if err != nil {
		t.Fatal(err)
	}
	b.repo = repo
	o := verify.Options{Root: b.root, Repo: repo, Dir: t.TempDir(), Env: environ(), Watch: b.watch}
	if change != nil {
		change(&o)
	}
	if b.Verifier, err = verify.New(o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return b
}

func (b *bench) watch(p verify.Progress) {
	if p.Result == nil {
		return
	}
	ran := strings.TrimSpace(p.Gate + " " + string(p.Probe))
	if p.Result.Cached {
		ran = "kept " + ran
	}
	b.ran = append(b.ran, ran)
}

// write puts files into the work tree; empty content deletes one.
func (b *bench) write(fs files) {
	b.t.Helper()
	for name, content := range fs {
		path := filepath.Join(b.root, name)
		if content == "" {
			if err := os.Remove(path); err != nil {
				b.t.Fatal(err)
			}
			continue
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			b.t.Fatal(err)
		}
		mode := os.FileMode(0o644)
		if strings.HasSuffix(name, ".sh") {
			mode = 0o755
		}
		if err := os.WriteFile(path, []byte(content), mode); err != nil {
			b.t.Fatal(err)
		}
	}
}

func (b *bench) tree() string {
	b.t.Helper()
	tree, _, err := b.repo.Snapshot(b.t.Context())
	if err != nil {
		b.t.Fatal(err)
	}
	return tree
}

func gates(commands ...string) []gate.Gate {
	var gs []gate.Gate
	for i, c := range commands {
		gs = append(gs, gate.Gate{Name: string(rune('a' + i)), Command: c})
	}
	return gs
}

// claim takes the baseline, does the work, and claims.
func (b *bench) claim(gs []gate.Gate, work files, request func(*verify.Request)) verify.Finding {
	b.t.Helper()
	r := verify.Request{Gates: gs, Base: b.tree()}
	if _, err := b.Baseline(b.t.Context(), r.Base, gs, ""); err != nil {
		b.t.Fatal(err)
	}
	b.write(work)
	r.Tree = b.tree()
	if request != nil {
		request(&r)
	}
	b.ran = nil
	f, err := b.Claim(b.t.Context(), r)
	if err != nil {
		b.t.Fatal(err)
	}
	return f
}

func run(t *testing.T, g gate.Gate, change func(*verify.Options)) gate.Result {
	t.Helper()
	o := verify.Options{Root: t.TempDir(), Dir: t.TempDir(), Env: os.Environ()}
	if change != nil {
		change(&o)
	}
	v, err := verify.New(o)
	if err != nil {
		t.Fatal(err)
	}
	results, err := v.Run(t.Context(), []gate.Gate{g}, "")
	if err != nil {
		t.Fatal(err)
	}
	return results[0]
}

func TestGateResultIsComplete(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name   string
		gate   gate.Gate
		status gate.Status
		code   int
		reason string
	}{
		{"pass", gate.Gate{Command: "echo fine"}, gate.Pass, 0, ""},
		{"fail", gate.Gate{Command: "echo first; echo last; exit 3"}, gate.Fail, 3, "exit 3: last"},
		{"fail with a stack", gate.Gate{Command: "printf 'Error: no config\\n    at async read (/a/b.js:1:2)\\n    at node:internal/main:3:4\\n\\nNode.js v20.1.0\\n'; exit 1"}, gate.Fail, 1, "exit 1: Error: no config"},
		{"fail in silence", gate.Gate{Command: "exit 1"}, gate.Fail, 1, "exit 1"},
		{"argv", gate.Gate{Argv: []string{"sh", "-c", "test \"$0\" = 'a b'", "a b"}}, gate.Pass, 0, ""},
		{"no such runner", gate.Gate{Command: "echo '/usr/bin/python3: No module named pytest'; exit 1"}, gate.Unknown, 1, "Python cannot find the test runner: /usr/bin/python3: No module named pytest"},
		{"a module that is yet to be written", gate.Gate{Command: "echo '/usr/bin/python3: No module named shop'; exit 1"}, gate.Fail, 1, "No module named shop"},
		{"no such command", gate.Gate{Command: "pawl-no-such-command --x"}, gate.Unknown, 127, "a command was not found (exit 127)"},
		{"not executable", gate.Gate{Command: "./"}, gate.Unknown, 126, "cannot be executed"},
		{"no such folder", gate.Gate{Command: "true", Dir: "none"}, gate.Fail, 1, "there is no folder none to run it in"},
		{"killed", gate.Gate{Command: "kill -9 $$"}, gate.Unknown, -1, "it was killed"},
		{"a child was killed", gate.Gate{Command: "sh -c 'kill -9 $$'; exit $?"}, gate.Unknown, 137, "it was killed"},
		{"crashed", gate.Gate{Command: "kill -SEGV $$"}, gate.Fail, -1, "it crashed: segmentation fault"},
		{"disk full", gate.Gate{Command: "echo 'write out.o: no space left on device' >&2; exit 1"}, gate.Unknown, 1, "the disk is full"},
		{"tap", gate.Gate{Command: "printf 'ok 1 - a\\nnot ok 2 - b\\n'; exit 1", Report: "tap"}, gate.Fail, 1, "not ok b"},
		{"tap of tests that all pass", gate.Gate{Command: "printf 'ok 1 - a\n1..1\n'; exit 1", Report: "tap"}, gate.Fail, 1, "exit 1, though no test failed: 1..1"},
		{"tap that names failures, exit 0", gate.Gate{Command: "printf '1..1\\nnot ok 1 - b\\n'", Report: "tap"}, gate.Fail, 0, "the report names failures: not ok b"},
		{"no report", gate.Gate{Command: "true", Report: "junit:out/*.xml"}, gate.Unknown, 0, "no report was written to out/*.xml"},
		{"no such format", gate.Gate{Command: "true", Report: "subunit"}, gate.Unknown, 0, `unknown format "subunit"`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.gate.Name = "g"
			got := run(t, c.gate, nil)
			if got.Status != c.status || got.ExitCode != c.code || !strings.Contains(got.Reason, c.reason) {
				t.Errorf("got %s, exit %d, %q (%s); want %s, exit %d, %q", got.Status, got.ExitCode, got.Reason, got.Tail, c.status, c.code, c.reason)
			}
		})
	}
}

func TestOutputHasBothStreams(t *testing.T) {
	t.Parallel()
	got := run(t, gate.Gate{Name: "g", Command: "echo one; echo two >&2; exit 1"}, nil)
	if !strings.Contains(got.Tail, "one\n") || !strings.Contains(got.Tail, "two\n") {
		t.Errorf("output %q", got.Tail)
	}
}

func TestFlakyGateIsRunOnceMore(t *testing.T) {
	t.Parallel()
	got := run(t, gate.Gate{Name: "f", Command: "test -e seen || { touch seen; exit 1; }", Flaky: true}, nil)
	if got.Status != gate.Pass || !got.Flaky {
		t.Errorf("got %+v", got)
	}
}

func TestCancelledRunSaysSo(t *testing.T) {
	t.Parallel()
	v, err := verify.New(verify.Options{Root: t.TempDir(), Dir: t.TempDir(), Env: os.Environ()})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := v.Run(ctx, gates("sleep 60"), ""); err == nil || !strings.Contains(err.Error(), "run gate a") {
		t.Errorf("error %v", err)
	}
}

func TestFoldersMustBeAbsolute(t *testing.T) {
	t.Parallel()
	if _, err := verify.New(verify.Options{Root: "x", Dir: "/y"}); err == nil {
		t.Error("a relative root is accepted")
	}
}

func TestFreshJUnitReportsAreFoundByGlob(t *testing.T) {
	t.Parallel()
	suite := `<testsuite><testcase classname="C" name="%s">%s</testcase></testsuite>`
	write := func(file, name, inner string) string {
		return "mkdir -p out; echo '" + strings.Replace(strings.Replace(suite, "%s", name, 1), "%s", inner, 1) + "' > out/" + file + "; "
	}
	old := "touch -d '2020-01-01' out/old.xml; "
	cases := []struct {
		name, command string
		want          map[string]gate.Status
	}{
		{"two files", write("a.xml", "x", "") + write("b.xml", "y", "<failure/>") + "exit 1", map[string]gate.Status{"C.x": "pass", "C.y": "fail"}},
		{"an old one after a red run", write("old.xml", "x", "") + old + write("b.xml", "y", "<failure/>") + "exit 1", map[string]gate.Status{"C.y": "fail"}},
		{"an old one after a green run", write("old.xml", "x", "") + old, map[string]gate.Status{"C.x": "pass"}},
		{"one that breaks off", "mkdir out; echo '<testsuite>' > out/a.xml; exit 1", nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := run(t, gate.Gate{Name: "j", Command: c.command, Report: "junit:out/*.xml"}, nil)
			if diff := cmp.Diff(c.want, got.Tests); diff != "" {
				t.Errorf("tests (-want +got):\n%s\n%+v", diff, got)
			}
		})
	}
}

func TestGateSeesACleanEnvironment(t *testing.T) {
	t.Parallel()
	got := run(t, gate.Gate{Name: "env", Command: "env"}, func(o *verify.Options) {
		o.Env = append(os.Environ(), "ANTHROPIC_API_KEY=sk-x", "AWS_SECRET_ACCESS_KEY=y", "NPM_CONFIG__AUTH=z", "EDITOR=vi", "GOFLAGS=-mod=mod", "TERM=xterm")
		o.UserEnv = []string{"DATABASE_URL=sqlite:"}
		o.Marker = "brisk-otter"
	})
	var names []string
	for line := range strings.Lines(got.Tail) {
		names = append(names, strings.TrimSpace(line))
	}
	for _, want := range []string{"DATABASE_URL=sqlite:", "GOFLAGS=-mod=mod -count=1", "TERM=dumb", "CI=1", "PAWL_LOOP=brisk-otter", "PATH=" + os.Getenv("PATH")} {
		if !slices.Contains(names, want) {
			t.Errorf("%s is missing in\n%s", want, got.Tail)
		}
	}
	for _, secret := range []string{"sk-x", "SECRET", "AUTH", "EDITOR"} {
		if strings.Contains(got.Tail, secret) {
			t.Errorf("%s reaches the gate", secret)
		}
	}
}

func TestSecretsStayOutOfResults(t *testing.T) {
	t.Parallel()
	got := run(t, gate.Gate{Name: "env", Command: "echo \"connecting with $DB_PASSWORD\"; exit 1"}, func(o *verify.Options) {
		o.UserEnv = []string{"DB_PASSWORD=correct-horse-battery"}
	})
	if strings.Contains(got.Tail+got.Reason, "horse") || !strings.Contains(got.Reason, "connecting with") {
		t.Errorf("tail %q, reason %q", got.Tail, got.Reason)
	}
}

// TestLargeOutputUsesLittleMemory is not parallel: it measures the whole process.
func TestLargeOutputUsesLittleMemory(t *testing.T) {
	for _, report := range []string{"", "tap", "go-json"} {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		got := run(t, gate.Gate{Name: "flood", Command: "yes 'a line of output, again and again' | head -c 20000000; echo done", Report: report}, nil)
		runtime.ReadMemStats(&after)
		if got.Status != gate.Pass || !strings.HasSuffix(got.Tail, "done\n") || len(got.Tail) > 8<<10 {
			t.Errorf("%q: %s, %q", report, got.Status, got.Tail[max(0, len(got.Tail)-80):])
		}
		if grown := int64(after.HeapSys) - int64(before.HeapSys); grown > 16<<20 {
			t.Errorf("%q: the heap grew by %d MB", report, grown>>20)
		}
	}
}

func TestOutputIsLoggedAndItsEndIsKept(t *testing.T) {
	t.Parallel()
	v, err := verify.New(verify.Options{Root: t.TempDir(), Dir: t.TempDir(), Env: os.Environ()})
	if err != nil {
		t.Fatal(err)
	}
	logs := t.TempDir()
	results, err := v.Run(t.Context(), []gate.Gate{{Name: "../a b", Command: `i=0; while [ $i -lt 3000 ]; do echo "line $i of many"; i=$((i+1)); done; printf '\033[31mred\033[0m\n'`}}, logs)
	if err != nil {
		t.Fatal(err)
	}
	tail := results[0].Tail
	if len(tail) > 8<<10 || !strings.HasPrefix(tail, "line ") || !strings.HasSuffix(tail, "line 2999 of many\nred\n") {
		t.Errorf("tail of %d bytes: %.40q … %.40q", len(tail), tail, tail[max(0, len(tail)-40):])
	}
	log, err := rawlog.Read(filepath.Join(logs, "a-b.log.gz"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(log, "line 0 of many\n") || strings.Count(log, "\n") != 3001 {
		t.Errorf("the log has %d bytes", len(log))
	}
}
