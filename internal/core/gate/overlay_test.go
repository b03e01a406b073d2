package gate_test

import (
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/core/gate"
)

func TestOriginalTestsDecideOverChangedTests(t *testing.T) {
	t.Parallel()
	checkVerdicts(t, []verdictCase{
		{
			name: "both pass", before: "pass A+", now: "pass A+", old: "a_test.go", new: "a_test.go",
			answers: map[gate.Probe]string{gate.Originals: "pass A+", gate.Control: "pass A+", gate.Overlay: "pass A+"},
			want:    expectedVerdict{status: gate.Pass, evidence: gate.Unproven, reason: "pass without this work too", probes: "originals repeat-clean control overlay", green: true},
		},
		{
			name: "both pass, and the changed test fails without the work", before: "pass A+", now: "pass A+", old: "a_test.go", new: "a_test.go",
			answers: map[gate.Probe]string{gate.Originals: "pass A+", gate.Control: "pass A+", gate.Overlay: "fail A-"},
			want:    expectedVerdict{status: gate.Pass, evidence: gate.Proven, names: []string{"A"}, reason: "A", probes: "originals repeat-clean control overlay", green: true},
		},
		{
			name: "only the agent's pass", before: "pass A+", now: "pass A+", old: "a_test.go", new: "a_test.go",
			answers: map[gate.Probe]string{gate.Originals: "fail A-", gate.OriginalsControl: "pass A+"},
			want: expectedVerdict{
				status: gate.Pass, evidence: gate.EvidenceUnknown, reason: "only with the changed tests",
				probes: "originals originals-control", changed: true, green: true,
			},
		},
		{
			name: "a deleted test that the originals show broken", before: "pass A+ B+", now: "pass A+", old: "b_test.go",
			answers: map[gate.Probe]string{gate.Originals: "fail A+ B-", gate.OriginalsControl: "pass A+"},
			want: expectedVerdict{
				status: gate.Pass, evidence: gate.EvidenceUnknown, reason: "only with the changed tests",
				probes: "originals originals-control", changed: true, green: true,
			},
		},
		{
			name: "a deleted test that still passes", before: "pass A+ B+", now: "pass A+", old: "b_test.go",
			answers: map[gate.Probe]string{gate.Originals: "pass A+ B+"},
			want:    expectedVerdict{status: gate.Pass, evidence: gate.Unproven, reason: "everything passes", probes: "originals", green: true},
		},
		{
			name: "a red test was edited to be green", before: "fail A-", now: "pass A+", old: "a_test.go",
			answers: map[gate.Probe]string{gate.Originals: "fail A-", gate.OriginalsControl: "pass A+"},
			want: expectedVerdict{
				status: gate.Pass, evidence: gate.EvidenceUnknown, reason: "only with the changed tests",
				probes: "originals originals-control", changed: true, green: true,
			},
		},
		{
			name: "one of two red tests was edited", before: "fail A- B-", now: "fail A+ B-", old: "a_test.go",
			answers: map[gate.Probe]string{gate.Originals: "fail A- B-", gate.OriginalsControl: "fail A+ B-"},
			want: expectedVerdict{
				status: gate.Pass, evidence: gate.EvidenceUnknown, reason: "only with the changed tests",
				probes: "originals originals-control", changed: true,
			},
		},
		{
			name: "red before, green with the originals too", before: "fail A-", now: "pass A+", old: "a_test.go",
			answers: map[gate.Probe]string{gate.Originals: "pass A+", gate.RepeatBefore: "fail A-", gate.RepeatOriginals: "pass A+"},
			want: expectedVerdict{
				status: gate.Pass, evidence: gate.Proven, names: []string{"A"}, reason: "A",
				probes: "originals repeat-before repeat-originals", green: true,
			},
		},
		{
			name: "only the agent's pass, as the task may", before: "pass A+", now: "pass A+", old: "a_test.go", new: "a_test.go", allow: true,
			answers: map[gate.Probe]string{gate.Originals: "fail A-", gate.OriginalsControl: "pass A+", gate.Control: "pass A+", gate.Overlay: "fail A-"},
			want: expectedVerdict{
				status: gate.Pass, evidence: gate.Proven, names: []string{"A"}, reason: "A",
				probes: "originals originals-control repeat-clean control overlay", green: true,
			},
		},
		{
			name: "dependencies are missing there", before: "pass A+", now: "pass A+", old: "a_test.go",
			answers: map[gate.Probe]string{gate.Originals: "fail", gate.OriginalsControl: "fail"},
			want:    expectedVerdict{status: gate.Pass, evidence: gate.EvidenceUnknown, reason: "could not run with the originals", probes: "originals originals-control", green: true},
		},
		{
			name: "no room for a worktree", before: "pass A+", now: "pass A+", old: "a_test.go",
			want: expectedVerdict{status: gate.Pass, evidence: gate.EvidenceUnknown, reason: "no space left", probes: "originals", green: true},
		},
		{
			name: "killed there", before: "pass A+", now: "pass A+", old: "a_test.go",
			answers: map[gate.Probe]string{gate.Originals: "unknown"},
			want:    expectedVerdict{status: gate.Pass, evidence: gate.EvidenceUnknown, reason: "test: killed", probes: "originals", green: true},
		},
	})
}

