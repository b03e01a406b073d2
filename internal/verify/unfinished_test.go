//go:build unix

package verify_test

import (
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/verify"
)

// What tests see of the work is not all of it.
func TestUnfinishedWorkIsNamed(t *testing.T) {
	t.Parallel()
	const old, test = "def add(a, b):\n    return a + b\n", "import app\nif app.mul(6, 7) != 42:\n    raise SystemExit('wrong')\n"
	const mul = "\ndef mul(a, b):\n    return a * b\n"
	for _, c := range []struct{ name, work, test, reason string }{
		{"whole", mul, test, ""},
		{"what was asked for has no effect", "\ndef mul(a, b, workers=1):\n    return a * b\n", test, "the work cannot do all that the task asks for: workers (app.py:4) has no effect"},
		{"what was asked for is only refused", "\ndef mul(a, b, workers=1):\n    if workers < 1:\n        raise ValueError(f'{workers} workers')\n    return a * b\n", test + "try:\n    app.mul(1, 2, 0)\n    raise SystemExit('taken')\nexcept ValueError:\n    pass\n", "the work cannot do all that the task asks for: workers (app.py:4) has no effect"},
		{"what nobody asked for has none", "\ndef mul(a, b, depth=1):\n    return a * b\n", test, ""},
		{"a stub beside it", mul + "\ndef div(a, b):\n    return 0\n", test, "the work cannot do all that the task asks for: div in app.py ignores its input"},
		{"one that is handed on", mul + "\ndef quiet(a, b):\n    return 0\n\nlog = quiet\n", test, ""},
		{"one that a test asks for", mul + "\ndef div(a, b):\n    return 0\n", test + "app.div(1, 2)\n", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, files{"app.py": old, "test_old.py": "import app\nassert app.add(1, 2) == 3\n"}, nil)
			f := b.claim(gates("for t in test_*.py; do python3 $t || exit 1; done"), files{"app.py": old + c.work, "test_new.py": c.test}, func(r *verify.Request) { r.Asked = "Add mul(a, b, workers)" })
			switch v := f.Verdict; {
			case c.reason == "" && v.Evidence != gate.Proven, c.reason != "" && (v.Evidence != gate.Unproven || !strings.HasPrefix(v.Reason, c.reason) || v.Remedy == ""):
				t.Errorf("%+v", v)
			}
		})
	}
}
