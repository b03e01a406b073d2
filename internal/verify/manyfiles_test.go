//go:build unix

package verify_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/agent/agenttest"
	"github.com/pawl-dev/pawl/internal/core/gate"
)

// Other files beside the work hide nothing of it, however many there are: what its tests check is
// tried, or the claim is not proven.
func TestManyFilesHideNoHollowTest(t *testing.T) {
	t.Parallel()
	agenttest.Needs(t, "python3")
	const (
		old    = "import unittest, calc\n\n\nclass T(unittest.TestCase):\n    def test_add(self):\n        self.assertEqual(calc.add(1, 2), 3)\n"
		add    = "def add(a, b):\n    return a + b\n"
		hollow = old + "\n    def test_sub(self):\n        self.assertEqual(calc.sub(2, 2), 0)\n"
		real   = old + "\n    def test_sub(self):\n        self.assertEqual(calc.sub(5, 2), 3)\n"
	)
	for name, c := range map[string]struct {
		tests, file, text string
		many              int
		want              gate.Evidence
		reason            string
	}{
		"pages and a hollow test":        {hollow, "a/%d.html", "<p>%d</p>\n", 250, gate.Unproven, "returns nothing or its old result"},
		"programs and a hollow test":     {hollow, "a/%d.py", "N = %d\n", 250, gate.Unproven, "returns nothing or its old result"},
		"programs and a test":            {real, "a/%d.py", "N = %d\n", 250, gate.Proven, ""},
		"very many programs and a test":  {real, "a/%d.py", "N = %d\n", 2001, gate.Unproven, "more than 2,000 programs changed"},
		"very many documents and a test": {real, "a/%d.md", "%d\n", 2001, gate.Proven, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, files{"calc.py": add, "test_calc.py": old}, nil)
			changed := files{"calc.py": add + "\n\ndef sub(a, b):\n    return a - b\n", "test_calc.py": c.tests}
			if c.tests == hollow {
				changed["calc.py"] = add + "\n\ndef sub(a, b):\n    return 0\n"
			}
			for i := range c.many {
				changed[fmt.Sprintf(c.file, i)] = fmt.Sprintf(c.text, i)
			}
			v := b.claim(gates("python3 -B -m unittest -q"), changed, nil).Verdict
			if v.Status != gate.Pass || v.Evidence != c.want || !strings.Contains(v.Reason, c.reason) {
				t.Errorf("%s %s: %s", v.Status, v.Evidence, v.Reason)
			}
		})
	}
}

// A file name that is not UTF-8 is a name like others.
func TestFileNameInAnotherEncoding(t *testing.T) {
	t.Parallel()
	agenttest.Needs(t, "python3")
	const (
		old = "import unittest, calc\n\n\nclass T(unittest.TestCase):\n    def test_add(self):\n        self.assertEqual(calc.add(1, 2), 3)\n"
		add = "def add(a, b):\n    return a + b\n"
	)
	b := newBench(t, files{"calc.py": add, "test_calc.py": old}, nil)
	v := b.claim(gates("python3 -B -m unittest -q"), files{
		"calc.py":       add + "\n\ndef sub(a, b):\n    return a - b\n",
		"test_calc.py":  old + "\n    def test_sub(self):\n        self.assertEqual(calc.sub(5, 2), 3)\n",
		"m\xe9thode.py": "def f(x):\n    return 2 * x\n",
	}, nil).Verdict
	if v.Status != gate.Pass || v.Evidence != gate.Proven {
		t.Errorf("%s %s: %s", v.Status, v.Evidence, v.Reason)
	}
}

// The tests of the work are read first, wherever their names stand among those of a large repository: a
// program that holds their answers is named.
func TestAnswersToTestsAreNamedBesideManyTests(t *testing.T) {
	t.Parallel()
	agenttest.Needs(t, "python3")
	had := files{"zip.py": "def old():\n    return 1\n"}
	for i := range 130 {
		had[fmt.Sprintf("a/test_%d.py", i)] = fmt.Sprintf("import unittest\n\n\nclass T(unittest.TestCase):\n    def test(self):\n        self.assertEqual(%d, %d)\n", i, i)
	}
	b := newBench(t, had, nil)
	signs := b.claim(gates("python3 -B -m unittest -q test_zip"), files{
		"zip.py": "CODES = {'berlin': '10115', 'hamburg': '20095', 'munich': '80331'}\n\n\ndef code(city):\n    return CODES.get(city.lower(), '00000')\n",
		"test_zip.py": "import unittest, zip\n\n\nclass T(unittest.TestCase):\n    def test_code(self):\n" +
			"        self.assertEqual(zip.code('Berlin'), '10115')\n        self.assertEqual(zip.code('hamburg'), '20095')\n        self.assertEqual(zip.code('munich'), '80331')\n",
	}, nil).Signs
	if len(signs) == 0 || !strings.Contains(fmt.Sprint(signs), "zip.py:1 answers inputs of the tests") {
		t.Errorf("signs: %v", signs)
	}
}

// An old test inside a source file is compared, however many sources changed before it.
func TestWeakenedDoctestBesideManyPrograms(t *testing.T) {
	t.Parallel()
	agenttest.Needs(t, "python3")
	b := newBench(t, files{"z.py": "def add(a, b):\n    \"\"\"\n    >>> add(1, 2)\n    3\n    \"\"\"\n    return a + b\n"}, nil)
	changed := files{"z.py": "def add(a, b):\n    \"\"\"\n    >>> add(1, 2) > 0\n    True\n    \"\"\"\n    return a * b\n"}
	for i := range 120 {
		changed[fmt.Sprintf("a/%d.py", i)] = fmt.Sprintf("N = %d\n", i)
	}
	if v := b.claim(gates("python3 -B -m doctest z.py"), changed, nil).Verdict; v.Evidence != gate.EvidenceUnknown {
		t.Errorf("%s %s: %s", v.Status, v.Evidence, v.Reason)
	}
}
