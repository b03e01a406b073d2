package gate_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/core/gate"
)

func TestEvidenceSatisfies(t *testing.T) {
	t.Parallel()
	levels := []gate.Evidence{gate.EvidenceUnknown, gate.Unproven, gate.Reviewed, gate.Proven}
	for i, have := range levels {
		for j, want := range levels {
			if got := have.Satisfies(want); got != (i >= j) {
				t.Errorf("%s satisfies %s: %v", have, want, got)
			}
		}
	}
}

func TestFinalGatesAreDueOnlyAtTheEnd(t *testing.T) {
	t.Parallel()
	gates := []gate.Gate{{Name: "unit"}, {Name: "e2e", Tier: gate.Final}, {Name: "lint", Tier: gate.Fast}}
	if diff := cmp.Diff([]gate.Gate{gates[0], gates[2]}, gate.Due(gates, gate.Fast)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(gates, gate.Due(gates, gate.Final)); diff != "" {
		t.Error(diff)
	}
}

func TestFailedRunsAreRetriedAndMerged(t *testing.T) {
	t.Parallel()
	pass, fail := gate.Result{Status: gate.Pass}, gate.Result{Status: gate.Fail, ExitCode: 1}
	timeout := gate.Result{Status: gate.Fail, TimedOut: true, ExitCode: -1, Reason: "timed out after 10m0s"}
	killed := gate.Result{Status: gate.Unknown, ExitCode: -1, Reason: "killed"}
	absent := gate.Result{Status: gate.Unknown, ExitCode: 127, CannotStart: true}
	flaky := gate.Gate{Flaky: true}
	cases := []struct {
		name  string
		gate  gate.Gate
		tries []gate.Result
		again bool
		want  gate.Status
		slow  bool
	}{
		{"pass", gate.Gate{}, []gate.Result{pass}, false, gate.Pass, false},
		{"fail", gate.Gate{}, []gate.Result{fail}, false, gate.Fail, false},
		{"time-out", gate.Gate{}, []gate.Result{timeout}, false, gate.Fail, false},
		{"time-out where all is slow", gate.Gate{}, []gate.Result{timeout}, true, gate.Fail, true},
		{"second time-out where all is slow", gate.Gate{}, []gate.Result{timeout, timeout}, false, gate.Fail, true},
		{"time-out, then pass", gate.Gate{}, []gate.Result{timeout, pass}, false, gate.Pass, true},
		{"fail where all is slow", gate.Gate{}, []gate.Result{fail}, false, gate.Fail, true},
		{"killed", gate.Gate{}, []gate.Result{killed}, true, gate.Unknown, false},
		{"killed again", gate.Gate{}, []gate.Result{killed, killed}, true, gate.Unknown, false},
		{"killed for good", gate.Gate{}, []gate.Result{killed, killed, killed}, false, gate.Unknown, false},
		{"killed, then pass", gate.Gate{}, []gate.Result{killed, pass}, false, gate.Pass, false},
		{"no such command", gate.Gate{}, []gate.Result{absent}, false, gate.Unknown, false},
		{"flaky, red", flaky, []gate.Result{fail}, true, gate.Fail, false},
		{"flaky, red twice", flaky, []gate.Result{fail, fail}, false, gate.Fail, false},
		{"flaky, green then", flaky, []gate.Result{fail, pass}, false, gate.Pass, false},
	}
	if !gate.NeedsRetry(gate.Gate{}, nil, false) {
		t.Error("a gate that never ran is not run")
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := gate.NeedsRetry(c.gate, c.tries, c.slow); got != c.again {
				t.Errorf("again = %v, want %v", got, c.again)
			}
			if got := gate.MergeRuns(c.tries); got.Status != c.want || got.Flaky != (c.name == "flaky, green then") {
				t.Errorf("settled as %+v, want %s", got, c.want)
			}
		})
	}
}

