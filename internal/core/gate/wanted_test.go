package gate_test

import (
	"testing"

	"github.com/pawl-dev/pawl/internal/core/gate"
)

// If unproven suffices, only the run with the original gate inputs is requested, which decides as
// at any other level.
func TestUnprovenSufficesWithoutProbes(t *testing.T) {
	t.Parallel()
	red, green := parseResult("fail A- B+"), parseResult("pass A+ B+")
	for name, c := range map[string]struct {
		o    gate.Observation
		asks gate.Probe
		want gate.Evidence
	}{
		"a test turned green": {gate.Observation{Baseline: []gate.Result{red}, Now: []gate.Result{green}}, "", gate.Unproven},
		"new tests":           {gate.Observation{Baseline: []gate.Result{green}, Now: []gate.Result{parseResult("pass A+ B+ C+")}, Tests: gate.TestChanges{New: []string{"c"}}}, "", gate.Unproven},
		"new functions":       {gate.Observation{Baseline: []gate.Result{green}, Now: []gate.Result{green}, Mutation: gate.MutationFacts{Possible: true}}, "", gate.Unproven},
		"a changed test":      {gate.Observation{Baseline: []gate.Result{green}, Now: []gate.Result{green}, Inputs: gate.InputChanges{Changed: []string{"a"}}, Tests: gate.TestChanges{New: []string{"a"}}}, gate.Originals, gate.EvidenceUnknown},
		"a changed test that is needed": {gate.Observation{
			Baseline: []gate.Result{green}, Now: []gate.Result{green}, Inputs: gate.InputChanges{Changed: []string{"a"}}, Tests: gate.TestChanges{New: []string{"a"}},
			Runs: map[gate.Probe]gate.Run{gate.Originals: {Results: []gate.Result{red}}},
		}, gate.OriginalsControl, gate.EvidenceUnknown},
		"a changed test that is not": {gate.Observation{
			Baseline: []gate.Result{green}, Now: []gate.Result{green}, Inputs: gate.InputChanges{Changed: []string{"a"}}, Tests: gate.TestChanges{New: []string{"a"}},
			Runs: map[gate.Probe]gate.Run{gate.Originals: {Results: []gate.Result{green}}},
		}, "", gate.Unproven},
	} {
		c.o.Changed, c.o.WantedEvidence = true, gate.Unproven
		if p, _ := gate.NextProbe(c.o); p != c.asks {
			t.Errorf("%s: asks for %q, want %q", name, p, c.asks)
		}
		if v := gate.Decide(c.o); v.Status != gate.Pass || v.Evidence != c.want {
			t.Errorf("%s: %+v", name, v)
		}
	}
}

// Nobody has to ask whether tests check a document.
func TestUnprovenDocumentsNeedNoTests(t *testing.T) {
	t.Parallel()
	green := []gate.Result{parseResult("pass A+")}
	v := gate.Decide(gate.Observation{Baseline: green, Now: green, Changed: true, WantedEvidence: gate.Unproven, Work: gate.WorkFacts{OnlyText: true}})
	if want := "only documents and comments changed: no test can check that"; v.Reason != want {
		t.Errorf("reason %q, want %q", v.Reason, want)
	}
}
