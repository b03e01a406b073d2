package gate_test

import (
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/core/gate"
)

// If new tests prove a claim, all tests run in a clean checkout. If they fail there, files that git
// ignores make them pass in the work tree.
func TestWorkFailingInCleanCheckoutIsNotProven(t *testing.T) {
	t.Parallel()
	const (
		clean  = "repeat-clean control overlay"
		unseen = "passes in the work tree and fails in a clean checkout"
	)
	answers := func(clean, after string) map[gate.Probe]string {
		return map[gate.Probe]string{gate.Control: "pass A+", gate.Overlay: "fail A+ N-", gate.RepeatClean: clean, gate.RepeatAfter: after}
	}
	proven := expectedVerdict{status: gate.Pass, evidence: gate.Proven, names: []string{"N"}, reason: "passes with it: N", probes: clean, green: true}
	checkVerdicts(t, []verdictCase{
		{name: "it passes there", before: "pass A+", now: "pass A+ N+", new: "n_test.go", answers: answers("pass A+ N+", ""), want: proven},
		{
			name: "the new test fails there", before: "pass A+", now: "pass A+ N+", new: "n_test.go", answers: answers("fail A+ N-", "pass A+ N+"),
			want: expectedVerdict{status: gate.Pass, evidence: gate.EvidenceUnknown, reason: unseen + ": N", probes: clean + " repeat-after", green: true},
		},
		{
			name: "an old test fails there", before: "pass A+", now: "pass A+ N+", new: "n_test.go", answers: answers("fail A- N+", "pass A+ N+"),
			want: expectedVerdict{status: gate.Pass, evidence: gate.EvidenceUnknown, reason: unseen + ": A", probes: clean + " repeat-after", green: true},
		},
		{
			name: "a gate without ids", before: "pass", now: "pass", new: "n_test.go",
			answers: map[gate.Probe]string{gate.Control: "pass", gate.Overlay: "fail", gate.RepeatClean: "fail", gate.RepeatAfter: "pass"},
			want:    expectedVerdict{status: gate.Pass, evidence: gate.EvidenceUnknown, reason: unseen + ": test", probes: clean + " repeat-after", green: true},
		},
		{
			name: "it fails here too, now and then", before: "pass A+", now: "pass A+ N+", new: "n_test.go", answers: answers("fail A- N+", "fail A- N+"),
			want: expectedVerdict{status: gate.Pass, evidence: gate.Proven, names: []string{"N"}, reason: "N", probes: clean + " repeat-after", green: true},
		},
		{name: "it cannot run there", before: "pass A+", now: "pass A+ N+", new: "n_test.go", answers: answers("unknown", ""), want: proven},
		{
			name: "it could run there when the loop started", before: "pass A+", now: "pass A+ N+", new: "n_test.go", shown: true, answers: answers("unknown", ""),
			want: expectedVerdict{status: gate.Pass, evidence: gate.EvidenceUnknown, reason: "is unknown", probes: clean, green: true},
		},
		{
			name: "the place is gone that was there when the loop started", before: "fail A-", now: "pass A+", shown: true,
			answers: map[gate.Probe]string{gate.RepeatBefore: "fail A-", gate.RepeatAfter: "pass A+"},
			want:    expectedVerdict{status: gate.Pass, evidence: gate.EvidenceUnknown, reason: "is unknown", probes: "repeat-before repeat-clean repeat-after", green: true},
		},
		{name: "there is no such place", before: "pass A+", now: "pass A+ N+", new: "n_test.go", answers: answers("", ""), want: proven},
	})
}

// Runs on mutants, with a canary or without a sign run the proving tests. Runs of the original
// tests run all tests if old ones were changed.
func TestProbesRunOnlyProvingTests(t *testing.T) {
	t.Parallel()
	o := gate.Observation{
		Baseline: parseResults("fail A- B+"), Now: parseResults("pass A+ B+"), Changed: true,
		Runs: map[gate.Probe]gate.Run{gate.RepeatBefore: {Results: parseResults("fail A- B+")}, gate.RepeatClean: {Results: parseResults("pass A+ B+")}},
	}
	changed := o
	changed.Inputs.Changed = []string{"a_test.go"}
	for name, c := range map[string]struct {
		o    gate.Observation
		p    gate.Probe
		want string
	}{
		"broken":                  {o, gate.Mutants, "A"},
		"canary":                  {o, gate.Canary, "A"},
		"neutral":                 {o, gate.SignsNeutralized, "A"},
		"neutral once more":       {o, gate.SignsOneByOne, "A"},
		"what needs new tests":    {o, gate.Originals, "A"},
		"here once more":          {o, gate.RepeatAfter, "A"},
		"old tests were changed":  {changed, gate.Originals, ""},
		"the tree of before":      {o, gate.Control, ""},
		"the decision":            {o, gate.RepeatClean, ""},
		"nothing is proven as is": {gate.Observation{Baseline: parseResults("pass A+"), Now: parseResults("pass A+"), Changed: true, Tests: gate.TestChanges{InlineChanged: true}}, gate.Mutants, ""},
	} {
		if got := strings.Join(c.o.ProbeTests(c.p), " "); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