func TestTimeoutDoublesAfterTimedOutRun(t *testing.T) {
	t.Parallel()
	timeout := []gate.Result{{Status: gate.Fail, TimedOut: true, Reason: "timed out after 1s"}}
	for name, c := range map[string]struct {
		gate  gate.Gate
		tries []gate.Result
		want  time.Duration
	}{
		"default":             {gate.Gate{}, nil, 10 * time.Minute},
		"the gate's":          {gate.Gate{Timeout: time.Second}, nil, time.Second},
		"after a time-out":    {gate.Gate{Timeout: time.Second}, timeout, 2 * time.Second},
		"after another fault": {gate.Gate{Timeout: time.Second}, []gate.Result{{Status: gate.Unknown}}, time.Second},
	} {
		if got := c.gate.RunTimeout(c.tries); got != c.want {
			t.Errorf("%s: limit %s, want %s", name, got, c.want)
		}
	}
	slow := gate.MergeRuns(append(timeout, gate.Result{Status: gate.Pass, Duration: 1500 * time.Millisecond}))
	if slow.Flaky || slow.Warning != "timed out after 1s; passed when run again with more time (2s)" {
		t.Errorf("settled as %+v", slow)
	}
	again := gate.Result{Status: gate.Fail, TimedOut: true, Reason: "timed out after 2s"}
	twice := gate.MergeRuns(append(timeout, again))
	if want := "timed out after 1s, and again after 2s: on a busy machine the limit is doubled"; !twice.TimedOutTwice || twice.Reason != want {
		t.Errorf("two time-outs in a row are not told from one: %q", twice.Reason)
	}
}

func TestFingerprintIgnoresVaryingOutput(t *testing.T) {
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

func TestFailingTestsAreNamedInsteadOfTheirGate(t *testing.T) {
	t.Parallel()
	results := []gate.Result{
		{Gate: "npm test", Status: gate.Fail, Failing: []string{"adds", "neg"}},
		{Gate: "sh check.sh", Status: gate.Fail},
		{Gate: "go test", Status: gate.Fail, Failing: []string{"A"}, Tests: map[string]gate.Status{"A": gate.Fail}},
	}
	got := gate.ByTest([]string{"npm test", "sh check.sh", "go test", "B"}, results)
	if diff := cmp.Diff([]string{"adds", "neg", "sh check.sh", "go test", "B"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestCountIsRepeatable(t *testing.T) {
	t.Parallel()
	r := parseResult("fail A+ B+ C-")
	for range 2 {
		r.Count()
		if r.Passed != 2 || r.Failed != 1 {
			t.Errorf("%d passed, %d failed", r.Passed, r.Failed)
		}
	}
}

// Two gates that run the same test prove the work by one test, which is named once.
func TestSameTestInTwoGatesCountsOnce(t *testing.T) {
	t.Parallel()
	both := func(result string) []gate.Result {
		one, two := parseResult(result), parseResult(result)
		two.Gate = "again"
		return []gate.Result{one, two}
	}
	answer := func(result string) gate.Run { return gate.Run{Results: both(result)} }
	gates := []gate.Gate{{Name: "test"}, {Name: "again"}}
	for name, o := range map[string]gate.Observation{
		"red before": {
			Gates: gates, Changed: true, Baseline: both("fail A-"), Now: both("pass A+"),
			Runs: map[gate.Probe]gate.Run{gate.RepeatBefore: answer("fail A-"), gate.RepeatClean: answer("pass A+")},
		},
		"new": {
			Gates: gates, Changed: true, Baseline: both("pass B+"), Now: both("pass A+ B+"), Tests: gate.TestChanges{New: []string{"a_test.go"}},
			Runs: map[gate.Probe]gate.Run{gate.RepeatClean: answer("pass A+ B+"), gate.Control: answer("pass B+"), gate.Overlay: answer("fail A- B+")},
		},
		"broken": {Gates: gates, Changed: true, Baseline: both("pass A+"), Now: both("fail A-")},
	} {
		v := gate.Decide(o)
		if got := append(v.Proofs(o.Baseline), v.Regressed...); len(got) != 1 || got[0] != "A" || strings.Count(v.Reason, "A") > 1 {
			t.Errorf("%s: %q, %s", name, got, v.Reason)
		}
	}
	if got := gate.ByTest([]string{"a", "b"}, []gate.Result{{Gate: "a", Status: gate.Fail, Failing: []string{"A"}}, {Gate: "b", Status: gate.Fail, Failing: []string{"A"}}}); len(got) != 1 {
		t.Errorf("named %q", got)
	}
}
