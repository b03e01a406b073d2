package mutant_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/mutant"
)

func TestChangesOutsideFunctionsAreFound(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, file, before, after string
		want                      bool
	}{
		{"a new Go file", "a.go", "", "package a\n\nimport \"os\"\n\ntype T struct {\n\tname string\n}\n\nfunc (t T) A() string { return os.Args[0] }\n", true},
		{"a constant", "a.go", "package a\n\nfunc A() int { return 1 }\n", "package a\n\nconst B = 1\n\nfunc A() int { return B }\n", false},
		{"a constant that was there", "a.go", "package a\nconst B = 1\n", "package a\n\nconst B = 1\n\nfunc A() int { return B }\n", true},
		{"a type with tags", "a.go", "package a\n", "package a\n\ntype T struct {\n\tN int `json:\"n\"`\n}\n\nfunc A() int { return 1 }\n", false},
		{"a function that is gone", "a.go", "package a\n\nfunc B() int { return 1 }\n", "package a\n\nfunc A() int { return 1 }\n", false},
		{"a type that is another now", "a.go", "package a\n\ntype ID int32\n", "package a\n\ntype ID int64\n\nfunc A() int { return 1 }\n", false},
		{"an import that is another now", "a.py", "from old import f\n", "from new import f\n\n\ndef a():\n    return f\n", false},
		{"a class that has another base now", "a.js", "class A extends B {\n}\n", "class A extends C {\n  f() { return 1 }\n}\n", false},
		{"an init function", "a.go", "package a\n", "package a\n\nfunc init() { x = 1 }\n", false},
		{"a Go file that does not parse", "a.go", "package a\n", "package a\n\nfunc A( {\n", false},
		{"a Python module", "a.py", "import os\n", "import os\nfrom re import match\n\n\nclass A:\n    \"\"\"Doc.\"\"\"\n\n    @property\n    def b(self):\n        return 1\n\n\ndef c():\n    return match\n", true},
		{"a Python constant", "a.py", "", "LIMIT = 3\n\n\ndef c():\n    return LIMIT\n", false},
		{"a call at the top", "a.py", "", "def c():\n    return 1\n\n\nc()\n", false},
		{"a JavaScript module", "a.js", "", "'use strict'\nimport { x } from './x.js'\n\nexport const f = (a) => a + 1;\nexport default function g() { return 2 }\nclass A extends B {\n  h() { return 3 }\n}\nmodule.exports = { f, g,\n  A,\n};\n", true},
		{"a JavaScript table", "a.js", "", "export const table = { a: 1 }\nexport function f() { return table.a }\n", false},
		{"a Rust module", "a.rs", "use std::fmt;\n", "use std::fmt;\n\n#[derive(Debug)]\npub struct A;\n\nimpl A {\n    pub fn b(&self) -> i32 { 1 }\n}\n", true},
		{"a function that cannot be broken", "a.rs", "", "fn f() -> impl Fn() { || g() }\n", false},
		{"a header", "a.h", "#ifndef A_H\n#define A_H\nint g(void);\n#endif\n", "#ifndef A_H\n#define A_H\n#include <stdio.h>\nextern \"C\" {\nint g(void);\nstruct list *f(const char *name, int (*by)(int));\nbool undo(std::string &s) const;\n}\n#endif\n", true},
		{"a header with another macro", "a.h", "", "#define LIMIT 3\nint f(void);\n", false},
		{"a header that declares another type", "a.h", "int f(void);\n", "long f(void);\n", false},
		{"no language", "a.toml", "", "a = 1\n", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := mutant.OnlyFunctionsChanged(c.file, []byte(c.before), []byte(c.after)); got != c.want {
				t.Errorf("%v", got)
			}
		})
	}
}

