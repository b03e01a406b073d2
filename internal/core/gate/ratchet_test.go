package gate_test

import (
	"testing"

	"github.com/pawl-dev/pawl/internal/core/gate"
)

// The ratchet: tests that passed at the start must exist and pass. A missing test counts as broken.
// If test files changed, the original tests decide, and work that fails them has no evidence until
// it is approved.
func TestPassingTestsMustExistAndPass(t *testing.T) {
	t.Parallel()
	const none = gate.EvidenceUnknown
	checkVerdicts(t, []verdictCase{
		{
			name: "a test is gone and no test file changed", before: "pass A+ B+", now: "pass A+",
			want: expectedVerdict{status: gate.Fail, evidence: none, names: []string{"B"}, reason: "was not run now: B"},
		},
		{
			name: "it went with its file, and the originals pass", before: "pass A+ B+", now: "pass A+", old: "b_test",
			answers: map[gate.Probe]string{gate.Originals: "pass A+ B+"},
			want:    expectedVerdict{status: gate.Pass, evidence: gate.Unproven, reason: "no test failed before", probes: "originals", green: true},
		},
		{
			name: "it went with its file, and the originals fail", before: "pass A+ B+", now: "pass A+", old: "b_test",
			answers: map[gate.Probe]string{gate.Originals: "fail A+ B-", gate.OriginalsControl: "pass A+"},
			want:    expectedVerdict{status: gate.Pass, evidence: none, reason: "only with the changed tests", probes: "originals originals-control", changed: true, green: true},
		},
		{
			name: "it is gone from the originals' run too", before: "pass A+ B+", now: "pass A+", old: "a_test",
			answers: map[gate.Probe]string{gate.Originals: "pass A+", gate.OriginalsControl: "pass A+"},
			want:    expectedVerdict{status: gate.Pass, evidence: none, reason: "only with the changed tests", probes: "originals originals-control", changed: true, green: true},
		},
		{
			name: "approved", before: "pass A+ B+", now: "pass A+", old: "b_test", allow: true,
			answers: map[gate.Probe]string{gate.Originals: "fail A+ B-", gate.OriginalsControl: "pass A+"},
			want:    expectedVerdict{status: gate.Pass, evidence: gate.Unproven, reason: "no test failed before", probes: "originals originals-control", green: true},
		},
		{
			name: "no test is left", before: "pass A+ B+", now: "pass",
			want: expectedVerdict{status: gate.Fail, evidence: none, names: []string{"A", "B"}, reason: "now it reports none"},
		},
		{
			name: "no test is left, though tests may change", before: "pass A+ B+", now: "pass", old: "a_test b_test", allow: true,
			want: expectedVerdict{status: gate.Fail, evidence: none, names: []string{"A", "B"}, reason: "now it reports none"},
		},
		{
			name: "there was none before", before: "pass", now: "pass",
			want: expectedVerdict{status: gate.Pass, evidence: gate.Unproven, reason: "no test failed before", green: true},
		},
	})
}

func TestWithoutRatchetTestsMayDisappear(t *testing.T) {
	t.Parallel()
	o := gate.Observation{Baseline: parseResults("pass A+ B+"), Now: parseResults("pass A+"), Changed: true, NoRatchet: true}
	if v := gate.Decide(o); v.Status != gate.Pass {
		t.Errorf("%+v", v)
	}
	o.Now = parseResults("fail A-")
	if v := gate.Decide(o); v.Status != gate.Fail {
		t.Errorf("one that fails: %+v", v)
	}
}
