package gate

import (
	"maps"
	"testing"
)

// Tests that pass with other values in them are believed no more, if the gate was seen to
// run them.
func TestTestsPassingWithOtherValuesProveNothing(t *testing.T) {
	t.Parallel()
	run := func(status, a Status) Result {
		return Result{Gate: "go", Status: status, Tests: map[string]Status{"p.A": a, "p.Old": Pass}}
	}
	red, green := run(Fail, Fail), run(Pass, Pass)
	red.Failing = []string{"p.A"}
	unbuilt := Result{Gate: "go", Status: Fail, BuildFailed: true, IncompleteGroups: []string{"p"}}
	answer := func(r Result) Run { return Run{Results: []Result{r}} }
	o := Observation{
		Changed: true, Work: WorkFacts{ProgramChanged: true}, Baseline: []Result{red}, Now: []Result{green},
		Runs: map[Probe]Run{RepeatBefore: answer(red), RepeatClean: answer(green), Canary: {}},
	}
	for _, c := range []struct {
		name                             string
		expected, inputs, mixed, without Run
		asked                            bool // whether it runs without the tests
		want                             Evidence
	}{
		{"both notice", answer(red), answer(red), Run{}, Run{}, false, Proven},
		{"nothing is expected", answer(green), answer(red), Run{}, answer(unbuilt), true, Unproven},
		{"nothing is looked at", answer(red), answer(green), answer(green), answer(unbuilt), true, Unproven},
		{"only the form of inputs is looked at", answer(red), answer(green), answer(red), Run{}, false, Proven},
		{"the gate does not run these tests", answer(green), answer(red), Run{}, answer(green), true, Proven},
		{"another test notices", answer(Result{Gate: "go", Status: Fail, Tests: map[string]Status{"p.A": Pass, "p.Old": Fail}}), answer(red), Run{}, answer(unbuilt), true, Proven},
		{"it does not build", answer(unbuilt), answer(unbuilt), Run{}, Run{}, false, Proven},
		{"there are no values", Run{Problem: "none"}, Run{Problem: "none"}, Run{}, Run{}, false, Proven},
		{"the gate could not tell of these tests where they fail", answer(green), answer(red), Run{}, answer(Result{Gate: "go", Status: Unknown}), true, Proven},
		{"the gate could not tell", answer(Result{Gate: "go", Status: Unknown}), answer(red), Run{}, Run{}, false, Proven},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			o := o
			o.Runs = maps.Clone(o.Runs)
			for p, a := range map[Probe]Run{OtherExpected: c.expected, OtherInputs: c.inputs} {
				if next, _ := NextProbe(o); next != OtherExpected && next != OtherInputs {
					t.Errorf("next is %q", next)
				}
				o.Runs[p] = a
			}
			if p, _ := NextProbe(o); p == MixedInputs {
				o.Runs[p] = c.mixed
			}
			if p, _ := NextProbe(o); (p == FailingTests) != c.asked {
				t.Errorf("next is %q", p)
			}
			o.Runs[FailingTests] = c.without
			if v := Decide(o); v.Evidence != c.want || v.TestsCannotFail != (c.want == Unproven) {
				t.Errorf("%+v", v)
			}
			o.Clean.ReproducedAtStart = []string{"go"}
			silent := o.becameUnknown(OtherExpected, "go") || o.becameUnknown(FailingTests, "go")
			if v := Decide(o); (v.Evidence == EvidenceUnknown) != silent {
				t.Errorf("where a clean checkout showed the loop's start: %+v", v)
			}
		})
	}
}
