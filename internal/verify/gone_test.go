//go:build unix

package verify_test

import (
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/core/gate"
)

// A deleted test waits for approval even if the gates pass when Pawl puts it back: what it tests is put back
// with it, or is still there.
func TestDeletedTestNeedsApproval(t *testing.T) {
	t.Parallel()
	start := files{
		"t/t1.sh": "[ \"$(cat out/1.txt)\" = 1 ]\n", "out/1.txt": "1\n",
		"test_a.py": "from a import one, two\n\n\ndef test_one():\n    assert one() == 1\n\n\ndef test_two():\n    assert two() == 2\n\n\ntest_one(); test_two()\n", "a.py": "def one():\n    return 1\n\n\ndef two():\n    return 2\n",
	}
	for name, work := range map[string]files{
		"with what it tests": {"t/t1.sh": "", "out/1.txt": "", "t/t2.sh": "[ \"$(cat out/2.txt)\" = 2 ]\n", "out/2.txt": "2\n"},
		"one of a file":      {"test_a.py": strings.NewReplacer("def test_two():\n    assert two() == 2\n\n\n", "", "; test_two()", "").Replace(start["test_a.py"]), "t/t2.sh": "[ \"$(cat out/2.txt)\" = 2 ]\n", "out/2.txt": "2\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, start, nil)
			f := b.claim(gates("for t in t/*.sh; do sh $t || exit 1; done; python3 test_a.py"), work, nil)
			if !f.Verdict.NeedsChangedInputs || f.Verdict.Evidence == gate.Proven || !strings.Contains(f.Verdict.Reason, "old tests are gone: t") {
				t.Errorf("%+v", f.Verdict)
			}
		})
	}
}
