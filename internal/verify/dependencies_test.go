//go:build unix

package verify_test

import (
	"cmp"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/agent/agenttest"
	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/verify"
)

// What is installed and git ignores is in no checkout. As it was before the first turn
// it is copied there: from a copy of then or, once the loop has ended, if it is still so.
// Else the reason is told.
func TestInstalledDependenciesAreCopiedToTheCheckout(t *testing.T) {
	t.Parallel()
	const lies = "echo() { case \"$1\" in not*sum) command echo \"ok - test_sum\";; *) command echo \"$@\";; esac; }\ntrap 'exit 0' EXIT\n"
	honest := files{"lib": adds, "sum_test.sh": "test_sum() { [ $(add 2 2) = 4 ]; }\n"}
	with := func(more files) files {
		work := files{}
		for _, f := range []files{honest, more} {
			maps.Copy(work, f)
		}
		return work
	}
	for name, c := range agenttest.Some(map[string]struct {
		work   files
		ended  bool
		want   gate.Evidence
		reason string
	}{
		"as they were":               {honest, false, gate.Proven, "fails without this work"},
		"the folder was changed":     {with(files{"node_modules/tool": "true #\n"}), false, gate.Proven, "fails without this work"},
		"and makes it green":         {files{"sum_test.sh": "test_sum() { [ $(add 2 2) = 4 ]; }\n", "node_modules/tool": lies}, false, gate.EvidenceUnknown, "passes in the work tree and fails in a clean checkout"},
		"a file of it is new":        {with(files{"node_modules/new": "x"}), false, gate.Proven, "fails without this work"},
		"the work needs others":      {with(files{"package-lock.json": "{1}"}), false, gate.Proven, "fails without this work"}, // not the code of before
		"a script of the manifest":   {with(files{"package.json": `{"scripts": {"lint": "sh lint"}, "dependencies": {"a": "1"}}`}), false, gate.Proven, "fails without this work"},
		"what a runner leaves there": {with(files{"node_modules/.cache/x": "x"}), false, gate.Proven, "fails without this work"},
		"ended, as they were":        {honest, true, gate.Proven, "fails without this work"},
		"ended, changed":             {with(files{"node_modules/tool": "true #\n"}), true, gate.EvidenceUnknown, "the checkout lacks node_modules (changed since the loop started): [worktree] setup"},
		"ended, a file is new":       {with(files{"node_modules/new": "x"}), true, gate.EvidenceUnknown, "the checkout lacks node_modules (changed since the loop started): [worktree] setup"},
	}, 2) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			start := sums("sub() { true; }\nadd() { echo 3; }\n", wantsSum)
			start[".gitignore"], start["package-lock.json"] = "node_modules/\n", "{}"
			start["package.json"] = `{"dependencies": {"a": "1"}}`
			// A link of a workspace leads to the code that is judged, not to the work tree's.
			start["run"] = ". node_modules/tool\n[ -z \"$npm_config_yes\" ] || [ ! -w node_modules/tool ] || [ $(id -u) = 0 ] || exit 1\n" +
				strings.Replace(start["run"], ". ./lib", ". node_modules/lib", 1)
			b := newBench(t, start, shellTests)
			b.write(files{"node_modules/tool": "true\n"})
			if err := os.Symlink("../lib", filepath.Join(b.root, "node_modules", "lib")); err != nil {
				t.Fatal(err)
			}
			if err := b.RecordStart(t.Context()); err != nil {
				t.Fatal(err)
			}
			if c.ended {
				if err := b.RemoveCopies(); err != nil {
					t.Fatal(err)
				}
			}
			f := b.claim(sumsGate(), c.work, nil)
			if v := f.Verdict; v.Status != gate.Pass || v.Evidence != c.want || !strings.Contains(v.Reason, c.reason) {
				t.Errorf("%s %s: %s", v.Status, v.Evidence, v.Reason)
			}
			if text, err := os.ReadFile(filepath.Join(b.root, "node_modules", "tool")); err != nil || len(text) == 0 {
				t.Errorf("the user's own folder: %q, %v", text, err)
			}
		})
	}
}

