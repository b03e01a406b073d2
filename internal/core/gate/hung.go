package gate

import "slices"

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
