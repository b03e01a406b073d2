package testdiff_test

import (
	"testing"

	"github.com/pawl-dev/pawl/internal/testdiff"
)

// A formatter changes the layout, and a test then says what it said before. A change of what it does is not one
// of the layout.
func TestReformattedAcceptsOnlyLayout(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, file, was, is string
		want                bool
	}{
		{"tabs and quotes", "test_a.py", "class T:\n\tdef test_a(self):\n\t\tself.eq(f('x y'), 1)\n", "class T:\n    def test_a(self):\n        self.eq(f(\"x y\"), 1)\n", true},
		{"a call on several lines", "test_a.py", "def test_a():\n    check(one, [1, 2])\n", "def test_a():\n    check(\n        one,\n        [\n            1,\n            2,\n        ]\n    )\n", true},
		{"a comment is moved in", "test_a.py", "def test_a():\n        #what\n        assert f() == 1\n", "def test_a():\n    # what\n    assert f() == 1\n", true},
		{"a block in another", "test_a.py", "def test_a():\n    if x:\n        y()\n    assert f() == 1\n", "def test_a():\n    if x:\n        y()\n        assert f() == 1\n", false},
		{"a tuple", "test_a.py", "assert f() == (1,)\n", "assert f() == (1)\n", false},
		{"a line break", "test_a.py", "x = f() - 1\n", "x = f()\n- 1\n", false},
		{"blanks in a string", "test_a.py", "assert f() == 'a  b'\n", "assert f() == 'a b'\n", false},
		{"a comment that is not there", "test_a.py", "assert f() == 1\n", "assert f() == 1  # noqa\n", false},
		{"a script", "a.test.js", "test('a b', () => { eq(f({a: 1, b: [2]}), 'x') });\n", "test(\"a b\", () => {\n  eq(\n    f({ a: 1, b: [2] }),\n    \"x\",\n  )\n});\n", true},
		{"a returned value", "a.test.js", "test('a', () => { return eq(f(), 1) });\n", "test('a', () => { return\n eq(f(), 1) });\n", false},
		{"an element less", "a.test.js", "eq(f(), [,])\n", "eq(f(), [])\n", false},
		{"gofmt", "a_test.go", "func TestA(t *testing.T) {\n  for n,want:=range m {\n  f( n )\n  }\n}\n", "func TestA(t *testing.T) {\n\tfor n, want := range m {\n\t\tf(n)\n\t}\n}\n", true},
		{"a statement in a comment", "a.test.js", "// a\neq(f(), 1)\n", "// a eq(f(), 1)\n", false},
		{"an argument in a comment", "test_a.py", "eq(\n    # a\n    f(1), 1)\n", "eq(\n    # a f(1),\n    1)\n", false},
		{"a line break in Go", "a_test.go", "x := a - 1\n", "x := a\n-1\n", false},
		{"quotes of Go", "a_test.go", "x := 'a'\n", "x := \"a\"\n", false},
		{"another value", "a_test.go", "f(1)\n", "f(2)\n", false},
		{"an unknown language", "a.bats", "[ 1 = 2 ]\n", "[  1 = 2 ]\n", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := testdiff.Reformatted(testdiff.File{Path: c.file, Content: []byte(c.was)}, testdiff.File{Path: c.file, Content: []byte(c.is)}); got != c.want {
				t.Errorf("Reformatted is %v", got)
			}
		})
	}
}
