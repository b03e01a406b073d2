package testdiff_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/testdiff"
)

// A new test before another of the same name changes none.
func TestTestsOfOneName(t *testing.T) {
	t.Parallel()
	const old = "describe('%s', () => {\n  it('is empty', () => { expect(%s()).toBe(0); });\n});\n"
	each := func(names ...string) (text []byte) {
		for _, n := range names {
			text = fmt.Appendf(text, old, "lists", n)
		}
		return text
	}
	for _, c := range []struct {
		name          string
		before, after []byte
		want          []testdiff.Change
	}{
		{"one before the others", each("b", "c"), each("a", "b", "c"), nil},
		{"another order", each("b", "c"), each("c", "b"), nil},
		{"one is changed", each("b", "c"), each("a", "c"), []testdiff.Change{{Kind: testdiff.Changed, Line: 2, Name: "lists > is empty"}}},
		{"one is gone", each("b", "c"), each("c"), []testdiff.Change{{Kind: testdiff.Deleted, Line: 1, Name: "lists"}, {Kind: testdiff.Deleted, Line: 2, Name: "lists > is empty"}}},
	} {
		if diff := cmp.Diff(c.want, testdiff.Compare("a.test.js", c.before, c.after)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}
