package gate

import (
	"maps"
	"slices"
	"strings"
)

// A known failure is a test that failed when the task started and fails still. It says nothing about
// the work, but hides other tests: its gate fails with the work, without it, and on mutants.
// So a verdict ignores these tests, except that it names them as still red. If one crashes its group
// each time, the tests that run before the crash are compared as if the group had finished.

// withoutKnownFailures removes the known failures from all runs of the observation.
func (o Observation) withoutKnownFailures() Observation {
	known := o.knownFailures()
	if len(known) == 0 {
		return o
	}
	o.Baseline, o.Now = withoutTests(o.Baseline, known), withoutTests(o.Now, known)
	answers := make(map[Probe]Run, len(o.Runs))
	for probe, run := range o.Runs {
		run.Results = withoutTests(run.Results, known)
		answers[probe] = run
	}
	o.Runs = answers
	return o
}

// knownFailures returns the tests, by gate, that failed at the task's start and fail still. A gate
// that does not name all its failing tests has none.
func (o Observation) knownFailures() map[string][]string {
	known := map[string][]string{}
	for _, now := range o.Now {
		before := resultOf(o.Baseline, now.Gate)
		red := intersect(now.Failing, before.Failing)
		if len(red) > 0 && before.namesAllFailures(red) && now.namesAllFailures(red) {
			known[now.Gate] = red
		}
	}
	return known
}

// namesAllFailures reports whether tests failed, and the result names each of them, apart from those
// that the known failures hid by a crash.
func (r Result) namesAllFailures(known []string) bool {
	whole := r.Status == Fail && !r.BuildFailed && !r.TimedOut && !r.MultipleRuns && len(r.incompleteWithout(known)) == 0
	return whole && len(r.Failing) > 0 && !slices.Contains(r.Failing, r.Gate) && (len(r.Tests) > 0 || r.Failed == len(r.Failing))
}

// incompleteWithout returns the incomplete groups that the known failures do not explain: no known
// one failed there, or other tests did as well.
func (r Result) incompleteWithout(known []string) []string {
	return filter(r.IncompleteGroups, func(group string) bool {
		failed := filter(r.Failing, func(id string) bool { return group != "" && strings.HasPrefix(id, group+".") })
		return len(failed) == 0 || len(without(failed, known)) > 0
	})
}

// withoutTests removes tests, by gate, from the results. A gate that failed only by these passes.
func withoutTests(results []Result, tests map[string][]string) []Result {
	results = slices.Clone(results)
	for i, r := range results {
		results[i] = r.withoutTests(tests[r.Gate])
	}
	return results
}

func (r Result) withoutTests(tests []string) Result {
	if len(tests) == 0 {
		return r
	}
	others := without(r.Failing, tests)
	if r.namesAllFailures(tests) && len(others) == 0 {
		r.Status, r.ExitCode, r.Reason, r.FirstError = Pass, 0, "", ""
	}
	r.IncompleteGroups = r.incompleteWithout(tests)
	if r.Failed > 0 {
		r.Failed -= len(r.Failing) - len(others)
	}
	r.Failing = others
	if r.Tests != nil {
		r.Tests = maps.Clone(r.Tests)
		maps.DeleteFunc(r.Tests, func(id string, _ Status) bool { return slices.Contains(tests, id) })
	}
	return r
}

// A gate that timed out before the work and times out with it proves nothing, and each run takes
// long. So further runs omit it, and the other gates decide about the claim.

// Responsive returns the gates that further runs may use.
func (o Observation) Responsive() []Gate {
	hung := o.hungGates()
	return slices.DeleteFunc(slices.Clone(o.Gates), func(g Gate) bool { return slices.Contains(hung, g.Name) })
}

// hungGates returns the gates that timed out at the baseline and time out now.
func (o Observation) hungGates() []string {
	return o.gatesWhere(func(now Result) bool { return now.timedOut() && resultOf(o.Baseline, now.Gate).timedOut() })
}

func (r Result) timedOut() bool { return r.Status == Fail && r.TimedOut }

// withoutHung returns the observation without the hung gates.
func (o Observation) withoutHung() Observation {
	names := o.hungGates()
	if len(names) == 0 {
		return o
	}
	hangs := func(r Result) bool { return slices.Contains(names, r.Gate) }
	o.Baseline = slices.DeleteFunc(slices.Clone(o.Baseline), hangs)
	o.Now = slices.DeleteFunc(slices.Clone(o.Now), hangs)
	return o
}
