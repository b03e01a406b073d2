package gate

import (
	"maps"
	"slices"
	"strings"
)

// MustFail is a test that Pawl lays beside those of a project and that must fail.
type MustFail struct {
	Name    string `json:"name"`
	Asserts string `json:"asserts,omitempty"` // what it compares two different values with
	Beside  string `json:"beside,omitempty"`  // the test file that it stands in or beside
}

// nextCanary asks for runs with tests that must fail, where the verdict would be proven. A
// gate that reports no tests one by one and is red when the work is broken can fail.
func (o Observation) nextCanary() (Probe, []string) {
	if !o.Canary || o.answered(CanaryBefore) {
		return "", nil
	}
	v := Decide(o)
	if v.Status != Pass || v.Evidence != Proven {
		return "", nil
	}
	gates := kept(o.gates(), func(name string) bool {
		red := len(find(o.Now, name).Tests) == 0 && o.answer(Broken, name).Status == Fail
		return len(o.proving(v, name)) > 0 && !red
	})
	if !o.answered(Canary) {
		if len(gates) == 0 {
			return "", nil
		}
		return Canary, gates
	}
	gates = kept(gates, func(name string) bool { return len(o.unreported(name)) > 0 })
	if len(gates) == 0 {
		return "", nil
	}
	return CanaryBefore, gates
}

// unreported are the tests, by their place in the list, that a gate does not report as
// failed on the tree of now. Where it could not tell, or nothing built, there are none.
func (o Observation) unreported(name string) []int {
	run, seen := o.Answers[Canary], o.answer(Canary, name)
	reported := seen.reports(run.MustFail)
	switch {
	case seen.Status == Unknown, seen.TimedOut:
		return nil
	case len(reported) == 0 && seen.Status == Fail:
		now := find(o.Now, name)
		if seen.BuildFailed || len(seen.Incomplete) > 0 || now.Status == Pass && len(seen.Tests) == 0 {
			return nil // it is red, and was not
		}
	}
	var missing []int
	for i := range run.MustFail {
		if !slices.Contains(reported, i) {
			missing = append(missing, i)
		}
	}
	return missing
}

// reports are those of the tests, by their place in the list, that a run tells of as
// failed: by their ids, or else by what it says.
func (r Result) reports(tests []MustFail) []int {
	var told []string
	switch {
	case len(r.Tests) > 0:
		for _, id := range slices.Sorted(maps.Keys(r.Tests)) {
			if r.Tests[id] == Fail {
				told = append(told, id)
			}
		}
	case r.Status == Fail:
		names := func(text string) bool {
			return slices.ContainsFunc(tests, func(t MustFail) bool { return strings.Contains(text, t.Name) })
		}
		if told = r.Failing; !slices.ContainsFunc(told, names) {
			told = []string{r.Head, r.Tail, r.FirstError, r.Reason}
		}
	}
	var found []int
	for i, t := range tests {
		if slices.ContainsFunc(told, func(text string) bool { return strings.Contains(text, t.Name) }) {
			found = append(found, i)
		}
	}
	return found
}

// silentCanary believes no gate that is silent about a test that must fail, and was not
// on the tree of before.
func silentCanary(w weighing, v *Verdict) bool {
	before, ok := w.Answers[CanaryBefore]
	if !ok {
		return false
	}
	for _, name := range w.gates() {
		missing := w.unreported(name)
		if len(missing) == 0 || len(w.proving(*v, name)) == 0 {
			continue
		}
		there := w.answer(CanaryBefore, name).reports(before.MustFail)
		silent := slices.DeleteFunc(missing, func(i int) bool { return !slices.Contains(there, i) })
		if len(silent) == 0 {
			if len(w.answer(Canary, name).reports(w.Answers[Canary].MustFail)) == 0 {
				v.Labels = append(v.Labels, "canary not applicable: "+name+" does not report tests that are added")
			}
			continue
		}
		t := before.MustFail[silent[0]]
		v.Labels, v.InAnyCase = append(v.Labels, "canary not reported: "+name), true
		v.Reason = "the gate reports no failure for a test that must fail: " + name + " passes though two different values were compared with " +
			t.Asserts + " beside " + t.Beside +
			"; so its green shows nothing: code that ends the process, replaces assertions or prints results does that. " +
			"Take that out: then the tests count"
		return true
	}
	return false
}
