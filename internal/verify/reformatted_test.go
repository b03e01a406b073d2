//go:build unix

package verify_test

import (
	"testing"

	"github.com/pawl-dev/pawl/internal/core/gate"
)

// A gate that checks the layout fails with the tests as they were. A test in another layout is no changed
// test; one that also says something else is.
func TestReformattedTestIsUnchanged(t *testing.T) {
	t.Parallel()
	const check = "! grep -n \"'\" *.py && python3 -m unittest -q"
	start := files{
		"calc.py":      "def add(a, b):\n    return a + b\n\n\nNAME = 'calc'\n",
		"test_calc.py": "import unittest\n\nimport calc\n\n\nclass TestCalc(unittest.TestCase):\n  def test_add(self):\n    self.assertEqual(calc.add('a', 'b'), 'ab')\n",
	}
	const (
		program = "def add(a, b):\n    return a + b\n\n\nNAME = \"calc\"\n"
		head    = "import unittest\n\nimport calc\n\n\nclass TestCalc(unittest.TestCase):\n    def test_add(self):\n"
	)
	for name, c := range map[string]struct {
		test  string
		needs bool
	}{
		"the layout":      {head + "        self.assertEqual(calc.add(\"a\", \"b\"), \"ab\")\n", false},
		"also what it is": {head + "        self.assertIn(\"a\", calc.add(\"a\", \"b\"))\n", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newBench(t, start, nil).claim(gates(check), files{"calc.py": program, "test_calc.py": c.test}, nil)
			if v := f.Verdict; v.Status != gate.Pass || v.NeedsChangedInputs != c.needs || !c.needs && v.Evidence != gate.Proven {
				t.Errorf("%+v", v)
			}
		})
	}
}
