package gate

import (
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
