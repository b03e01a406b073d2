//go:build unix

package verify_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/verify"
)

// A claim costs at most three runs of the whole gate beside those of the tree of before:
// here, in a clean checkout, and, where old tests turned green too, of new tests laid over
// the tree of before. The others are of the tests that the work is believed for.
func TestClaimTakesThreeWholeGateRuns(t *testing.T) {
	t.Parallel()
	adds := files{"calc_test.go": testFile("TestOne", "if Add(1, 1) != 2 {\n\t\tt.Error(\"1+1\")\n\t}")}
	broken := func() files {
		start := calc()
		start["calc.go"] = "package calc\n\nfunc Add(a, b int) int { return a * b }\n"
		maps.Copy(start, adds)
		return start
	}
	sub := files{"sub_test.go": testFile("TestSub", "if Sub(3, 1) != 2 {\n\t\tt.Error(\"3-1\")\n\t}")}
	with := func(more ...files) files {
		work := files{"calc.go": "package calc\n\nfunc Add(a, b int) int { return a + b }\n\nfunc Sub(a, b int) int { return a - b }\n"}
		for _, f := range more {
			maps.Copy(work, f)
		}
		return work
	}
	for name, c := range map[string]struct {
		start, work files
		whole       int
		few         []gate.Probe
	}{
		"a test turns green":                     {broken(), with(), 2, []gate.Probe{gate.Mutants, gate.Canary}},
		"a new test":                             {calc(), with(sub), 2, []gate.Probe{gate.MutantsForNewTests, gate.Canary}},
		"a test turns green, and there is a new": {broken(), with(sub), 3, []gate.Probe{gate.Originals, gate.Mutants, gate.Canary}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			gs := gates("go test ./...")
			whole := 0
			few := map[gate.Probe]bool{}
			b := newBench(t, c.start, func(o *verify.Options) {
				o.Watch = func(p verify.Progress) {
					switch {
					case p.Result == nil || p.Result.Cached:
					case strings.Contains(p.Result.Command, " -run="):
						few[p.Probe] = true
					case p.Probe != gate.Control:
						whole++
					}
				}
			})
			base := b.tree()
			if _, err := b.Baseline(t.Context(), base, gs, ""); err != nil {
				t.Fatal(err)
			}
			whole = 0
			b.write(c.work)
			f, err := b.Claim(t.Context(), verify.Request{Gates: gs, Base: base, Tree: b.tree()})
			if err != nil {
				t.Fatal(err)
			}
			if f.Verdict.Evidence != gate.Proven || whole > c.whole {
				t.Errorf("%s after %d runs of the whole gate, at most %d expected: %s", f.Verdict.Evidence, whole, c.whole, f.Verdict.Reason)
			}
			for _, p := range c.few {
				if !few[p] {
					t.Errorf("%s did not run few tests", p)
				}
			}
			// The next task begins from this tree: the clean checkout has shown it.
			next := b.tree()
			whole = 0
			if _, err := b.RunInCheckout(t.Context(), next, gs, ""); err != nil || whole != 0 {
				t.Errorf("the baseline of the next task: %d runs, %v", whole, err)
			}
		})
	}
}
