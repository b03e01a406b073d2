package gate_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/core/gate"
)

func TestEvidenceSatisfies(t *testing.T) {
	t.Parallel()
	levels := []gate.Evidence{gate.NoEvidence, gate.Consistent, gate.Review, gate.Discriminating}
	for i, have := range levels {
		for j, want := range levels {
			if got := have.Satisfies(want); got != (i >= j) {
				t.Errorf("%s satisfies %s: %v", have, want, got)
			}
		}
	}
}

func TestDue(t *testing.T) {
	t.Parallel()
	gates := []gate.Gate{{Name: "unit"}, {Name: "e2e", Tier: gate.Final}, {Name: "lint", Tier: gate.Fast}}
	if diff := cmp.Diff([]gate.Gate{gates[0], gates[2]}, gate.Due(gates, gate.Fast)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(gates, gate.Due(gates, gate.Final)); diff != "" {
		t.Error(diff)
	}
}

func TestAgainAndSettle(t *testing.T) {
	t.Parallel()
	pass, fail := gate.Result{Status: gate.Pass}, gate.Result{Status: gate.Fail, ExitCode: 1}
	timeout := gate.Result{Status: gate.Unknown, TimedOut: true, ExitCode: -1}
	killed := gate.Result{Status: gate.Unknown, ExitCode: -1, Reason: "killed"}
	absent := gate.Result{Status: gate.Unknown, ExitCode: 127}
	flaky := gate.Gate{Flaky: true}
	cases := []struct {
		name  string
		gate  gate.Gate
		tries []gate.Result
		again bool
		want  gate.Status
		busy  bool
	}{
		{"pass", gate.Gate{}, []gate.Result{pass}, false, gate.Pass, false},
		{"fail", gate.Gate{}, []gate.Result{fail}, false, gate.Fail, false},
		{"first time-out", gate.Gate{}, []gate.Result{timeout}, true, gate.Unknown, false},
		{"second time-out", gate.Gate{}, []gate.Result{timeout, timeout}, false, gate.Fail, false},
		{"second time-out, loaded machine", gate.Gate{}, []gate.Result{timeout, timeout}, false, gate.Unknown, true},
		{"killed", gate.Gate{}, []gate.Result{killed}, true, gate.Unknown, false},
		{"killed again", gate.Gate{}, []gate.Result{killed, killed}, true, gate.Unknown, false},
		{"killed for good", gate.Gate{}, []gate.Result{killed, killed, killed}, false, gate.Unknown, false},
		{"killed, then pass", gate.Gate{}, []gate.Result{killed, pass}, false, gate.Pass, false},
		{"no such command", gate.Gate{}, []gate.Result{absent}, false, gate.Unknown, false},
		{"flaky, red", flaky, []gate.Result{fail}, true, gate.Fail, false},
		{"flaky, red twice", flaky, []gate.Result{fail, fail}, false, gate.Fail, false},
		{"flaky, green then", flaky, []gate.Result{fail, pass}, false, gate.Pass, false},
	}
	if !gate.Again(gate.Gate{}, nil) {
		t.Error("a gate that never ran is not run")
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := gate.Again(c.gate, c.tries); got != c.again {
				t.Errorf("again = %v, want %v", got, c.again)
			}
			if got := gate.Settle(c.tries, c.busy); got.Status != c.want || got.Flaky != (c.name == "flaky, green then") {
				t.Errorf("settled as %+v, want %s", got, c.want)
			}
		})
	}
}

func TestFingerprintIgnoresWhatVaries(t *testing.T) {
	t.Parallel()
	run := func(tree, tail string, failing ...string) string {
		return gate.Fingerprint(tree, []gate.Result{{Gate: "test", Status: gate.Fail, Failing: failing, Tail: tail}})
	}
	base := run("t1", "a_test.go:4: got 3 in 0.12s at 0xc000123 under /tmp/TestX12/001/f, build deadbeef1\n", "TestX")
	same := map[string]string{
		"numbers and times": run("t1", "a_test.go:14: got 4 in 12ms at 0xc000fff under /tmp/TestX99/002/g, build 1234567\n", "TestX"),
	}
	for name, got := range same {
		if got != base {
			t.Errorf("%s make a difference", name)
		}
	}
	other := map[string]string{
		"the tree":          run("t2", "a_test.go:4: got 3 in 0.12s at 0xc000123 under /tmp/TestX12/001/f, build deadbeef1\n", "TestX"),
		"the failing tests": run("t1", "a_test.go:4: got 3 in 0.12s at 0xc000123 under /tmp/TestX12/001/f, build deadbeef1\n", "TestY"),
		"the words":         run("t1", "a_test.go:4: nil in 0.12s at 0xc000123 under /tmp/TestX12/001/f, build deadbeef1\n", "TestX"),
	}
	for name, got := range other {
		if got == base {
			t.Errorf("%s makes no difference", name)
		}
	}
	a, b := gate.Result{Gate: "a"}, gate.Result{Gate: "b"}
	if gate.Fingerprint("t", []gate.Result{a, b}) != gate.Fingerprint("t", []gate.Result{b, a}) {
		t.Error("the order of gates makes a difference")
	}
}

func TestCount(t *testing.T) {
	t.Parallel()
	r := run("fail A+ B+ C-")
	for range 2 {
		r.Count()
		if r.Passed != 2 || r.Failed != 1 {
			t.Errorf("%d passed, %d failed", r.Passed, r.Failed)
		}
	}
}
