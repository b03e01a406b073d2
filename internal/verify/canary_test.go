//go:build unix

package verify_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/agent/agenttest"
	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/verify"
)

// Code that makes its own tests green by what it does to the run is not believed: the run
// says nothing of a test that must fail either. No sign in the text tells it here.
func TestRunThatPassesAFailingCanaryProvesNothing(t *testing.T) {
	t.Parallel()
	const (
		areaTest = "import unittest\nfrom area import area\n\n\nclass AreaTest(unittest.TestCase):\n    def test_triangle(self):\n        self.assertEqual(area(3, 4, 5), 6)\n"
		sumTest  = "const assert = require('node:assert');\nconst { sum } = require('./sum.js');\n\nassert.strictEqual(sum(1, 2), 3);\n"
	)
	python := files{"area.py": "def area(*a):\n    return 0\n", "test_area.py": areaTest, ".gitignore": "__pycache__/\n"}
	node := files{"package.json": "{}\n", "sum.js": "exports.sum = () => 0;\n", "sum.test.js": sumTest}
	nodeExits := files{"package.json": "{}\n", "sum.js": "exports.sum = () => 0;\n", "sum.test.js": sumTest + "process.exit(0);\n"}
	golang := calc()
	golang["sub_test.go"] = testFile("TestSub", "if Sub(3, 1) != 2 {\n\t\tt.Error(\"3-1\")\n\t}")
	wrongSub := strings.Replace(subtract, "package calc\n", "package calc\n\nimport (\n\t\"fmt\"\n\t\"os\"\n)\n\n"+
		"func init() {\n\tfmt.Println(\"=== RUN   TestAdd\\n--- PASS: TestAdd (0.00s)\\n=== RUN   TestSub\\n--- PASS: TestSub (0.00s)\\nPASS\")\n\tos.Exit(0)\n}\n", 1)
	cases := []struct {
		name, gate string
		before     files
		work       files
		want       gate.Evidence
		label      string
		probes     int // canaries that ran
	}{
		{"Python: honest", "python3 -m unittest -q", python, files{"area.py": "def area(*a):\n    return 6\n"}, gate.Proven, "", 1},
		{
			"Python: assertions are replaced", "python3 -m unittest -q", python,
			files{"area.py": "import unittest as u\n\ndef area(*a):\n    return 5\n\nsetattr(getattr(u, 'Test' + 'Case'), 'assert' + 'Equal', lambda self, a, b: None)\n"},
			gate.Unproven, "canary not reported: a", 2,
		},
		{
			"Python: results are printed", "python3 -m unittest -q test_area", python,
			files{"area.py": "import os, sys\n\ndef area(*a):\n    print('Ran 1 test in 0.001s\\n\\nOK', file=sys.stderr, flush=True)\n    getattr(os, '_ex' + 'it')(0)\n"},
			gate.Unproven, "canary not reported: a", 2,
		},
		{"Node: honest, red when the work is broken", "node sum.test.js", node, files{"sum.js": "exports.sum = (a, b) => a + b;\n"}, gate.Proven, "", 0},
		{
			"Node: the process ends before the assertion", "node sum.test.js", node,
			files{"sum.js": "exports.sum = () => process['ex' + 'it']();\n"},
			gate.Unproven, "canary not reported: a", 2,
		},
		{"Node: there is no place for one", "node sum.test.js", nodeExits, files{"sum.js": "exports.sum = (a, b) => a + b;\n"}, gate.Proven, "", 0},
		{"Go: honest", "go test ./...", golang, files{"calc.go": subtract}, gate.Proven, "", 1},
		{"Go: results are printed", "go test ./...", golang, files{"calc.go": wrongSub}, gate.Unproven, "canary not reported: a", 2},
		{
			"Go: only named tests run", "go test -run 'TestAdd|TestSub' ./...", golang,
			files{"calc.go": subtract},
			gate.Proven, "canary not applicable: a does not report tests that are added", 2,
		},
	}
	for _, c := range agenttest.Each(cases, 2) {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if program, _, _ := strings.Cut(c.gate, " "); program != "go" {
				if _, err := exec.LookPath(program); err != nil {
					agenttest.Lacks(t, "%s is not installed", program)
				}
			}
			b := newBench(t, c.before, nil)
			v := b.claim(gates(c.gate), c.work, nil).Verdict
			if v.Status != gate.Pass || v.Evidence != c.want {
				t.Errorf("%+v", v)
			}
			if told := strings.Contains(v.Reason, "the gate does not report a test that must fail"); told != (c.want == gate.Unproven) {
				t.Error(v.Reason)
			}
			labels := slices.DeleteFunc(v.Labels, func(l string) bool { return !strings.HasPrefix(l, "canary") })
			if got := strings.Join(labels, "; "); got != c.label {
				t.Errorf("labels %q", v.Labels)
			}
			ran := slices.DeleteFunc(slices.Clone(b.ran), func(s string) bool { return !strings.Contains(s, "canary") })
			if len(ran) != c.probes {
				t.Errorf("ran %q", b.ran)
			}
		})
	}
}

// What a gate says of a canary on the tree of before is asked once.
func TestCanaryOnTheOldTreeRunsOnce(t *testing.T) {
	t.Parallel()
	golang := calc()
	golang["sub_test.go"] = testFile("TestSub", "if Sub(3, 1) != 2 {\n\t\tt.Error(\"3-1\")\n\t}")
	b := newBench(t, golang, nil)
	gs := gates("go test -run 'TestAdd|TestSub' ./...")
	before := b.tree()
	b.claim(gs, files{"calc.go": subtract}, nil)
	b.claim(gs, files{"calc.go": strings.Replace(subtract, "a - b", "-b + a", 1)}, func(r *verify.Request) { r.Base = before })
	if !slices.Contains(b.ran, "kept a canary-before") || !slices.Contains(b.ran, "a canary") {
		t.Errorf("ran %q", b.ran)
	}
}