// What is left of a file in which more than functions changed.
func TestEmptiedBreaksFunctionsAlone(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, file, before, after string
		want                      string // "" = it cannot be told
	}{
		{
			"a constant", "a.go", "package a\n\nfunc A() int { return 1 }\n",
			"package a\n\nconst C = 2\n\nfunc A() int { return C }\n\nfunc B() int { return 3 }\n",
			"package a\n\nconst C = 2\n\nfunc A() int { return 1 }\n\nfunc B() int { if true { return 0 }; return 3 }\n",
		},
		{
			"another name", "a.go", "package a\n\nfunc A() int { return b() }\n\nfunc b() int { return 1 }\n",
			"package a\n\nfunc A() int { return B() }\n\nfunc B() int { return 1 }\n",
			"package a\n\nfunc A() int { return B() }\n\nfunc B() int { if true { return 0 }; return 1 }\n",
		},
		{
			"other parameters, within", "a.py", "def g(x):\n    return h(x)\n\n\ndef h(x):\n    return x\n",
			"def f(x):\n    return g(x)\n\n\ndef g(x):\n    return h(x, 1)\n\n\ndef h(x, y):\n    return x + y\n",
			"def f(x):\n    return None\n    return g(x)\n\n\ndef g(x):\n    return h(x, 1)\n\n\ndef h(x, y):\n    return x + y\n",
		},
		{
			"other parameters of a helper", "a.go",
			"package a\n\nfunc A(n int) string { return b(n) + \"b\" }\n\nfunc b(n int) string { return c.b }\n",
			"package a\n\nfunc A(n int) string { return b(n, n > 1) }\n\nfunc b(n int, m bool) string { return d.b }\n",
			"package a\n\nfunc A(n int) string { return b_pawl_old(n) + \"b\" }\n\nfunc b(n int, m bool) string { return d.b }\n\nfunc b_pawl_old(n int) string { return c.b }\n",
		},
		{
			"what another package is imported for", "a.go",
			"package a\n\nfunc (a *A) B(n int) int { return n }\n",
			"package a\n\nimport \"x.org/math/v2\"\n\nfunc (a *A) B(n int) int { return math.Abs(a.B(n)) }\n",
			"package a\n\nimport \"x.org/math/v2\"\n\nfunc (a *A) B(n int) int { return n }\n\nfunc (a *A) B_pawl_new(n int) int { return math.Abs(a.B_pawl_new(n)) }\n",
		},
		{
			"other parameters of a method", "a.rs",
			"impl A {\n    fn g(&self) -> i32 { self.h(1) }\n\n    fn h(&self, n: i32) -> i32 { n }\n}\n",
			"impl A {\n    fn g(&self) -> i32 { self.h(1, 2) }\n\n    fn h(&self, n: i32, m: i32) -> i32 { n + m }\n}\n",
			"impl A {\n    fn g(&self) -> i32 { self.h_pawl_old(1) }\n\n    fn h(&self, n: i32, m: i32) -> i32 { n + m }\n\nfn h_pawl_old(&self, n: i32) -> i32 { n }\n}\n",
		},
		{
			"other parameters of what stands below", "a.c",
			"int g(int n) { return h(n); }\nstatic int h(int n) { return n; }\n",
			"int g(int n) { return h(n, 1); }\nstatic int h(int n, int m) { return n + m; }\n",
			"static int h_pawl_old(int n);\nint g(int n) { return h_pawl_old(n); }\nstatic int h(int n, int m) { return n + m; }\n\nstatic int h_pawl_old(int n) { return n; }\n",
		},
		{
			"other parameters beside what is gone", "a.go",
			"package a\n\nfunc A(n int) int { return b(n) + c() }\n\nfunc b(n int) int { return n }\n\nfunc c() int { return 1 }\n",
			"package a\n\nfunc A(n int) int { return b(n, 1) }\n\nfunc b(n, m int) int { return n + m }\n",
			"package a\n\nfunc A(n int) int { return b(n, 1) }\n\nfunc b(n, m int) int { return n + m }\n\nfunc b_pawl_old(n int) int { return n }\n",
		},
		{
			"texts", "a.js", "", "const a = 'b'; // c\nexport const d = [1]\nconst f = (x) => x * 2\n",
			"const a = '7b'; // c\nexport const d = [1]\nconst f = (x) => (0)\n",
		},
		{
			"a table", "a.py", "T = {}\n", "T = {1: 2}\n\n\ndef f(x):\n    return T[x]\n",
			"T = {1: 2}\n\n\ndef f(x):\n    return None\n    return T[x]\n",
		},
		{
			"other parameters", "a.py", "def f(x):\n    return x\n", "def f(x, y=1):\n    return x + y\n",
			"def f(x, y=1):\n    return 0\n    return x + y\n",
		},
		{"a function that cannot be broken", "a.rs", "", "fn f() -> impl Fn() { || g() }\n", ""},
		{
			"types that have no name for nothing", "a.c", "", "struct p f(void) { struct p p = {1}; return p; }\nbox g(int n) { box b = {n}; return b; }\n",
			"struct p f(void) { if (1) return (struct p){0}; struct p p = {1}; return p; }\nbox g(int n) { if (1) return (box){0}; box b = {n}; return b; }\n",
		},
		{"an iterator", "a.rs", "", "fn f() -> impl Iterator<Item = u32> { (0..9).map(g) }\n", "fn f() -> impl Iterator<Item = u32> {(std::iter::empty())}\n"},
		{
			"a header", "a.hpp", "class A {\n};\n", "class A {\n  virtual bool f();\n  int g() { return n; }\n  int n = 1;\n};\n",
			"class A {\n  virtual bool f();\n  int g() { if (1) return 0; return n; }\n  int n = 1;\n};\n",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			misfits := mutant.UncallableOld(c.file, []byte(c.before), []byte(c.after), "f(1, 2)")
			ways, ok := mutant.MutateAll(c.file, []byte(c.before), []byte(c.after), misfits)
			var all []mutant.Mutant
			for _, alternatives := range ways {
				all = append(all, alternatives[0])
			}
			if ok != (c.want != "") {
				t.Fatalf("told: %v", ok)
			}
			if got := string(mutant.Apply([]byte(c.after), all...)); ok && got != c.want {
				t.Errorf("%s\n\tis not\n%s", got, c.want)
			}
		})
	}
}

