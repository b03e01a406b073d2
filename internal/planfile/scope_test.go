package planfile_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A scope is a list of globs, or a text that looks like globs. Other text there is ignored.
func TestScopeIsRead(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		json string
		want []string
	}{
		{`["src/**", "Makefile"]`, []string{"src/**", "Makefile"}},
		{`"src/**"`, []string{"src/**"}},
		{`"src/pay/*.go, README.md"`, []string{"src/pay/*.go", "README.md"}},
		{`"backend"`, nil},
		{`"Only the files in src/ and docs/."`, nil},
		{`"src/**, and whatever it needs"`, nil},
		{`7`, nil},
		{`{"files": ["src/**"]}`, nil},
		{`null`, nil},
		{`[]`, nil},
	} {
		t.Run(c.json, func(t *testing.T) {
			t.Parallel()
			p := decode(t, "p.json", `[{"title":"a","scope":`+c.json+`}]`).Plan()
			if diff := cmp.Diff(c.want, p.Tasks[0].Scope); diff != "" {
				t.Error(diff)
			}
		})
	}
}