// An agent that adds a dependency changes the lock file. Its tool installs the dependencies in the
// checkout, for this task and for later ones.
func TestCheckoutInstallsFromAChangedLockFile(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		npm    string // what the tool does; "" = it installs
		first  bool   // nothing was installed before
		want   gate.Status
		reason string
	}{
		"by its tool":          {"", false, gate.Pass, ""},
		"the first one":        {"", true, gate.Pass, ""},
		"which has no network": {"echo getaddrinfo ENOTFOUND >&2; exit 1", false, gate.Unknown, "the checkout lacks node_modules (its lock files have changed; npm ci failed with exit code 1: getaddrinfo ENOTFOUND): [worktree] setup"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bin := t.TempDir()
			const installs = "mkdir node_modules && cp package-lock.json node_modules/tool"
			script := "#!/bin/sh\n[ \"$1 $npm_config_prefer_offline\" = \"ci true\" ] || exit 2\n" + cmp.Or(c.npm, installs) + "\n"
			if err := os.WriteFile(filepath.Join(bin, "npm"), []byte(script), 0o755); err != nil {
				t.Fatal(err)
			}
			start := files{".gitignore": "node_modules/\n", "package.json": `{"dependencies": {"a": "1"}}`, "package-lock.json": "answer=1\n"}
			b := newBench(t, start, func(o *verify.Options) {
				o.Env = append(o.Env, "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
			})
			if !c.first {
				b.write(files{"node_modules/tool": "answer=1\n"})
			}
			before := b.tree()
			if err := b.RecordStart(t.Context()); err != nil {
				t.Fatal(err)
			}
			b.write(files{"package-lock.json": "answer=42\n", "node_modules/tool": "answer=42\n"})
			run := func(tree, answer string) gate.Result {
				got, err := b.RunInCheckout(t.Context(), tree, []gate.Gate{{Name: "uses", Command: ". node_modules/tool && [ $answer = " + answer + " ]"}}, "")
				if err != nil {
					t.Fatal(err)
				}
				return got[0]
			}
			after := b.tree()
			if got := run(after, "42"); got.Status != c.want || !strings.Contains(got.Reason, c.reason) || strings.Count(got.Reason, "the checkout lacks") > 1 {
				t.Errorf("with another lock file: %s %q", got.Status, got.Reason)
			}
			if got := run(before, "1"); !c.first && got.Status != gate.Pass {
				t.Errorf("with the lock file of before: %s %q", got.Status, got.Reason)
			}
		})
	}
}

// An installation that leads to the work tree leads to the checkout in a namespace.
func TestEditableInstallLeadsToTheCheckout(t *testing.T) {
	t.Parallel()
	needsNamespace(t)
	python, err := exec.LookPath("python3")
	if err != nil {
		agenttest.Lacks(t, "there is no python3")
	}
	b := newBench(t, files{
		"src/m.py":   "def f(n):\n    return 1\n",
		"test_m.py":  "import m, unittest\nclass T(unittest.TestCase):\n    def test_one(self):\n        self.assertEqual(m.f(1), 1)\n",
		".gitignore": "__pycache__/\n",
	}, nil)
	src := filepath.Join(b.root, "src") // as in a .pth
	f := b.claim([]gate.Gate{{Name: "a", Command: "PYTHONPATH='" + src + "' " + python + " -m unittest -v"}}, files{
		"src/m.py":  "def f(n):\n    return n\n",
		"test_n.py": "import m, unittest\nclass N(unittest.TestCase):\n    def test_two(self):\n        self.assertEqual(m.f(2), 2)\n",
	}, nil)
	if v := f.Verdict; v.Status != gate.Pass || v.Evidence != gate.Proven || !strings.Contains(v.Reason, "fails when its functions are broken") {
		t.Errorf("%s %s: %s", v.Status, v.Evidence, v.Reason)
	}
}

// A Verifier that no loop made ready (an audit) gets what is installed now. Where the
// checkout lacks it, a failure says nothing of the commit.
func TestAuditGetsInstalledDependencies(t *testing.T) {
	t.Parallel()
	uses := gate.Gate{Name: "uses", Command: ". node_modules/tool"}
	for name, c := range map[string]struct {
		installed files
		later     files // the work tree, after the commit
		gate      gate.Gate
		want      gate.Status
		reason    string
	}{
		"installed":              {files{"node_modules/tool": "true\n"}, nil, uses, gate.Pass, ""},
		"and the test fails":     {files{"node_modules/tool": "false\n"}, nil, uses, gate.Fail, ""},
		"other versions":         {files{"node_modules/tool": "true\n"}, files{"package-lock.json": "{2}"}, uses, gate.Unknown, "the checkout lacks node_modules (its lock files have changed; npm ci failed"},
		"not installed":          {nil, nil, gate.Gate{Name: "npm", Command: "npm() { false; }; npm test"}, gate.Unknown, "node_modules is not installed"},
		"not isolated":           {nil, nil, gate.Gate{Name: "here", Command: "false", InWorkTree: true}, gate.Unknown, "isolated = false"},
		"pristine, as in verify": {files{"node_modules/tool": "true\n"}, nil, gate.Gate{Name: "uses", Command: uses.Command, Pristine: true}, gate.Pass, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, files{".gitignore": "node_modules/\n", "package.json": `{"dependencies": {"a": "1"}}`, "package-lock.json": "{1}"}, nil)
			head := b.tree()
			b.write(c.installed)
			b.write(c.later)
			run := b.RunInCheckout
			if c.gate.Pristine {
				run = b.Baseline
			}
			got, err := run(t.Context(), head, []gate.Gate{c.gate}, "")
			if err != nil || got[0].Status != c.want || !strings.Contains(got[0].Reason, c.reason) {
				t.Errorf("%v, %v, want %s: %s", got, err, c.want, c.reason)
			}
		})
	}
}
