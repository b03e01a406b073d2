package testdiff_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/testdiff"
)

// A new test before another of the same name changes none.
func TestNewTestOfTheSameNameChangesNone(t *testing.T) {
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

// A name may be an expression. It is not the first text in its test.
func TestComputedNamesAreExpressions(t *testing.T) {
	t.Parallel()
	const old = "for (const name of ['a']) {\n  describe(name, () => {\n    test('null, or none', () => { expect(f(null)).toBe(0); });\n" +
		"    test(String(name), () => { expect(f(name)).toBe(1); });\n    test.each([['x', 1]])('is %s', (x, n) => { expect(f(x)).toBe(n); });\n  });\n}\n"
	for from, want := range map[string]testdiff.Change{
		"(null)":  {Kind: testdiff.Changed, Line: 3, Name: "name > null, or none"},
		"(name))": {Kind: testdiff.Changed, Line: 4, Name: "name > String(name)"},
		"(x))":    {Kind: testdiff.Changed, Line: 5, Name: "name > is %s"},
	} {
		got := testdiff.Compare("a.test.js", []byte(old), []byte(strings.Replace(old, "f"+from, "f(0"+from[1:], 1)))
		if diff := cmp.Diff([]testdiff.Change{want}, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", from, diff)
		}
	}
	if diff := cmp.Diff([]string{"name > null, or none", "name > is %s"}, testdiff.Added("a.test.js", nil, []byte(old))); diff != "" {
		t.Errorf("added (-want +got):\n%s", diff)
	}
}
