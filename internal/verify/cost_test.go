//go:build unix

package verify_test

import (
	"flag"
	"fmt"
	"maps"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/agent/agenttest"
	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/verify"
)

// An ordinary claim may run so often a whole gate beside the baseline, and some of its tests.
const (
	maxWholeRuns    = 3
	maxNarrowedRuns = 4
)

// costly is a project with one old test, and what an ordinary claim changes in it.
type costly struct {
	gate, needs string
	source      string // its name, and its text before and after
	before      string
	after       string
	old         string    // the old test's file, which takes %s seconds
	oldText     string    // its text
	newTest     string    // what is added to it, or stands in a file of its own
	newFile     [2]string // that, with the head that it needs there
	more        files
}

// TestClaimCostsFewGateRuns counts runs of ordinary claims: a function is added,
// with a test of it in a new file or in the old one.
//
//	go test ./internal/verify -run TestClaimCostsFewGateRuns -v -count 1 -parallel 1 -args -slow 1
//
// prints how long they take where the old test takes a second.
func TestClaimCostsFewGateRuns(t *testing.T) {
	t.Parallel()
	for i, c := range costlyProjects(*slow) {
		for j, in := range []string{"a new file", "the old file"} {
			if (i+j)%agenttest.Stride(4) != 0 {
				continue // make steps has them all
			}
			if in == "a new file" && strings.Contains(c.gate, c.old) {
				continue // the gate does not run it
			}
			t.Run(c.gate+", a test in "+in, func(t *testing.T) {
				t.Parallel()
				needs(t, c.needs)
				work := files{c.source: c.after, c.newFile[0]: c.newFile[1] + c.newTest}
				if in == "the old file" {
					work = files{c.source: c.after, c.old: c.oldText + c.newTest}
				}
				c.claim(t, work)
			})
		}
	}
}

// claim verifies a claim and counts its runs.
func (c costly) claim(t *testing.T, work files) {
	t.Helper()
	start := files{c.source: c.before, c.old: c.oldText, ".gitignore": "__pycache__/\n"}
	maps.Copy(start, c.more)
	var whole, narrowed []string
	b := newBench(t, start, func(o *verify.Options) {
		o.Watch = func(p verify.Progress) {
			switch run := string(p.Probe); {
			case p.Result == nil || p.Result.Cached:
			case p.Result.Command == c.gate:
				whole = append(whole, run)
			default:
				narrowed = append(narrowed, run)
			}
		}
	})
	base, gs := b.tree(), gates(c.gate)
	if _, err := b.Baseline(t.Context(), base, gs, ""); err != nil {
		t.Fatal(err)
	}
	whole = nil
	b.write(work)
	began := time.Now()
	f, err := b.Claim(t.Context(), verify.Request{Gates: gs, Base: base, Tree: b.tree()})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d whole %q, %d narrowed %q, %.1f s: %s", len(whole), whole, len(narrowed), narrowed, time.Since(began).Seconds(), f.Verdict.Reason)
	if f.Verdict.Evidence != gate.Proven || slices.ContainsFunc(f.Verdict.Labels, func(l string) bool { return !strings.HasPrefix(l, "tests changed: ") }) {
		t.Errorf("%s %q", f.Verdict.Evidence, f.Verdict.Labels)
	}
	if len(whole) > maxWholeRuns || len(narrowed) > maxNarrowedRuns {
		t.Errorf("%d whole and %d narrowed runs of the gate, at most %d and %d expected", len(whole), len(narrowed), maxWholeRuns, maxNarrowedRuns)
	}
}

// slow is how many seconds the old test takes.
var slow = flag.Int("slow", 0, "seconds that the old test of TestClaimCostsFewGateRuns takes")