// Tests whose deletion is approved are gone for good: what turns green counts with them
// gone, unless that alone turns it green.
func TestApprovedTestDeletion(t *testing.T) {
	t.Parallel()
	const probes = "originals originals-control repeat-before repeat-clean control overlay"
	answers := func(overlay string) map[gate.Probe]string {
		return map[gate.Probe]string{
			gate.Originals: "fail", gate.OriginalsControl: "pass", gate.RepeatBefore: "fail", gate.RepeatClean: "pass", gate.Control: "fail", gate.Overlay: overlay,
		}
	}
	checkVerdicts(t, []verdictCase{
		{
			name: "dead code goes with its test", before: "fail", now: "pass", old: "old_test.go", allow: true, answers: answers("fail"),
			want: expectedVerdict{status: gate.Pass, evidence: gate.Proven, names: []string{"test"}, reason: "passes now: test", probes: probes, green: true},
		},
		{
			name: "the red test goes, and no more", before: "fail", now: "pass", old: "old_test.go", allow: true, answers: answers("pass"),
			want: expectedVerdict{status: gate.Pass, evidence: gate.Unproven, reason: "not because of the work: test (old_test.go)", probes: probes, green: true},
		},
		{
			name: "nobody can tell which", before: "fail", now: "pass", old: "old_test.go", allow: true, answers: answers(""),
			want: expectedVerdict{status: gate.Pass, evidence: gate.Unproven, reason: "not because of the work", probes: probes, green: true},
		},
		{
			name: "nobody approved it", before: "fail", now: "pass", old: "old_test.go", answers: answers("fail"),
			want: expectedVerdict{status: gate.Pass, evidence: gate.EvidenceUnknown, reason: "not with the originals", probes: "originals originals-control", changed: true, green: true},
		},
	})
}

