package gate

import (
	"maps"
	"slices"
)

// A test that failed when the task began and fails still says nothing of the work. But it hides
// what other tests say: the gate is red with the work, without it, and with its functions broken.
// So a claim is judged as if these tests were not there: what they hid is told, work that breaks
// another test fails, and the verdict names them as still red.

// withoutOldRed returns the observation without the tests that failed when the task began and
// fail still, in all of its runs.
func (o Observation) withoutOldRed() Observation {
	old := o.oldRed()
	if len(old) == 0 {
		return o
	}
	o.Baseline, o.Now = leaveOut(o.Baseline, old), leaveOut(o.Now, old)
	answers := make(map[Probe]Run, len(o.Answers))
	for probe, run := range o.Answers {
		run.Results = leaveOut(run.Results, old)
		answers[probe] = run
	}
	o.Answers = answers
	return o
}

// oldRed are these tests by gate. A gate that fails for another reason than its tests, or does
// not name all that fail, has none.
func (o Observation) oldRed() map[string][]string {
	var old map[string][]string
	for _, now := range o.Now {
		before := find(o.Baseline, now.Gate)
		if red := both(now.Failing, before.Failing); len(red) > 0 && before.namesFailing() && now.namesFailing() {
			if old == nil {
				old = map[string][]string{}
			}
			old[now.Gate] = red
		}
	}
	return old
}

// namesFailing reports whether tests failed, and the result names each of them.
func (r Result) namesFailing() bool {
	whole := r.Status == Fail && !r.BuildFailed && !r.TimedOut && !r.Several && len(r.Incomplete) == 0
	return whole && len(r.Failing) > 0 && !slices.Contains(r.Failing, r.Gate) && (len(r.Tests) > 0 || r.Failed == len(r.Failing))
}

// leaveOut returns results without some tests of each gate. What fails by these alone passes.
func leaveOut(results []Result, tests map[string][]string) []Result {
	results = slices.Clone(results)
	for i, r := range results {
		results[i] = r.leaveOut(tests[r.Gate])
	}
	return results
}

func (r Result) leaveOut(tests []string) Result {
	if len(tests) == 0 {
		return r
	}
	others := kept(r.Failing, func(name string) bool { return !slices.Contains(tests, name) })
	if r.namesFailing() && len(others) == 0 {
		r.Status, r.ExitCode, r.Reason, r.FirstError = Pass, 0, "", ""
	}
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
