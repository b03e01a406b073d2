//go:build unix

package verify_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/agent/agenttest"
	"github.com/pawl-dev/pawl/internal/core/gate"
)

// A gate that runs no new test is named: no test that the agent writes can prove its work there.
func TestNewTestThatNoGateRunsIsNamed(t *testing.T) {
	t.Parallel()
	test := "import unittest\nimport calc\n\n\nclass SubTest(unittest.TestCase):\n    def test_sub(self):\n        self.assertEqual(calc.sub(5, 2), 3)\n"
	hollow := strings.Replace(test, "self.assertEqual(calc.sub(5, 2), 3)", "self.assertEqual(2, 2)", 1)
	start := files{"calc.py": "def add(a, b):\n    return a + b\n", "test_calc.py": strings.NewReplacer("Sub", "Add", "sub(5, 2)", "add(1, 2)").Replace(test)}
	for _, c := range agenttest.Each([]struct {
		name, gate, file, test string
		notRun                 bool
	}{
		{"it names another file", "python3 -m unittest -q test_calc", "test_sub.py", test, true},
		{"it runs nothing", "true", "test_sub.py", test, true},
		{"it runs nothing, and the test is in an old file", "true", "test_calc.py", start["test_calc.py"] + strings.Replace(test, "import unittest\nimport calc\n", "", 1), true},
		{"it runs a hollow one", "python3 -m unittest -q", "test_sub.py", hollow, false},
		{"it runs it", "python3 -m unittest -q", "test_sub.py", test, false},
	}, 2) {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, start, nil)
			v := b.claim(gates(c.gate), files{"calc.py": start["calc.py"] + "\n\ndef sub(a, b):\n    return a - b\n", c.file: c.test}, nil).Verdict
			if want := !c.notRun && c.test == test; v.Status != gate.Pass || (v.Evidence == gate.Proven) != want {
				t.Errorf("%+v", v)
			}
			if slices.Contains(v.TestsNotRun, c.file) != c.notRun || strings.Contains(v.Reason, "no gate runs the new tests: a failing test put into "+c.file) != c.notRun {
				t.Errorf("not run: %q: %s (ran %q)", v.TestsNotRun, v.Reason, b.ran)
			}
		})
	}
}