func TestNewTestsMustFailOnBaseline(t *testing.T) {
	t.Parallel()
	const asked = "repeat-clean control overlay"
	over := func(control, overlay string) map[gate.Probe]string {
		return map[gate.Probe]string{gate.Control: control, gate.Overlay: overlay}
	}
	checkVerdicts(t, []verdictCase{
		{
			name: "the new test fails without the work", before: "pass A+", now: "pass A+ N+", new: "n_test.go", answers: over("pass A+", "fail A+ N-"),
			want: expectedVerdict{status: gate.Pass, evidence: gate.Proven, names: []string{"N"}, reason: "passes with it: N", probes: asked, green: true},
		},
		{
			name: "the new test cannot fail", before: "pass A+", now: "pass A+ N+", new: "n_test.go", answers: over("pass A+", "pass A+ N+"),
			want: expectedVerdict{status: gate.Pass, evidence: gate.Unproven, reason: "pass without this work too: n_test.go", probes: asked, green: true},
		},
		{
			name: "it does not build without the work", before: "pass p.A+", now: "pass p.A+ p.N+", new: "n_test.go", answers: over("pass p.A+", "fail !p build"),
			want: expectedVerdict{status: gate.Pass, evidence: gate.Proven, names: []string{"p.N"}, reason: "p.N", probes: asked, green: true},
		},
		{
			name: "an old test fails there by chance", before: "pass A+", now: "pass A+ N+", new: "n_test.go", answers: over("pass A+", "fail A- N+"),
			want: expectedVerdict{status: gate.Pass, evidence: gate.EvidenceUnknown, reason: "is unknown", probes: asked, green: true},
		},
		{
			name: "an old test fails there by a new case", before: "pass A+", now: "pass A+", new: "testdata/n.txt", cases: true,
			answers: map[gate.Probe]string{gate.Control: "pass A+", gate.Overlay: "fail A-", gate.RepeatOverlay: "fail A-"},
			want:    expectedVerdict{status: gate.Pass, evidence: gate.Proven, names: []string{"A"}, reason: "passes with it: A", probes: asked + " repeat-overlay", green: true},
		},
		{
			name: "or by chance", before: "pass A+", now: "pass A+", new: "testdata/n.txt", cases: true,
			answers: map[gate.Probe]string{gate.Control: "pass A+", gate.Overlay: "fail A-", gate.RepeatOverlay: "pass A+"},
			want:    expectedVerdict{status: gate.Pass, evidence: gate.EvidenceUnknown, reason: "is unknown", probes: asked + " repeat-overlay", green: true},
		},
		{
			name: "without ids", before: "pass", now: "pass", new: "n_test.go", answers: over("pass", "fail"),
			want: expectedVerdict{status: gate.Pass, evidence: gate.Proven, names: []string{"test"}, reason: "passes with it: test", probes: asked, green: true},
		},
		{
			name: "dependencies are missing there", before: "pass A+", now: "pass A+ N+", new: "n_test.go", answers: over("fail", ""),
			want: expectedVerdict{status: gate.Pass, evidence: gate.EvidenceUnknown, reason: "[worktree] setup", probes: "repeat-clean control", green: true},
		},
		{
			name: "the place shows another test red", before: "pass A+ B+", now: "pass A+ B+ N+", new: "n_test.go",
			answers: map[gate.Probe]string{gate.RepeatClean: "pass A+ B+ N+", gate.Control: "fail A+ B-"},
			want:    expectedVerdict{status: gate.Pass, evidence: gate.EvidenceUnknown, reason: "give other results in a clean checkout than in the work tree: B; if they are flaky", probes: "repeat-clean control", green: true},
		},
		{
			name: "killed there", before: "pass A+", now: "pass A+ N+", new: "n_test.go", answers: over("pass A+", "unknown"),
			want: expectedVerdict{status: gate.Pass, evidence: gate.EvidenceUnknown, reason: "test: killed", probes: asked, green: true},
		},
		{
			name: "the package did not build before either", before: "fail p.A+ !q build", now: "pass p.A+ q.N+", new: "n_test.go",
			answers: map[gate.Probe]string{gate.Originals: "fail p.A+ !q build", gate.Control: "fail p.A+ !q build", gate.Overlay: "fail p.A+ !q build"},
			want:    expectedVerdict{status: gate.Pass, evidence: gate.EvidenceUnknown, reason: "is unknown", probes: "originals repeat-clean control overlay", green: true},
		},
		{
			name: "flaky flips, and a test that proves", before: "fail A-", now: "pass A+ N+", new: "n_test.go",
			answers: map[gate.Probe]string{gate.RepeatBefore: "pass A+", gate.Control: "fail A-", gate.Overlay: "fail A- N-"},
			want: expectedVerdict{
				status: gate.Pass, evidence: gate.Proven, names: []string{"N", "A"}, reason: "N",
				probes: "repeat-before repeat-clean control overlay", green: true,
			},
		},
	})
}

