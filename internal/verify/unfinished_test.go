//go:build unix

package verify_test

import (
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/verify"
)

// What tests see of the work is not all of it, or nothing that the program does.
func TestUnfinishedWork(t *testing.T) {
	t.Parallel()
	const old, test = "def add(a, b):\n    return a + b\n", "import app\nif app.mul(6, 7) != 42:\n    raise SystemExit('wrong')\n"
	const mul = "\ndef mul(a, b):\n    return a * b\n"
	const helper = "\ndef _wait(n):\n    return n * 3\n"
	for _, c := range []struct{ name, work, test, asked, reason string }{
		{"whole", mul, test, "", ""},
		{"a stub beside it", mul + "\ndef div(a, b):\n    return 0\n", test, "", "part of the work is not written yet: div in app.py make"},
		{"one that is handed on", mul + "\ndef quiet(a, b):\n    return 0\n\nlog = quiet\n", test, "", ""},
		{"one that a test asks for", mul + "\ndef div(a, b):\n    return 0\n", test + "app.div(1, 2)\n", "", ""},
		{"a helper that nothing calls", helper, strings.ReplaceAll(test, "mul(6, 7) != 42", "_wait(2) != 6"), "", "the program does what it did before: nothing but tests calls _wait in app.py"},
		{"one that was asked for", helper, strings.ReplaceAll(test, "mul(6, 7) != 42", "_wait(2) != 6"), "Add _wait(n).", ""},
		{"one that is called", helper + "\ndef twice(n):\n    return _wait(n) + _wait(n)\n", strings.ReplaceAll(test, "mul(6, 7) != 42", "_wait(2) != 6"), "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, files{"app.py": old, "test_old.py": "import app\nassert app.add(1, 2) == 3\n"}, nil)
			f := b.claim(gates("for t in test_*.py; do python3 $t || exit 1; done"), files{"app.py": old + c.work, "test_new.py": c.test}, func(r *verify.Request) { r.Asked = c.asked })
			switch v := f.Verdict; {
			case c.reason == "" && v.Evidence != gate.Proven, c.reason != "" && (v.Evidence != gate.Unproven || !strings.HasPrefix(v.Reason, c.reason) || v.Enough == ""):
				t.Errorf("%+v", v)
			}
		})
	}
}
