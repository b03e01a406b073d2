package mutant_test

import (
	"testing"

	"github.com/pawl-dev/pawl/internal/mutant"
)

func TestWithin(t *testing.T) {
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
		{"a function that cannot be broken", "a.c", "", "struct p f(void) { struct p p = {1}; return p; }\n", false},
		{"no language", "a.toml", "", "a = 1\n", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := mutant.Within(c.file, []byte(c.before), []byte(c.after)); got != c.want {
				t.Errorf("%v", got)
			}
		})
	}
}