func costlyProjects(seconds int) []costly {
	python := costly{
		needs: "python3", source: "calc.py", before: "def add(a, b):\n    return a + b\n",
		after: "def add(a, b):\n    return a + b\n\n\ndef sub(a, b):\n    return a - b\n", old: "test_calc.py",
		oldText: fmt.Sprintf("import time\nimport calc\n\n\ndef test_add():\n    time.sleep(%d)\n    assert calc.add(2, 3) == 5\n", seconds),
		newTest: "\n\ndef test_sub():\n    assert calc.sub(700, 41) == 659\n    assert calc.sub(7, 410) == -403\n", newFile: [2]string{"test_sub.py", "import calc\n"},
	}
	pytest := func(command string, more files) costly {
		p := python
		p.gate, p.needs, p.more = command, "pytest", more
		return p
	}
	unittest := python
	unittest.gate = "python3 -m unittest"
	class := "import time\nimport unittest\nimport calc\n\n\nclass %s(unittest.TestCase):\n"
	unittest.oldText = fmt.Sprintf(class+"    def test_add(self):\n        time.sleep(%d)\n        self.assertEqual(calc.add(2, 3), 5)\n", "TestAdd", seconds)
	unittest.newTest = "\n    def test_sub(self):\n        self.assertEqual(calc.sub(700, 41), 659)\n        self.assertEqual(calc.sub(7, 410), -403)\n"
	unittest.newFile = [2]string{"test_sub.py", fmt.Sprintf(class, "TestSub")}
	discover := unittest
	discover.gate = "python3 -m unittest discover -s . -q"
	require := "const test = require('node:test');\nconst assert = require('node:assert');\nconst calc = require('./calc');\n\n"
	node := costly{
		gate: "node --test", needs: "node", source: "calc.js", before: "exports.add = function add(a, b) {\n  return a + b;\n};\n",
		after: "exports.add = function add(a, b) {\n  return a + b;\n};\n\nexports.sub = function sub(a, b) {\n  return a - b;\n};\n", old: "calc.test.js",
		oldText: fmt.Sprintf(require+"test('adds', async () => {\n  await new Promise((done) => setTimeout(done, %d000));\n  assert.strictEqual(calc.add(2, 3), 5);\n});\n", seconds),
		newTest: "\ntest('subtracts numbers', () => {\n  assert.strictEqual(calc.sub(700, 41), 659);\n  assert.strictEqual(calc.sub(7, 410), -403);\n});\n",
		newFile: [2]string{"sub.test.js", require},
	}
	npm := node
	npm.gate, npm.needs, npm.more = "npm test", "npm", files{"package.json": "{\"name\": \"calc\", \"version\": \"1.0.0\", \"scripts\": {\"test\": \"node --test\"}}\n"}
	plain := node
	plain.gate = "node calc.test.js"
	cargo := costly{
		gate: "cargo test --offline", needs: "cargo", source: "src/lib.rs", before: "pub fn add(a: i64, b: i64) -> i64 {\n    a + b\n}\n",
		after: "pub fn add(a: i64, b: i64) -> i64 {\n    a + b\n}\n\npub fn sub(a: i64, b: i64) -> i64 {\n    a - b\n}\n", old: "tests/calc.rs",
		oldText: fmt.Sprintf("use calc::*;\n\n#[test]\nfn adds() {\n    std::thread::sleep(std::time::Duration::from_secs(%d));\n    assert_eq!(add(2, 3), 5);\n}\n", seconds),
		newTest: "\n#[test]\nfn subtracts() {\n    assert_eq!(sub(700, 41), 659);\n    assert_eq!(sub(7, 410), -403);\n}\n", newFile: [2]string{"tests/sub.rs", "use calc::*;\n"},
		more: files{"Cargo.toml": "[package]\nname = \"calc\"\nversion = \"0.1.0\"\nedition = \"2021\"\n", ".gitignore": "target\n", "Cargo.lock": "version = 3\n\n[[package]]\nname = \"calc\"\nversion = \"0.1.0\"\n"},
	}
	golang := costly{
		gate: "go test ./...", needs: "go", source: "calc.go", before: "package calc\n\nfunc Add(a, b int) int { return a + b }\n",
		after: "package calc\n\nfunc Add(a, b int) int { return a + b }\n\nfunc Sub(a, b int) int { return a - b }\n", old: "calc_test.go",
		oldText: fmt.Sprintf("package calc\n\nimport (\n\t\"testing\"\n\t\"time\"\n)\n\nfunc TestAdd(t *testing.T) {\n\ttime.Sleep(%d * time.Second)\n\tif Add(2, 3) != 5 {\n\t\tt.Error(\"2+3\")\n\t}\n}\n", seconds),
		newTest: "\nfunc TestSub(t *testing.T) {\n\tif Sub(700, 41) != 659 || Sub(7, 410) != -403 {\n\t\tt.Error(\"sub\")\n\t}\n}\n", newFile: [2]string{"sub_test.go", "package calc\n\nimport \"testing\"\n"},
		more: files{"go.mod": "module calc\n\ngo 1.21\n"},
	}
	behind := golang
	behind.gate, behind.more = "make check", files{"go.mod": golang.more["go.mod"], "Makefile": "check:\n\tgo vet ./...\n\tgo test ./...\n"}
	cases := node
	cases.gate = "node --test ."
	cases.newTest = "\nfor (const [a, b, c] of [[700, 41, 659], [7, 410, -403]]) {\n  test(`subtracts ${b} from ${a}`, () => {\n    assert.strictEqual(calc.sub(a, b), c);\n  });\n}\n"
	return []costly{
		golang, behind, cases, pytest("pytest -q", nil), pytest("pytest", nil), pytest("make test", files{"Makefile": "test:\n\tpytest -q\n"}),
		unittest, discover, node, npm, plain, cargo,
	}
}

// needs skips a test for a program that is missing or does not run here: rustup's cargo fails
// in a home without a toolchain.
func needs(t *testing.T, program string) {
	t.Helper()
	if program != "cargo" {
		agenttest.Needs(t, program)
	} else if err := exec.Command(program, "--version").Run(); err != nil {
		agenttest.Lacks(t, "cargo does not run here: %v", err)
	}
}

// A test that fails because it runs alone is not a test of the work, whether the gate tells
// ids or not.
func TestTestThatFailsAloneProvesNothing(t *testing.T) {
	t.Parallel()
	for _, c := range costlyProjects(0)[:2] {
		t.Run(c.gate, func(t *testing.T) {
			t.Parallel()
			agenttest.Needs(t, c.needs)
			start := files{c.source: c.before, c.old: c.oldText}
			maps.Copy(start, c.more)
			liar := "import os\nimport calc\n\n\ndef test_sub():\n    assert '-k' not in os.environ.get('PYTEST_ADDOPTS', '')\n"
			if c.needs == "go" {
				liar = "package calc\n\nimport (\n\t\"flag\"\n\t\"testing\"\n)\n\nfunc TestSub(t *testing.T) {\n\tif flag.Lookup(\"test.run\").Value.String() != \"\" {\n\t\tt.Error(\"sub\")\n\t}\n}\n"
			}
			f := newBench(t, start, nil).claim(gates(c.gate), files{c.source: c.after, c.newFile[0]: liar}, nil)
			if f.Verdict.Status != gate.Pass || f.Verdict.Evidence != gate.Unproven {
				t.Errorf("%+v", f.Verdict)
			}
		})
	}
}