func TestNamesMatchWholeWords(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{"pop": true, "s.pop()": true, "popped, unpop, pop_": false, "": false, "popped pop": true} {
		if got := mutant.Names(text, "Stack.pop#2"); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func TestDeclaredNamesAreFound(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ file, before, after, want string }{
		{"a.go", "package a\n\nconst A = 1\n", "package a\n\nimport \"os\"\n\nconst A, B = 1, 2\n\ntype T struct{ N int }\n\nvar c = os.Args\n\nfunc f() {}\n", "T c"},
		{"a.py", "A = 1\n", "A = 1\nB: int = 2\n\n\nclass T(Exception):\n    n = 1\n\n\ndef f():\n    x = 1\n", "B T"},
		{"a.ts", "", "export const limit = 3;\nexport interface T {\n  n: number\n}\n", "T limit"},
		{"a.c", "", "#define LIMIT 3\n", "LIMIT"},
		{"a.txt", "", "const a = 1\n", ""},
	} {
		names := mutant.Declared(c.file, []byte(c.before), []byte(c.after))
		slices.Sort(names)
		if got := strings.Join(names, " "); got != c.want {
			t.Errorf("%s: %q, want %q", c.file, got, c.want)
		}
	}
}

// What another test of the file compares makes no expectation of rows that this one only refuses.
func TestRowsOfATestThatComparesNothing(t *testing.T) {
	t.Parallel()
	const file = "import pytest\nimport app\n\n\ndef test_sum():\n    assert app.sum(1, 2) == 3\n\n\n@pytest.mark.parametrize(\n    \"value\",\n    [\n        \"\",\n        (0, 0),\n        (True, 256),\n    ],\n)\ndef test_invalid(value):\n    with pytest.raises(ValueError):\n        app.color(value)\n"
	for name, want := range map[string]int{"test_invalid": 0, "test_sum": 1} {
		if got := len(mutant.Values("test_app.py", []byte(file), []string{name}, nil).Expected); got != want {
			t.Errorf("%s: %d expected values, want %d", name, got, want)
		}
	}
}
