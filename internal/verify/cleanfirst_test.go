//go:build unix

package verify_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/core/gate"
)

// A claim with new tests runs its gates in the clean checkout first. The work tree runs them only where
// that leaves something open.
func TestNewTestsRunInTheCleanCheckoutFirst(t *testing.T) {
	t.Parallel()
	const wantsTwo = "test_two() { [ $(two) = 2 ]; }\n"
	for name, c := range map[string]struct {
		start   files
		work    files
		want    gate.Status
		proven  bool
		runs    []string // of the whole gate, for the tree of now
		because string
	}{
		"all passes there": {sums(adds, wantsSum), files{"lib": adds + "two() { echo 2; }\n", "two_test.sh": wantsTwo}, gate.Pass, true, []string{"a"}, ""},
		"a test fails": {
			sums(adds, wantsSum),
			files{"lib": adds + "two() { echo 3; }\n", "two_test.sh": wantsTwo},
			gate.Fail, false,
			[]string{"a", "a"},
			"fails",
		},
		"it passes in the work tree alone": {
			sums(adds, wantsSum),
			files{"lib": adds + "two() { cat built 2>/dev/null; }\n", "two_test.sh": wantsTwo, ".gitignore": "built\n", "built": "2\n"},
			gate.Pass, false,
			[]string{"a", "a", "kept a repeat-clean", "a repeat-clean"},
			"passes in the work tree and fails in a clean checkout",
		},
		"it failed before": {
			sums(subtracts, wantsSum),
			files{"lib": adds + "two() { echo 2; }\n", "two_test.sh": wantsTwo},
			gate.Pass, true,
			[]string{"a", "a repeat-clean"},
			"",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, c.start, shellTests)
			if _, err := b.CheckIsolation(t.Context(), b.tree(), sumsGate(), ""); err != nil {
				t.Fatal(err)
			}
			got := b.claim(sumsGate(), c.work, nil).Verdict
			if got.Status != c.want || (got.Evidence == gate.Proven) != c.proven || !strings.Contains(got.Reason, c.because) {
				t.Errorf("%+v", got)
			}
			runs := slices.DeleteFunc(slices.Clone(b.ran), func(ran string) bool { return ran != "a" && !strings.HasSuffix(ran, " "+string(gate.RepeatClean)) })
			if !slices.Equal(runs, c.runs) {
				t.Errorf("runs %q, want %q: %q", runs, c.runs, b.ran)
			}
		})
	}
}
