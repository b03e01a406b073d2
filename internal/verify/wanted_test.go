//go:build unix

package verify_test

import (
	"testing"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/verify"
)

// Where unproven is enough a claim costs what its gate costs: one run, and one with the
// original copies where a gate input was changed, which then decides as ever.
func TestUnprovenClaimRunsItsGateOnce(t *testing.T) {
	t.Parallel()
	start := files{"stock": "apples\n", "tests/t_apples.sh": "grep -q apples stock\n", "run.sh": "for t in tests/*.sh; do sh $t || exit 1; done\n"}
	unproven := func(r *verify.Request) { r.WantedEvidence = gate.Unproven }
	runs := 0
	b := newBench(t, start, func(o *verify.Options) {
		o.Watch = func(p verify.Progress) {
			if p.Result != nil && !p.Result.Cached {
				runs++
			}
		}
	})
	g := []gate.Gate{{Name: "test", Command: "sh run.sh"}}
	claim := func(work files) verify.Finding {
		before := runs
		f := b.claim(g, work, func(r *verify.Request) { unproven(r); before = runs })
		runs -= before
		return f
	}
	f := claim(files{"stock": "apples\npears\n", "tests/t_pears.sh": "grep -q pears stock\n"})
	if f.Verdict.Status != gate.Pass || f.Verdict.Evidence != gate.Unproven || runs != 1 {
		t.Errorf("%d runs: %+v", runs, f.Verdict)
	}
	f = claim(files{"stock": "pears\n", "tests/t_apples.sh": "true\n"})
	if f.Verdict.Evidence != gate.EvidenceUnknown || !f.Verdict.NeedsChangedInputs || runs < 2 {
		t.Errorf("%d runs: %+v", runs, f.Verdict)
	}
}
