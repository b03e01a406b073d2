//go:build unix

package verify_test

import (
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/core/gate"
)

// The gates here look at the code's text: they pass with the sign and fail without it,
// or do not care.
func TestSignsAreNeutralized(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, file, work, needs, because string }{
		{"asks whether it is being tested", "app.py", "import os\nif 'PYTEST_CURRENT_TEST' in os.environ:\n    x = 2\n", "PYTEST_CURRENT_TEST", "app.py:2, which asks whether it is being tested"},
		{"looks at who calls it", "App.java", "class App {\n  boolean t = StackWalker.getInstance()\n    .walk(f -> f.endsWith(\"Test\"));\n}\n", "\"Test\"", "App.java:2, which looks at who calls it"},
		{"exit", "app.js", "exports.f = () => {\n  process.exit();\n};\n", "process.exit", "app.js:2, which ends the process with success"},
		{"patch", "app.py", "import unittest\nunittest.TestCase.assertEqual = print\n", "^unittest.*assertEqual = print", "app.py:2, which changes an assertion, a test runner or a clock"},
		{"shell patch", "app.sh", "diff() {\n  true\n}\n", "^diff", "app.sh:1, which changes an assertion, a test runner or a clock"},
		{"reads tests", "app.js", "const d = require('fs').readFileSync('test/cases.json');\n", "cases.json", "app.js:1, which reads tests, or what they expect"},
		{"constant equality", "app.py", "class P(str):\n    def __eq__(self, other):\n        return True\n", "def __eq__", "app.py:2, which is equal to whatever it is compared with"},
		{"hidden name", "app.py", "import builtins\nf = getattr(builtins, \"ev\" + \"al\")\n", "\"ev\" + \"al\"", "app.py:2, which hides a name that it uses"},
		{"a sign that the gate does not need", "app.py", "import os\nx = 2\nos._exit(0)\n", "x = 2", ""},
		{"a program may end", "app.py", "import os\nif __name__ == '__main__':\n    os._exit(0)\n", "os._exit", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, files{c.file: "x = 1\n"}, nil)
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
