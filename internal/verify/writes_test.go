//go:build unix

package verify_test

import (
	"testing"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/verify"
)

// A new file that a gate writes, a cover profile, does not keep its red from being
// repeated; one that it writes over does.
func TestFailingGateThatWritesIsRepeated(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		writes string
		want   gate.Evidence
	}{
		"a new file":     {"cover.out", gate.Proven},
		"a tracked file": {"golden", gate.EvidenceUnknown},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, files{"calc.sh": "exit 1\n", "golden": "0\n"}, nil)
			check := []gate.Gate{{Name: "check", Command: "date +%s%N > " + c.writes + "; sh ./calc.sh"}}
			for _, work := range []string{"exit 0\n", "exit 1\n", "exit 0 # again\n"} { // a later task finds the file there
				f := b.claim(check, files{"calc.sh": work}, isWork("calc.sh"))
				if work != "exit 1\n" && (f.Verdict.Status != gate.Pass || f.Verdict.Evidence != c.want) {
					t.Errorf("verdict %+v", f.Verdict)
				}
			}
		})
	}
}

// isWork has a claim made in which these files are work, whatever their names say.
func isWork(globs ...string) func(*verify.Request) {
	return func(r *verify.Request) { r.Work = globs }
}
