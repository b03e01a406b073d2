//go:build unix

package verify_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/verify"
)

// Work is not done while a source file that the task names does not exist.
func TestMissingSourceFileNamedByTaskKeepsItOpen(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, asked string
		work        files
		missing     bool
	}{
		{"not made", "Add shout(s) in src/shout.py and show it in src/page.py", nil, true},
		{"in a sentence", "Move the page to lib/page.py. It uses shout from `src/shout.py`.", files{"lib/page.py": "x = 1\n"}, true},
		{"made", "Add shout(s) in src/shout.py", files{"src/shout.py": "def shout(s):\n    return s.upper()\n"}, false},
		{"made in a folder", "Add shout(s) in src/shout.py", files{"web/src/shout.py": "def shout(s):\n    return s.upper()\n"}, false},
		{"was there", "Move src/old.py to src/page.py", files{"src/old.py": ""}, false},
		{"an example of another folder", "Modules are found as in examples/shout.py", nil, false},
		{"an address", "See https://example.com/src/shout.py", nil, false},
		{"a test", "Tests move as src/test_shout.py does", nil, false},
		{"no source", "Write the result to src/out.log", nil, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, files{"src/old.py": "x = 1\n", "web/src/x.py": "x = 1\n", "test_old.py": "x = 1\n"}, nil)
			work := files{"src/page.py": "def page(s):\n    return s + '!'\n", "test_page.py": "import sys\nsys.path.insert(0, 'src')\nimport page\nassert page.page('a') == 'a!'\n"}
			maps.Copy(work, c.work)
			v := b.claim(gates("for t in test_*.py; do python3 $t || exit 1; done"), work, func(r *verify.Request) { r.Asked = c.asked }).Verdict
			if missing := strings.Contains(v.Reason, "there is no src/shout.py, which the task names"); missing != c.missing || missing && v.Evidence != gate.Unproven {
				t.Errorf("%+v", v)
			}
		})
	}
}
