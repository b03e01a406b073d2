//go:build unix

package verify_test

import (
	"fmt"
	"testing"

	"github.com/pawl-dev/pawl/internal/agent/agenttest"
	"github.com/pawl-dev/pawl/internal/core/gate"
)

// A helper of asserts that comes with the work, where there is no test framework, is not
// broken with it: the tests would check nothing by themselves. One that the program calls
// too is the program's.
func TestAssertHelpersAreNotMutated(t *testing.T) {
	t.Parallel()
	agenttest.Needs(t, "python3")
	const (
		helper = "def equal(want, got):\n    if want != got:\n        raise AssertionError(f'want {want}, got {got}')\n"
		old    = "from calc import add\n\n\ndef main():\n    assert add(1, 2) == 3\n\n\nmain()\n"
		tests  = "import check\nfrom calc import add, sub\n\n\ndef main():\n    assert add(1, 2) == 3\n    check.equal(%s)\n\n\nmain()\n"
		work   = "def add(a, b):\n    return a + b\n\n\ndef sub(a, b):\n    return a - b\n"
	)
	for name, c := range map[string]struct {
		helper, work, compares string
		want                   gate.Evidence
	}{
		"tests that compare":        {helper, work, "1, sub(3, 2)", gate.Proven},
		"hollow tests":              {helper, work, "True, sub(3, 2) is None or True", gate.Unproven},
		"a helper that works, too":  {helper + "\n\ndef more():\n    return 1\n", work, "1, sub(3, 2)", gate.Unproven},
		"a helper of the program's": {helper, work + "\n\nimport check\n", "1, sub(3, 2)", gate.Unproven},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, files{"calc.py": "def add(a, b):\n    return a + b\n", "test_calc.py": old}, nil)
			v := b.claim(gates("python3 -B test_calc.py"), files{"calc.py": c.work, "check.py": c.helper, "test_calc.py": fmt.Sprintf(tests, c.compares)}, nil).Verdict
			if v.Status != gate.Pass || v.Evidence != c.want {
				t.Errorf("%s %s: %s", v.Status, v.Evidence, v.Reason)
			}
		})
	}
}
