//go:build unix

package verify_test

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/agent/agenttest"
	"github.com/pawl-dev/pawl/internal/confine"
	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/verify"
)

// inEachMode runs a test in a namespace and where there is none.
func inEachMode(t *testing.T, name string, test func(t *testing.T, byFolder bool)) {
	t.Helper()
	for mode, byFolder := range map[string]bool{"in a namespace": false, "by a folder": true} {
		t.Run(strings.TrimPrefix(name+", "+mode, ", "), func(t *testing.T) {
			t.Parallel()
			if !byFolder {
				needsNamespace(t)
			}
			test(t, byFolder)
		})
	}
}

// byFolder has a bench do without a namespace: its gates reach a folder outside.
func byFolder(o *verify.Options) { o.NoNamespace = true }

// needsNamespace skips a test where the system gives no mount namespaces. A CI machine
// lacks no program for them.
func needsNamespace(t *testing.T) {
	t.Helper()
	if runtime.GOOS == "linux" {
		agenttest.Needs(t, "bwrap")
	}
	if _, problem := confine.FindNamespace(t.Context(), nil); problem != "" {
		t.Skip("needs mount namespaces: " + problem)
	}
}

// A work tree below the home is where most lie.
func TestGatesRunInAWorkTreeBelowTheHome(t *testing.T) {
	t.Parallel()
	needsNamespace(t)
	b := newBench(t, files{"lib": "1\n"}, nil)
	home := filepath.Dir(b.root)
	o := b.Options
	o.Env = append(os.Environ(), "HOME="+home)
	v, err := verify.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = v.Close(context.Background()) })
	if err := os.WriteFile(filepath.Join(home, "prepared"), []byte("green\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	command := "cat lib; [ \"$(pwd -P)\" = " + b.root + " ] && ! cat " + filepath.Join(home, "prepared")
	results, err := v.RunInCheckout(t.Context(), b.tree(), gates(command), "")
	if err != nil || results[0].Status != gate.Pass {
		t.Errorf("%v: %+v", err, results)
	}
}

// What an agent left where it can write turns nothing green in the checkout, though the
// gate reads it by the path that it has in the work tree.
func TestPreparedFilesAreUnreachableInTheCheckout(t *testing.T) {
	t.Parallel()
	needsNamespace(t)
	elsewhere := map[string]string{"/tmp": "", "/var/tmp": "", "/dev/shm": ""}
	for dir := range elsewhere {
		made, err := os.MkdirTemp(dir, "pawl-test-") //nolint:usetesting // in this folder
		if err != nil {
			t.Skipf("needs a writable %s: %v", dir, err)
		}
		t.Cleanup(func() { _ = os.RemoveAll(made) })
		elsewhere[dir] = filepath.Join(made, "prepared")
	}
	for name, at := range map[string]func(root, home string) string{
		"the home":                    func(_, home string) string { return filepath.Join(home, ".cache", "x", "prepared") },
		"the temporary folder":        func(_, _ string) string { return elsewhere["/tmp"] },
		"another temporary folder":    func(_, _ string) string { return elsewhere["/var/tmp"] },
		"memory":                      func(_, _ string) string { return elsewhere["/dev/shm"] },
		"the work tree":               func(root, _ string) string { return filepath.Join(root, "ignored", "prepared") },
		"git's folder":                func(root, _ string) string { return filepath.Join(root, ".git", "prepared") },
		"beside the work tree, at ~/": func(_, home string) string { return filepath.Join(home, "src", "prepared") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var home string
			b, _ := homeBench(t, files{"lib": "1\n", ".gitignore": "ignored/\n"}, nil, func(o *verify.Options) {
				for _, kv := range o.Env {
					if dir, ok := strings.CutPrefix(kv, "HOME="); ok {
						home = dir
					}
				}
			})
			path := at(b.root, home)
			r := verify.Request{Gates: gates("grep -qs green '" + path + "'"), Base: b.tree()}
			if _, err := b.Baseline(t.Context(), r.Base, r.Gates, ""); err != nil {
				t.Fatal(err)
			}
			b.write(files{"lib": "2\n"})
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte("green\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			r.Tree = b.tree()
			f, err := b.Claim(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			if v := f.Verdict; v.Evidence == gate.Proven || !strings.Contains(v.Reason, "passes in the work tree and fails in a clean checkout") {
				t.Errorf("%s %s: %s", v.Status, v.Evidence, v.Reason)
			}
		})
	}
}

// elsewhere runs a gate on the tree of now in a checkout.
func (b *bench) elsewhere(command string) gate.Result {
	b.t.Helper()
	rs, err := b.RunInCheckout(b.t.Context(), b.tree(), gates(command), "")
	if err != nil {
		b.t.Fatal(err)
	}
	return rs[0]
}

// In a namespace the checkout is where the work tree is.
func TestAbsolutePathsHoldInACheckout(t *testing.T) {
	t.Parallel()
	for name, command := range agenttest.Some(map[string]string{
		"its path":           `[ "$PWD" = "$ROOT" ] && [ "$(cat "$ROOT/lib")" = of-now ] && [ ! -e "$ROOT/left" ]`,
		"git":                `[ "$(git rev-parse --show-toplevel)" = "$ROOT" ] && [ -z "$(git status --porcelain)" ] && git log -1 && git cat-file -e HEAD:lib`,
		"a folder below it":  `cd below && [ "$PWD" = "$ROOT/below" ] && git rev-parse --show-prefix | grep below/`,
		"node_modules":       `[ "$(readlink -f node_modules/link)" = "$ROOT/node_modules/pkg" ] && node_modules/.bin/tool`,
		"python":             `.venv/bin/lib && .venv/bin/python -c 'import lib, sys; sys.exit(not lib.__file__.startswith("'"$ROOT"'/src/"))'`,
		"another's tool":     `tool-of-home && tool-of-its-interpreter`,
		"a tool by its path": `@HOME/envs/a/bin/tool && ~/envs/b/bin/tool && "$HOME/envs/c/bin/tool" --flag && ! [ -e ~/envs/d ]`,
	}, 2) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			needsNamespace(t)
			const tool = "#!/bin/sh\n. \"$(dirname \"$0\")\"/../lib/works\n"
			b, put := homeBench(t, files{
				"lib": "then\n", "below/x": "1\n", "src/lib.py": "x = 1\n", ".gitignore": "node_modules/\n.venv/\nleft\n",
			}, files{
				"opt/tool/bin/tool": "#!/bin/sh\n. \"$(dirname \"$(readlink -f \"$0\")\")\"/../lib/works\n", "opt/tool/lib/works": "exit 0\n",
				"opt/sh/bin/run":  "#!/bin/sh\nexit 0\n",
				"envs/a/bin/tool": tool, "envs/a/lib/works": "exit 0\n", "envs/b/bin/tool": tool, "envs/b/lib/works": "exit 0\n",
				"envs/c/bin/tool": tool, "envs/c/lib/works": "exit 0\n", "envs/d/bin/tool": tool,
			}, nil)
			var home string
			for _, kv := range b.Env {
				if dir, ok := strings.CutPrefix(kv, "HOME="); ok {
					home = dir
				}
			}
			put(files{"bin/tool-of-its-interpreter": "#!" + home + "/opt/sh/bin/run\n"})
			if err := os.Symlink(filepath.Join(home, "opt/tool/bin/tool"), filepath.Join(home, "bin/tool-of-home")); err != nil {
				t.Fatal(err)
			}
			install(t, b.root)
			if err := b.ForgetStart(); err != nil {
				t.Fatal(err)
			}
			if err := b.RecordStart(t.Context()); err != nil {
				t.Fatal(err)
			}
			b.write(files{"lib": "of-now\n", "left": "1\n"})
			if _, err := b.Claim(t.Context(), verify.Request{Base: b.tree(), Tree: b.tree()}); err != nil { // it looks what is installed
				t.Fatal(err)
			}
			if r := b.elsewhere("ROOT='" + b.root + "'; " + strings.ReplaceAll(command, "@HOME", home)); r.Status != gate.Pass {
				t.Errorf("%s: %s\n%s", r.Status, r.Reason, r.Tail)
			}
		})
	}
}

