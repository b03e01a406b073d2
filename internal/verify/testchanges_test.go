//go:build unix

package verify_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/verify"
)

// What was done to old tests is named with file and line; whether it may be, is
// another question.
func TestTestChangesAreNamedWithFileAndLine(t *testing.T) {
	t.Parallel()
	add := testFile("TestAdd", "if Add(1, 2) != 3 {\n\t\tt.Error(\"1+2\")\n\t}")
	start := calc()
	start["calc_test.go"] = add
	start["testdata/in.json"] = "{}\n"
	cases := []struct {
		name string
		work files
		want string
	}{
		{"none", files{"calc.go": subtract}, ""},
		{"a test is added to an old file", files{"calc_test.go": add + "\nfunc TestMore(t *testing.T) {}\n"}, ""},
		{"skipped", files{"calc_test.go": strings.Replace(add, "\tif Add", "\tt.Skip()\n\tif Add", 1)}, "calc_test.go:5: skipped TestAdd"},
		{"deleted", files{"calc_test.go": ""}, "calc_test.go:5: deleted TestAdd"},
		{"moved to where nobody looks", files{"calc_test.go": "", "calc_test.go.bak": add}, "calc_test.go: moved → calc_test.go.bak; calc_test.go.bak: added"},
		{"renamed with its file, and skipped", files{"calc_test.go": "", "add_test.go": strings.Replace(add, "\tif Add", "\tt.Skip()\n\tif Add", 1)}, "calc_test.go: renamed → add_test.go; add_test.go:5: skipped TestAdd"},
		{"data", files{"testdata/in.json": "[]\n"}, "testdata/in.json: changed"},
		{"a file that bends the others", files{"bend_test.go": "package calc\n\nfunc init() {}\n"}, "bend_test.go: added"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, start, nil)
			f := b.claim(gates("true"), c.work, func(*verify.Request) {})
			var got []string
			for _, ch := range f.Changes {
				got = append(got, ch.String())
			}
			if diff := cmp.Diff(c.want, strings.Join(got, "; ")); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
