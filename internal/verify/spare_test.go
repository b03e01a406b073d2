package verify

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/core/gate"
)

// The function in which a compiler finds an error stays whole, wherever in it the error is. If no
// function has the error, what has its old text stays whole.
func TestFunctionWithTheCompileErrorStaysWhole(t *testing.T) {
	t.Parallel()
	const rust = "error[E0004]: non-exhaustive patterns\n  --> src/duration.rs:14:15\n"
	for _, c := range []struct {
		name string
		run  gate.Result
		want []string
	}{
		{"in a function", gate.Result{Status: gate.Fail, Head: rust}, []string{"a"}},
		{"on its last line", gate.Result{Status: gate.Fail, BuildFailed: true, Tail: "duration.rs:19: missing return"}, []string{"a"}},
		{"elsewhere: only old text may not fit", gate.Result{Status: gate.Fail, BuildFailed: true, Tail: "duration.rs:20: x\nother.rs:14: x"}, []string{"c"}},
		{"a warning is no error", gate.Result{Status: gate.Fail, BuildFailed: true, Head: "duration.rs:19: warning: unused"}, []string{"c"}},
		{"a test that fails is no error of a build", gate.Result{Status: gate.Fail, Head: rust, Failing: []string{"huge"}}, nil},
		{"nor is a package that is not built a test", gate.Result{Status: gate.Fail, BuildFailed: true, Head: rust, Failing: []string{"duration [build failed]"}}, []string{"a"}},
		{"beside old text", gate.Result{Status: gate.Fail, BuildFailed: true, Tail: "./ring.rs:50: unused import"}, []string{"c"}},
		{"all builds", gate.Result{Status: gate.Pass, Head: rust}, nil},
	} {
		b := mutationPlan{skipped: map[string]bool{}, mutated: []mutatedSpan{{"duration.rs", 12, 19, "a", false}, {"duration.rs", 22, 30, "b", false}, {"ring.rs", 1, 40, "c", true}}}
		if grew := b.skipUnbuildable([]gate.Result{c.run}); grew != (c.want != nil) {
			t.Errorf("%s: grew is %t", c.name, grew)
		}
		if diff := cmp.Diff(c.want, slices.Sorted(maps.Keys(b.skipped))); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}