// New tests also run on the overlay if something turned green: they may prove more, or be the only
// reason.
func TestNewTestsRunOnOverlayIfSomethingTurnedGreen(t *testing.T) {
	t.Parallel()
	const (
		laidOver = "repeat-before repeat-clean control overlay"
		all      = laidOver + " originals"
	)
	laid := func(overlay, without string) map[gate.Probe]string {
		return map[gate.Probe]string{
			gate.RepeatBefore: "fail A-", gate.RepeatClean: "pass A+ N+", gate.Control: "fail A-", gate.Overlay: overlay, gate.Originals: without,
		}
	}
	whole := func(overlay, without string) map[gate.Probe]string {
		return map[gate.Probe]string{
			gate.RepeatBefore: "fail", gate.RepeatClean: "pass", gate.Control: "fail", gate.Overlay: overlay, gate.Originals: without,
		}
	}
	checkVerdicts(t, []verdictCase{
		{
			name: "a new test proves more", before: "fail A-", now: "pass A+ N+", new: "n_test.go", answers: laid("fail A- N-", "pass A+"),
			want: expectedVerdict{status: gate.Pass, evidence: gate.Proven, names: []string{"A", "N"}, reason: "A", probes: all, green: true},
		},
		{
			name: "one that passes without the work proves nothing", before: "fail A-", now: "pass A+ N+", new: "n_test.go", answers: laid("fail A- N+", "pass A+"),
			want: expectedVerdict{status: gate.Pass, evidence: gate.Proven, names: []string{"A"}, reason: "A", probes: all, green: true},
		},
		{
			name: "one that turns the old test green by itself", before: "fail A-", now: "pass A+ N+", new: "n_test.go", answers: laid("pass A+ N+", ""),
			want: expectedVerdict{status: gate.Pass, evidence: gate.Unproven, reason: "because of the new tests, not because of the work: A (n_test.go)", probes: laidOver, green: true},
		},
		{
			name: "and the gate, where it has no ids", before: "fail", now: "pass", new: "n_test.go", answers: whole("pass", ""),
			want: expectedVerdict{status: gate.Pass, evidence: gate.Unproven, reason: "because of the new tests", probes: laidOver, green: true},
		},
		{
			name: "a gate that needs the work", before: "fail", now: "pass", new: "n_test.go", answers: whole("fail", "pass"),
			want: expectedVerdict{status: gate.Pass, evidence: gate.Proven, names: []string{"test"}, reason: "test", probes: all, green: true},
		},
		{
			name: "one that turns the old test green where the work has a mark for it", before: "fail A-", now: "pass A+ N+", new: "n_test.go",
			answers: laid("fail A- N-", "fail A-"),
			want:    expectedVerdict{status: gate.Pass, evidence: gate.Unproven, reason: "because of the new tests, not because of the work: A (n_test.go)", probes: all, green: true},
		},
		{
			name: "work that lies in a new test", before: "fail A-", now: "pass A+ N+", new: "n_test.go", answers: laid("fail A- N-", "fail ! build"),
			want: expectedVerdict{status: gate.Pass, evidence: gate.Unproven, reason: "because of the new tests", probes: all, green: true},
		},
		{
			name: "and the gate, where it has no ids and the work a mark", before: "fail", now: "pass", new: "n_test.go", answers: whole("fail", "fail"),
			want: expectedVerdict{status: gate.Pass, evidence: gate.Unproven, reason: "because of the new tests", probes: all, green: true},
		},
		{
			name: "but not where there were no tests before", before: "fail empty", now: "pass", new: "n_test.go", answers: whole("fail", "fail"),
			want: expectedVerdict{status: gate.Pass, evidence: gate.Proven, names: []string{"test"}, reason: "test", probes: all, green: true},
		},
		{
			name: "nor where the gate missed the new test by name", before: "fail says:no_n_test.go", now: "pass", new: "n_test.go", answers: whole("fail", "fail"),
			want: expectedVerdict{status: gate.Pass, evidence: gate.Proven, names: []string{"test"}, reason: "test", probes: all, green: true},
		},
		{
			name: "unless the new tests pass without the work", before: "fail empty", now: "pass", new: "n_test.go", answers: whole("pass", "fail"),
			want: expectedVerdict{status: gate.Pass, evidence: gate.Unproven, reason: "because of the new tests", probes: laidOver, green: true},
		},
		{
			name: "what it is without them could not be found out", before: "fail A-", now: "pass A+ N+", new: "n_test.go", answers: laid("fail A- N-", "unknown"),
			want: expectedVerdict{status: gate.Pass, evidence: gate.Proven, names: []string{"A", "N"}, reason: "A", probes: all, green: true},
		},
		{
			name: "a place that shows nothing", before: "fail A-", now: "pass A+ N+", new: "n_test.go",
			answers: map[gate.Probe]string{gate.RepeatBefore: "fail A-", gate.RepeatClean: "pass A+ N+", gate.Control: "unknown"},
			want:    expectedVerdict{status: gate.Pass, evidence: gate.Proven, names: []string{"A"}, reason: "A", probes: "repeat-before repeat-clean control", green: true},
		},
	})
}

// Code that exits with 0 makes a runner report fewer tests.
func TestFewerReportedTestsFailTheVerdict(t *testing.T) {
	t.Parallel()
	then := gate.Result{Gate: "npm test", Status: gate.Fail, Passed: 1, Failed: 1}
	for _, c := range []struct {
		passed  int
		several bool // more runs than one, and the last one's number
		old     []string
		want    gate.Status
		reason  string
	}{
		{passed: 2, want: gate.Pass, reason: "npm test"},
		{passed: 3, want: gate.Pass, reason: "npm test"},
		{passed: 1, want: gate.Fail, reason: "npm test (2 tests then, 1 now)"},
		{passed: 1, several: true, want: gate.Pass, reason: "npm test"},
		{passed: 0, several: true, want: gate.Fail, reason: "now it reports none"},
		{passed: 0, want: gate.Fail, reason: "npm test: it reported tests when the task started (2), and now it reports none"},
		{passed: 1, old: []string{"a.test.js"}, want: gate.Pass, reason: "originals"},
		{passed: 0, old: []string{"a.test.js"}, want: gate.Fail, reason: "now it reports none; changed since: a.test.js"},
	} {
		now := gate.Result{Gate: "npm test", Status: gate.Pass, Passed: c.passed, MultipleRuns: c.several}
		v := gate.Decide(gate.Observation{Baseline: []gate.Result{then}, Now: []gate.Result{now}, Changed: true, Inputs: gate.InputChanges{Changed: c.old}})
		if v.Status != c.want || !strings.Contains(v.Reason, c.reason) {
			t.Errorf("%d passed, changed %q: %s: %s", c.passed, c.old, v.Status, v.Reason)
		}
	}
}
