package gate

import (
	"maps"
	"testing"
)

// Tests that pass with other values in them are believed no more, if the gate was seen to
// run them.
func TestOtherValuesAreWeighed(t *testing.T) {
	t.Parallel()
	run := func(status, a Status) Result {
		return Result{Gate: "go", Status: status, Tests: map[string]Status{"p.A": a, "p.Old": Pass}}
	}
	red, green := run(Fail, Fail), run(Pass, Pass)
	red.Failing = []string{"p.A"}
	unbuilt := Result{Gate: "go", Status: Fail, BuildFailed: true, Incomplete: []string{"p"}}
	answer := func(r Result) Run { return Run{Results: []Result{r}} }
	o := Observation{
		Changed: true, Values: true, Baseline: []Result{red}, Now: []Result{green},
		Answers: map[Probe]Run{RepeatBefore: answer(red), RepeatClean: answer(green)},
	}
	for _, c := range []struct {
		name                      string
		expected, inputs, without Run
		asked                     bool // whether it runs without the tests
		want                      Evidence
	}{
		{"both notice", answer(red), answer(red), Run{}, false, Proven},
		{"nothing is expected", answer(green), answer(red), answer(unbuilt), true, Unproven},
		{"nothing is looked at", answer(red), answer(green), answer(unbuilt), true, Unproven},
		{"the gate does not run these tests", answer(green), answer(red), answer(green), true, Proven},
		{"it does not build", answer(unbuilt), answer(unbuilt), Run{}, false, Proven},
		{"there are no values", Run{Problem: "none"}, Run{Problem: "none"}, Run{}, false, Proven},
		{"the gate could not tell", answer(Result{Gate: "go", Status: Unknown}), answer(red), Run{}, false, Proven},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			o := o
			o.Answers = maps.Clone(o.Answers)
			for p, a := range map[Probe]Run{OtherExpected: c.expected, OtherInputs: c.inputs} {
				if next, _ := Next(o); next != OtherExpected && next != OtherInputs {
					t.Errorf("next is %q", next)
				}
				o.Answers[p] = a
			}
			if p, _ := Next(o); (p == FailingTests) != c.asked {
				t.Errorf("next is %q", p)
			}
			o.Answers[FailingTests] = c.without
			if v := Judge(o); v.Evidence != c.want || v.InAnyCase() != (c.want == Unproven) {
				t.Errorf("%+v", v)
			}
		})
	}
}
