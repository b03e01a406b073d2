package gate

import (
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestNotices(t *testing.T) {
	t.Parallel()
	ids := func(status Status, tests map[string]Status) Result {
		return Result{Gate: "go", Status: status, Tests: tests, Reason: "why"}
	}
	whole := ids(Pass, map[string]Status{"p.A": Pass, "p.B": Pass, "p.Old": Fail})
	for _, c := range []struct {
		name          string
		whole, broken Result
		want          Noticing
		by            []string
	}{
		{"all pass", whole, whole, Unnoticed, nil},
		{"a test fails", whole, ids(Fail, map[string]Status{"p.A": Fail, "p.B": Pass}), Noticed, []string{"p.A"}},
		{"only what failed before fails", whole, Result{Gate: "go", Status: Pass, Tests: whole.Tests}, Unnoticed, nil},
		{"a test crashes", whole, Result{Gate: "go", Status: Fail, Tests: map[string]Status{"p.A": Fail}, Incomplete: []string{"p"}}, Called, nil},
		{"another package crashes", whole, Result{Gate: "go", Status: Fail, Tests: map[string]Status{"p.A": Fail}, Incomplete: []string{"q"}}, Noticed, []string{"p.A"}},
		{"it does not build", whole, Result{Gate: "go", Status: Fail, BuildFailed: true, Incomplete: []string{"p"}}, NotTried, nil},
		{"it times out", whole, Result{Gate: "go", Status: Fail, TimedOut: true, Tests: map[string]Status{"p.A": Fail}}, NotTried, nil},
		{"it could not start", whole, ids(Unknown, nil), NotTried, nil},
		{"no ids, red", Result{Gate: "go", Status: Pass}, Result{Gate: "go", Status: Fail}, Noticed, []string{"go"}},
		{"no ids, none ran", Result{Gate: "go", Status: Pass, Passed: 3}, Result{Gate: "go", Status: Fail}, NotTried, nil},
		{"no ids, by number", Result{Gate: "go", Status: Pass, Passed: 3}, Result{Gate: "go", Status: Fail, Passed: 2, Failed: 1}, Noticed, []string{"go"}},
		{"no ids, green", Result{Gate: "go", Status: Pass}, Result{Gate: "go", Status: Pass}, Unnoticed, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, by, why := Notices([]Result{c.whole}, []Result{c.broken})
			if got != c.want {
				t.Errorf("%s, not %s", got, c.want)
			}
			if diff := cmp.Diff(c.by, by); diff != "" {
				t.Error(diff)
			}
			if got == Noticed && why != "" {
				t.Errorf("noticed, but %q", why)
			}
		})
	}
	// One gate that notices is enough.
	lint := Result{Gate: "lint", Status: Pass}
	got, by, _ := Notices([]Result{lint, whole}, []Result{{Gate: "lint", Status: Unknown}, ids(Fail, map[string]Status{"p.B": Fail})})
	if got != Noticed || len(by) != 1 {
		t.Errorf("%s by %v", got, by)
	}
}

// Tests that pass although nothing is left of the work are no evidence of it; one that
// does not pass, for whatever reason, is enough.
func TestBrokenWorkIsNoticed(t *testing.T) {
	t.Parallel()
	all := func(status Status, a, b Status) Result {
		return Result{Gate: "go", Status: status, Tests: map[string]Status{"p.A": a, "p.B": b, "p.Old": Pass}}
	}
	o := Observation{
		Changed: true, Breakable: true, NewTests: []string{"a_test.go"},
		Baseline: []Result{{Gate: "go", Status: Pass, Tests: map[string]Status{"p.Old": Pass}}},
		Now:      []Result{all(Pass, Pass, Pass)},
		Answers: map[Probe]Run{
			Control: {Results: []Result{{Gate: "go", Status: Pass, Tests: map[string]Status{"p.Old": Pass}}}},
			Overlay: {Results: []Result{{Gate: "go", Status: Fail, BuildFailed: true, Incomplete: []string{"p"}}}},
		},
	}
	if p, gates := Next(o); p != Broken || len(gates) != 1 {
		t.Fatalf("next is %q %v", p, gates)
	}
	if v := Judge(o); v.Evidence != Discriminating {
		t.Fatalf("without the answer: %+v", v)
	}
	for _, c := range []struct {
		name   string
		broken Run
		want   Evidence
	}{
		{"all pass", Run{Results: []Result{all(Pass, Pass, Pass)}}, Consistent},
		{"the new ones pass, an old one does not", Run{Results: []Result{{Gate: "go", Status: Fail, Tests: map[string]Status{"p.A": Pass, "p.B": Pass, "p.Old": Fail}}}}, Consistent},
		{"one fails", Run{Results: []Result{all(Fail, Pass, Fail)}}, Discriminating},
		{"it does not build", Run{Results: []Result{{Gate: "go", Status: Fail, BuildFailed: true, Incomplete: []string{"p"}}}}, Discriminating},
		{"the gate could not tell", Run{Results: []Result{{Gate: "go", Status: Unknown}}}, Discriminating},
		{"there is no place", Run{Problem: "the disk is full"}, Discriminating},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			o := o
			o.Answers = maps.Clone(o.Answers)
			o.Answers[Broken] = c.broken
			v := Judge(o)
			if v.Status != Pass || v.Evidence != c.want || (len(v.Proving) > 0) != (c.want == Discriminating) {
				t.Errorf("%+v", v)
			}
			if p, _ := Next(o); p != "" {
				t.Errorf("next is %q", p)
			}
		})
	}
}