// install lays dependencies into a project as their installers do, with absolute paths.
func install(t *testing.T, root string) {
	t.Helper()
	sh(t, root, "sh", "-c", `
		mkdir -p node_modules/pkg node_modules/.bin
		printf '#!/bin/sh\nexit 0\n' >node_modules/pkg/tool && chmod +x node_modules/pkg/tool
		ln -s ../pkg/tool node_modules/.bin/tool && ln -s "$PWD/node_modules/pkg" node_modules/link`)
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("needs python3")
	}
	sh(t, root, "sh", "-c", `
		python3 -m venv --without-pip .venv
		for site in .venv/lib/python3*/site-packages; do echo "$PWD/src" >$site/__editable__.lib.pth; done
		printf '#!%s/.venv/bin/python\nimport lib\n' "$PWD" >.venv/bin/lib && chmod +x .venv/bin/lib`)
}

// A gate that is ended may clean up, and what it left running in a namespace ends with it.
func TestEndedGateEndsItsNamespace(t *testing.T) {
	t.Parallel()
	needsNamespace(t)
	b := newBench(t, files{"lib": "1\n"}, nil)
	g := gate.Gate{Name: "a", Command: "trap 'echo cleaned up; exit 1' TERM; echo begun; sleep 60 & wait", Timeout: time.Second}
	rs, err := b.RunInCheckout(t.Context(), b.tree(), []gate.Gate{g}, "")
	if err != nil {
		t.Fatal(err)
	}
	if r := rs[0]; !r.TimedOut || !strings.Contains(r.Tail, "cleaned up") {
		t.Errorf("%+v", r)
	}
	if r := b.elsewhere("kill -SEGV $$"); r.Status != gate.Fail {
		t.Errorf("a crash: %s %s", r.Status, r.Reason)
	}
	// A daemon cannot outlive its namespace, so it is asked to end at once.
	daemon := "setsid sh -c 'trap \"echo asked; exit\" TERM; touch up; while :; do sleep 0.05; done' & until test -e up; do sleep 0.05; done"
	if r := b.elsewhere(daemon); r.Status != gate.Pass || !strings.Contains(r.Tail, "asked") {
		t.Errorf("%s: %s\n%s", r.Status, r.Reason, r.Tail)
	}
}

// Services that listened in a temporary folder before the first turn are reached, later
// ones are not, nor is what one that was killed left there.
func TestOnlyEarlierServicesAreReachable(t *testing.T) {
	t.Parallel()
	needsNamespace(t)
	dir, err := os.MkdirTemp("/tmp", "pawl-") //nolint:usetesting // of everybody's
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	listen := func(name string) net.Listener {
		l, err := net.Listen("unix", filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = l.Close() })
		return l
	}
	listen("early")
	left := listen("left")
	left.(*net.UnixListener).SetUnlinkOnClose(false)
	if err := left.Close(); err != nil {
		t.Fatal(err)
	}
	b, _ := homeBench(t, files{"lib": "1\n"}, nil, nil)
	listen("late")
	if r := b.elsewhere("[ -S '" + dir + "/early' ] && [ ! -e '" + dir + "/late' ] && [ ! -e '" + dir + "/left' ]"); r.Status != gate.Pass {
		t.Errorf("%s: %s\n%s", r.Status, r.Reason, r.Tail)
	}
}
