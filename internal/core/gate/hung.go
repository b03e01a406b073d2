package gate

import "slices"

// A gate that timed out before the work and times out with it says nothing of the work, and
// another run takes as long again. So no further run asks it, and a claim is judged by the
// others.

// Responsive are the gates that further runs may ask.
func (o Observation) Responsive() []Gate {
	hung := o.hung()
	return slices.DeleteFunc(slices.Clone(o.Gates), func(g Gate) bool { return slices.Contains(hung, g.Name) })
}

// hung are the gates that timed out when the task began and time out still.
func (o Observation) hung() []string {
	var names []string
	for _, now := range o.Now {
		if now.hung() && find(o.Baseline, now.Gate).hung() {
			names = append(names, now.Gate)
		}
	}
	return names
}

func (r Result) hung() bool { return r.Status == Fail && r.TimedOut }

// withoutHung returns the observation without these gates.
func (o Observation) withoutHung() Observation {
	names := o.hung()
	if len(names) == 0 {
		return o
	}
	hangs := func(r Result) bool { return slices.Contains(names, r.Gate) }
	o.Baseline = slices.DeleteFunc(slices.Clone(o.Baseline), hangs)
	o.Now = slices.DeleteFunc(slices.Clone(o.Now), hangs)
	return o
}
