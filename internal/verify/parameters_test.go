//go:build unix

package verify_test

import (
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/verify"
)

// What the task names and the work takes is to make a difference to a test.
func TestNamedParametersMustMakeADifference(t *testing.T) {
	t.Parallel()
	const old = "def add(a, b):\n    return a + b\n"
	const stored = "\ndef cache(ttl, size=9):\n    kept = {'ttl': ttl, 'size': size}\n    return lambda key: kept and key\n"
	const used = "\ndef cache(ttl, size=9):\n    return lambda key: key if ttl > 5 else None\n"
	const test = "import app\nassert app.cache(10)('a') == 'a'\n"
	for _, c := range []struct{ name, work, test, reason string }{
		{"stored and never used", stored, test, "the task names parameters that no test checks: ttl (app.py:4 in cache); "},
		{"used, and tested", used, test, ""},
		{"used, and tested with its zero value alone", "\ndef cache(ttl, size=9):\n    return lambda key: key if ttl < 5 else None\n", "import app\nassert app.cache(0)('a') == 'a'\n", "the task names parameters that no test checks: ttl"},
		{"its zero value hangs", "\ndef cache(ttl, size=9):\n    while ttl <= 0:\n        pass\n    return lambda key: key\n", test, ""},
		{"its zero value refused, and nothing else", "\ndef cache(ttl, size=9):\n    if ttl < 1:\n        raise ValueError(ttl)\n    kept = [ttl]\n    return lambda key: kept and key\n", test + "try:\n    app.cache(0)\n    raise SystemExit(1)\nexcept ValueError:\n    pass\n", "the task names parameters that no test checks: ttl"},
		{"its zero value refused, and others used", "\ndef cache(ttl, size=9):\n    if ttl < 1:\n        raise ValueError(ttl)\n    return lambda key: key if ttl < 50 else None\n", test + "try:\n    app.cache(0)\n    raise SystemExit(1)\nexcept ValueError:\n    pass\n", ""},
		{"none that the task names", strings.ReplaceAll(stored, "ttl", "lifetime"), test, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, files{"app.py": old, "test_old.py": "import app\nassert app.add(1, 2) == 3\n"}, nil)
			f := b.claim(gates("for t in test_*.py; do python3 $t || exit 1; done"), files{"app.py": old + c.work, "test_new.py": c.test}, func(r *verify.Request) { r.Asked = "Add cache(ttl): entries are gone after ttl seconds" })
			switch v := f.Verdict; {
			case c.reason == "" && v.Evidence != gate.Proven, c.reason != "" && (v.Evidence != gate.Unproven || !strings.HasPrefix(v.Reason, c.reason) || v.Remedy == ""):
				t.Errorf("%+v", v)
			}
		})
	}
}
