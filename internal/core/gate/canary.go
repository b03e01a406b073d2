package gate

import (
	"maps"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/plan"
)

// CanaryTest is a test that must fail. Pawl adds it beside the project's tests to check the gate.
type CanaryTest struct {
	Name      string
	Assertion string // how the project's tests compare two values
	File      string // the test file that it was added to or beside
}

// missingCanaries returns the indexes of the canary tests that a gate does not report as failed on
// the current tree. It returns nil if the gate's result is unclear, or nothing was built.
func (o Observation) missingCanaries(name string) []int {
	run, seen := o.Runs[Canary], o.probeResult(Canary, name)
	reported := seen.reportedCanaries(run.CanaryTests)
	switch {
	case seen.Status == Unknown, seen.TimedOut:
		return nil
	case len(reported) == 0 && seen.Status == Fail:
		now := resultOf(o.Now, name)
		if seen.BuildFailed || len(seen.IncompleteGroups) > 0 || now.Status == Pass && len(seen.Tests) == 0 {
			return nil // the gate itself turned red, so it noticed the canary
		}
	}
	var missing []int
	for i := range run.CanaryTests {
		if !slices.Contains(reported, i) {
			missing = append(missing, i)
		}
	}
	return missing
}

// reportedCanaries returns the indexes of the tests that a run reports as failed. It matches test
// IDs; without them, the run's output.
func (r Result) reportedCanaries(tests []CanaryTest) []int {
	var reported []string
	switch {
	case len(r.Tests) > 0:
		for _, id := range slices.Sorted(maps.Keys(r.Tests)) {
			if r.Tests[id] == Fail {
				reported = append(reported, id)
			}
		}
	case r.Status == Fail:
		names := func(text string) bool {
			return slices.ContainsFunc(tests, func(t CanaryTest) bool { return strings.Contains(text, t.Name) })
		}
		if reported = r.Failing; !slices.ContainsFunc(reported, names) {
			reported = []string{r.Head, r.Tail, r.FirstError, r.Reason}
		}
	}
	var places []int
	for i, t := range tests {
		if slices.ContainsFunc(reported, func(text string) bool { return strings.Contains(text, t.Name) }) {
			places = append(places, i)
		}
	}
	return places
}

// missesCanary rejects a gate that does not report a canary test as failed, but did on the baseline
// tree.
func missesCanary(w assessment, v *Verdict) bool {
	before, ok := w.Runs[CanaryBefore]
	if !ok {
		return false
	}
	for _, name := range w.gateNames() {
		missing := w.missingCanaries(name)
		if len(missing) == 0 || len(w.proving[name]) == 0 {
			continue
		}
		reportedBefore := w.probeResult(CanaryBefore, name).reportedCanaries(before.CanaryTests)
		lost := slices.DeleteFunc(missing, func(i int) bool { return !slices.Contains(reportedBefore, i) })
		if len(lost) == 0 {
			if len(w.probeResult(Canary, name).reportedCanaries(w.Runs[Canary].CanaryTests)) == 0 {
				v.Labels = append(v.Labels, "canary not applicable: "+name+" does not report tests that are added")
			}
			continue
		}
		t := before.CanaryTests[lost[0]]
		v.Labels, v.TestsCannotFail = append(v.Labels, "canary not reported: "+name), true
		v.Reason = "the gate does not report a test that must fail: " + name + " passes, although Pawl compared two different values with " +
			t.Assertion + " beside " + t.File +
			". Some code ends the process early, replaces assertions or prints results. Remove it: then the tests count"
		return true
	}
	return false
}

// missesNewTests reports whether no gate notices a failing test among the new tests. It says what
// would be more useful to know than that the new tests pass without the work.
func missesNewTests(w assessment, v *Verdict) bool {
	run := w.Runs[Canary]
	if len(run.CanaryTests) == 0 || slices.ContainsFunc(run.CanaryTests, func(t CanaryTest) bool { return !slices.Contains(w.Tests.New, t.File) }) {
		return false
	}
	for _, name := range w.gateNames() {
		if r := resultOf(run.Results, name); r.Status != Pass || len(r.reportedCanaries(run.CanaryTests)) > 0 {
			return false
		}
	}
	v.TestsNotRun, v.Labels = w.Tests.New, append(v.Labels, "no gate runs: "+plan.Few(w.Tests.New, 4))
	v.Reason = "no gate runs the new tests: a failing test put into " + run.CanaryTests[0].File + " is not noticed by " + plan.Few(w.gateNames(), 4)
	v.Remedy = "tests where the gates look for tests, or ask the user for a gate that runs them"
	return true
}
