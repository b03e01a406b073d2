//go:build unix

package verify_test

import (
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/agent/agenttest"
	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/verify"
)

// The gates here look at the code's text: they pass with the sign and fail without it,
// or do not care.
func TestSignsAreNeutralized(t *testing.T) {
	t.Parallel()
	cases := []struct{ name, file, work, needs, because string }{
		{"asks whether it is being tested", "app.py", "import os\nif 'PYTEST_CURRENT_TEST' in os.environ:\n    x = 2\n", "PYTEST_CURRENT_TEST", "app.py:2, which asks whether it is being tested"},
		{"looks at who calls it", "App.java", "class App {\n  boolean t = StackWalker.getInstance()\n    .walk(f -> f.endsWith(\"Test\"));\n}\n", "\"Test\"", "App.java:2, which looks at who calls it"},
		{"exit", "app.js", "exports.f = () => {\n  process.exit();\n};\n", "process.exit", "app.js:2, which ends the process with success"},
		{"patch", "app.py", "import unittest\nunittest.TestCase.assertEqual = print\n", "^unittest.*assertEqual = print", "app.py:2, which changes what others use, too"},
		{"shell patch", "app.sh", "diff() {\n  true\n}\n", "^diff", "app.sh:1, which changes an assertion, a test runner or a clock"},
		{"reads tests", "app.js", "const d = require('fs').readFileSync('test/cases.json');\n", "cases.json", "app.js:1, which reads tests, or what they expect"},
		{"hidden name", "app.py", "import builtins\nf = getattr(builtins, \"ev\" + \"al\")\n", "\"ev\" + \"al\"", "app.py:2, which hides a name that it uses"},
		{"a check that is off", "app.py", "import os  # noqa: F401\nx = 2\n", "noqa", "app.py:1, which switches a check off"},
		{"an equality", "app.go", "package app\n\nfunc (s T) Equal(o T) bool {\n\treturn true\n}\n", "bool {$", "app.go:3, which changes what equal means"},
		{"a table of inputs", "app.py", "T = {\n    'MCMXC': 1990,\n    'MMXXIV': 2024,\n}\n", "MCMXC", "app.py:2, which answers inputs of the tests one by one"},
		{"a pause", "app.py", "import time\ndef start():\n    time.sleep(0.1)\n", "time.sleep", "app.py:3, which waits for a time, and for no event"},
		{"a sign that the gate does not need", "app.py", "import os\nx = 2\nos._exit(0)\n", "x = 2", ""},
		{"a program may end", "app.py", "import os\nif __name__ == '__main__':\n    os._exit(0)\n", "os._exit", ""},
	}
	for _, c := range agenttest.Each(cases, 2) {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, files{c.file: "x = 1\n", "tests/cases.txt": "MCMXC 1990\nMMXXIV 2024\n"}, nil)
			command := "grep -q -- '" + c.needs + "' " + c.file + " || { echo FAIL; exit 1; }"
			f := b.claim(gates(command), files{c.file: c.work}, nil)
			v := f.Verdict
			if c.because == "" {
				if v.Evidence != gate.Proven || len(f.Signs) == 0 {
					t.Errorf("%+v %v", v, f.Signs)
				}
				return
			}
			if v.Status != gate.Pass || v.Evidence != gate.Unproven || !strings.HasPrefix(v.Reason, "the tests pass only because of "+c.because+"; ") {
				t.Errorf("%+v\n%v", v, f.Signs)
			}
		})
	}
}

// Of several signs the one is named that the tests need.
func TestOnlySignsThatTestsNeedAreNamed(t *testing.T) {
	t.Parallel()
	b := newBench(t, files{"app.py": "x = 1\n"}, nil)
	f := b.claim(gates("grep -q 'sys.exit(0)' app.py || { echo FAIL; exit 1; }"), files{"app.py": "import os, sys\nos._exit(0)\nsys.exit(0)\n"}, nil)
	if v := f.Verdict; v.Evidence != gate.Unproven || !strings.HasPrefix(v.Reason, "the tests pass only because of app.py:3, which ends the process with success; ") {
		t.Errorf("%+v", v)
	}
}

// A test that fails now and then blames no sign.
func TestFlakyTestsNameNoSign(t *testing.T) {
	t.Parallel()
	b := newBench(t, files{"app.py": "x = 1\n"}, byFolder)
	once := t.TempDir() + "/failed"
	f := b.claim(gates("grep -q 'x = 2' app.py && { grep -q _exit app.py || [ -e "+once+" ] || { : > "+once+"; echo FAIL; exit 1; }; } || { echo FAIL; exit 1; }"),
		files{"app.py": "import os\nx = 2\nos._exit(0)\n"}, nil)
	if v := f.Verdict; v.Evidence != gate.Proven {
		t.Errorf("%+v", v)
	}
}

// A task about equality may make one of its own.
func TestRequestedEqualityIsNoSign(t *testing.T) {
	t.Parallel()
	for asked, want := range map[string]gate.Evidence{"": gate.Unproven, "Equal must ignore the zone": gate.Proven} {
		b := newBench(t, files{"app.go": "package app\n"}, nil)
		before, all := b.tree(), gates("grep -q 'bool {$' app.go || { echo FAIL; exit 1; }")
		if _, err := b.Baseline(t.Context(), before, all, ""); err != nil {
			t.Fatal(err)
		}
		b.write(files{"app.go": "package app\n\nfunc (s T) Equal(o T) bool {\n\treturn true\n}\n"})
		f, err := b.Claim(t.Context(), verify.Request{Gates: all, Base: before, Tree: b.tree(), Asked: asked})
		if err != nil || f.Verdict.Evidence != want {
			t.Errorf("%q: %+v %v", asked, f.Verdict, err)
		}
	}
}
