package gate_test

import (
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/core/gate"
)

// Where the code comes from elsewhere, that new tests pass on the tree of before says
// nothing of the work.
func TestNewTestsThatRunCodeFromElsewhere(t *testing.T) {
	t.Parallel()
	ids := func(status gate.Status, tests map[string]gate.Status) []gate.Result {
		return []gate.Result{{Gate: "test", Status: status, Tests: tests}}
	}
	old := map[string]gate.Status{"A": gate.Pass}
	both := map[string]gate.Status{"A": gate.Pass, "N": gate.Pass}
	for name, c := range map[string]struct {
		without []gate.Result
		want    gate.Evidence
		reason  string
	}{
		"it passes without the sources": {ids(gate.Pass, both), gate.NoEvidence, "an editable install"},
		"it misses them":                {ids(gate.Fail, nil), gate.Unproven, "pass without this work too"},
		"it runs fewer tests":           {ids(gate.Pass, old), gate.Unproven, "pass without this work too"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := gate.Observation{
				Baseline: ids(gate.Pass, old), Now: ids(gate.Pass, both), Changed: true, NewTests: []string{"test_n.py"}, Linked: true,
				Answers: map[gate.Probe]gate.Run{gate.RepeatClean: {Results: ids(gate.Pass, both)}, gate.Control: {Results: ids(gate.Pass, old)}, gate.Overlay: {Results: ids(gate.Pass, both)}},
			}
			if p, _ := gate.Next(o); p != gate.WithoutSources {
				t.Fatalf("asks for %q", p)
			}
			o.Answers[gate.WithoutSources] = gate.Run{Results: c.without}
			if p, _ := gate.Next(o); p != "" {
				t.Fatalf("asks for %q", p)
			}
			if v := gate.Judge(o); v.Evidence != c.want || !strings.Contains(v.Reason, c.reason) {
				t.Errorf("%s: %s", v.Evidence, v.Reason)
			}
		})
	}
}
