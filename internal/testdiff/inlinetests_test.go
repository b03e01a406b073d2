package testdiff_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/testdiff"
)

const rustSource = `//! Sums.
//!
//! ` + "```" + `
//! assert_eq!(calc::add(1, 2), 3);
//! ` + "```" + `

macro_rules! twice { ($x:expr) => { $x + $x } }

/// Adds.
pub fn add(a: i32, b: i32) -> i32 {
    a - b // wrong: "{"
}

fn same(a: i32, b: i32) {
    assert_eq!(a, b);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn three() -> i32 { 3 }

    #[test]
    fn adds() {
        assert_eq!(add(1, 2), three());
    }
}
`

const pythonSource = `"""Sums.

>>> add(1, 2)
3
"""
import unittest


def add(a, b):
    return a - b


def same(a, b):
    assert a == b


class AddTest(unittest.TestCase):
    def test_add(self):
        self.assertEqual(add(1, 2), 3)


if __name__ == "__main__":
    unittest.main()
`

// A fix beside tests leaves them the same; a change of a test, of what it asserts
// with, or of what its words mean does not.
func TestInlineTestsIgnoreTheProgram(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, file, from, to string
		same                 bool
	}{
		{"a fix", "lib.rs", "a - b", "a + b", true},
		{"a comment", "lib.rs", "/// Adds.", "/// Adds up.", true},
		{"a new function", "lib.rs", "fn same(", "fn twice(a: i32) -> i32 { a + a }\n\nfn same(", true},
		{"a test", "lib.rs", "add(1, 2), three()", "add(1, 1), three()", false},
		{"a helper of the tests", "lib.rs", "{ 3 }", "{ -1 }", false},
		{"an ignored test", "lib.rs", "    #[test]\n", "    #[test]\n    #[ignore]\n", false},
		{"a new test", "lib.rs", "    #[test]\n", "    #[test]\n    fn more() {}\n\n    #[test]\n", false},
		{"tests that are no more", "lib.rs", "#[cfg(test)]", "#[cfg(never)]", false},
		{"an example", "lib.rs", "calc::add(1, 2), 3", "calc::add(1, 2), -1", false},
		{"an example that is not run", "lib.rs", "//! ```\n//! assert", "//! ```ignore\n//! assert", false},
		{"what asserts", "lib.rs", "    assert_eq!(a, b);", "    let _ = (a, b);", false},
		{"a macro", "lib.rs", "$x + $x", "$x", false},
		{"a name that tests use", "lib.rs", "/// Adds.", "use crate::fake::assert_eq;\n/// Adds.", false},

		{"a fix", "calc.py", "a - b", "a + b", true},
		{"a new function", "calc.py", "def same", "def twice(a):\n    return a + a\n\n\ndef same", true},
		{"a test", "calc.py", "add(1, 2), 3", "add(1, 2), -1", false},
		{"a skipped test", "calc.py", "class AddTest", "@unittest.skip('x')\nclass AddTest", false},
		{"an example", "calc.py", ">>> add(1, 2)\n3", ">>> add(1, 2)\n-1", false},
		{"an example that is gone", "calc.py", ">>> add(1, 2)\n3\n", "", false},
		{"what asserts", "calc.py", "    assert a == b", "    return a, b", false},
		{"what runs them", "calc.py", "    unittest.main()", "    pass", false},

		{"an example", "calc.ex", "iex> Calc.add(1, 2)\n3", "iex> Calc.add(1, 2)\n4", false},
		{"a fix", "calc.ex", "a - b", "a + b", true},
		{"a test", "calc.zig", "add(1, 2) == 3", "add(1, 2) == -1", false},
		{"a fix", "calc.zig", "a - b", "a + b", true},
	} {
		t.Run(c.file+" "+c.name, func(t *testing.T) {
			t.Parallel()
			was := map[string]string{
				"lib.rs": rustSource, "calc.py": pythonSource, "calc.ex": "@doc \"\"\"\niex> Calc.add(1, 2)\n3\n\"\"\"\ndef add(a, b), do: a - b\n",
				"calc.zig": "fn add(a: i32, b: i32) i32 {\n    return a - b;\n}\n\ntest \"adds\" {\n    try expect(add(1, 2) == 3);\n}\n",
			}[c.file]
			now := strings.Replace(was, c.from, c.to, 1)
			if now == was {
				t.Fatalf("%q is not there", c.from)
			}
			before, after := testdiff.InlineTests(c.file, []byte(was)), testdiff.InlineTests(c.file, []byte(now))
			if len(before) == 0 || slices.Equal(before, after) != c.same {
				t.Errorf("the same: %t\n%q\n%q", !c.same, before, after)
			}
		})
	}
	for _, file := range []string{"lib.rs", "calc.py", "calc.go"} {
		if got := testdiff.InlineTests(file, []byte("fn add(a, b) { assert!(a); }\ndef add(): pass\n")); file != "lib.rs" && len(got) != 0 {
			t.Errorf("%s: %q", file, got)
		}
	}
}

// A file that only a gate's command names as a test may be about another one.
func TestTestsAnotherFileSeesImports(t *testing.T) {
	t.Parallel()
	local := func(module string) bool { return module == "calc" }
	for text, want := range map[string]bool{
		pythonSource:                        false,
		"import calc\n" + pythonSource:      true,
		"import os, calc\n" + pythonSource:  true,
		"from .x import y\n" + pythonSource: true,
		"import subprocess\ndef test_add():\n    subprocess.run(['calc'])\n": true,
		"import calc\ndef add():\n    \"\"\"\n    >>> add()\n    \"\"\"\n":   false,
		"def test_add():\n    assert open('out').read()\n":                   true,
	} {
		if got := testdiff.TestsAnotherFile("checks.py", []byte(text), local); got != want {
			t.Errorf("%t, want %t, for\n%s", got, want, text)
		}
	}
}

// Tests that are added cannot change what the old ones do.
func TestOnlyAddsInlineTestsAcceptsAdditions(t *testing.T) {
	t.Parallel()
	const (
		rust   = "fn f() -> i32 { 1 }\n\n#[cfg(test)]\nmod tests {\n    use super::*;\n\n    #[test]\n    fn one() {\n        assert_eq!(f(), 1);\n    }\n\n    #[test]\n    fn two() {}\n}\n"
		fresh  = "    #[test]\n    fn new() {\n        assert!(f() > 0, \"{\");\n    }\n"
		python = "def ago(seconds):\n    \"\"\"How long ago.\n\n    >>> ago(5)\n    '5 seconds ago'\n    >>> ago(3600)\n    '1 hour ago'\n    \"\"\"\n    return 1\n"
	)
	for name, c := range map[string]struct {
		file string
		edit []string
		want bool
	}{
		"at the end":                 {"a.rs", []string{"    fn two() {}\n", "    fn two() {}\n\n" + fresh}, true},
		"between":                    {"a.rs", []string{"    #[test]\n    fn two", fresh + "\n    #[test]\n    fn two"}, true},
		"at the beginning":           {"a.rs", []string{"use super::*;\n", "use super::*;\n\n" + fresh}, true},
		"with a fix":                 {"a.rs", []string{"{ 1 }", "{ let _ = r#\"}\"{\"#; 2 }", "    fn two() {}\n", "    fn two() {}\n\n" + fresh}, true},
		"one of them is gone":        {"a.rs", []string{"    #[test]\n    fn two() {}\n", fresh}, false},
		"in a test":                  {"a.rs", []string{"        assert_eq!(f(), 1);\n", "        if true { return; }\n        assert_eq!(f(), 1);\n"}, false},
		"an attribute":               {"a.rs", []string{"    #[test]\n    fn two", fresh + "    #[ignore]\n    #[test]\n    fn two"}, false},
		"behind an attribute":        {"a.rs", []string{"    fn two", "    #[ignore]\n    fn two"}, false},
		"a name that is taken":       {"a.rs", []string{"use super::*;", "use super::*;\n    use other::f;"}, false},
		"a macro in a test":          {"a.rs", []string{"    fn two() {}\n", "    fn two() {}\n" + strings.Replace(fresh, "assert!", "macro_rules! assert_eq { () => {} }\nassert!", 1)}, false},
		"code behind the test":       {"a.rs", []string{"    fn two() {}\n", "    fn two() {}\n" + strings.Replace(fresh, "\n    }\n", "\n    } fn f() {}\n", 1)}, false},
		"helpers of new tests":       {"a.rs", []string{"use super::*;", "use super::*;\n    use std::cell::Cell;\n    use std::{cmp::Ordering, fmt};\n\n    thread_local!(static N: Cell<usize> = const { Cell::new(0) });\n\n    #[derive(Clone, PartialEq)]\n    struct Counted(u64);\n\n    impl fmt::Debug for Counted {\n        fn fmt(&self, w: &mut fmt::Formatter) -> fmt::Result { todo!() }\n    }\n\n    fn numbers(n: usize) -> Vec<u64> {\n        vec![0; n]\n    }\n"}, true},
		"an import of all":           {"a.rs", []string{"use super::*;", "use super::*;\n    use fake::*;"}, false},
		"an import by another name":  {"a.rs", []string{"use super::*;", "use super::*;\n    use fake::g as f;"}, false},
		"a fake beside the tests":    {"a.rs", []string{"    fn two() {}\n", "    fn two() {}\n    fn f() -> i32 { 1 }\n"}, false},
		"an attribute of a helper":   {"a.rs", []string{"    fn two() {}\n", "    fn two() {}\n    #[no_mangle]\n    fn g() -> i32 { 1 }\n"}, false},
		"code of an old helper":      {"a.rs", []string{"use super::*;", "use super::*; const X: i32 = 3;", "fn two() {}", "fn two() { }"}, false},
		"a lint of all":              {"a.rs", []string{"fn f()", "#![warn(missing_docs)]\n\nfn f()"}, true},
		"an attribute of all":        {"a.rs", []string{"fn f()", "#![no_std]\n\nfn f()"}, false},
		"a macro beside":             {"a.rs", []string{"fn f()", "macro_rules! assert_eq { () => {} }\nfn f()"}, false},
		"what looks like a comment":  {"a.rs", []string{"    fn two() {}\n", "    fn two() {}\n" + strings.Replace(fresh, `"{"`, `"src/**"`, 1)}, true},
		"a comment of documentation": {"a.rs", []string{"    fn two() {}\n", "    /** two */\n    fn two() {}\n"}, false},
		"a module of more":           {"a.rs", []string{"fn f()", "#[cfg(test)]\nmod more {\n" + fresh + "}\nfn f()"}, true},
		"one more behind":            {"a.py", []string{"    '1 hour ago'\n", "    '1 hour ago'\n    >>> ago(60)\n    '1 minute ago'\n"}, true},
		"and in another function":    {"a.py", []string{"def ago", "def zero():\n    \"\"\"\n    >>> zero()\n    0\n    \"\"\"\n\n\ndef ago"}, true},
		"before them":                {"a.py", []string{"    >>> ago(5)", "    >>> ago = str\n    >>> ago(5)"}, false},
		"an expected line":           {"a.py", []string{"'1 hour ago'", "'3600 seconds ago'"}, false},
		"more expected of the last":  {"a.py", []string{"'1 hour ago'\n", "'1 hour ago'\n    ...\n"}, false},
		"one gone":                   {"a.py", []string{"    >>> ago(3600)\n    '1 hour ago'\n", ""}, false},
		"a test function":            {"a.py", []string{"def ago", "def test_ago():\n    pass\n\n\ndef ago"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			was := rust
			if c.file == "a.py" {
				was = python
			}
			now := strings.NewReplacer(c.edit...).Replace(was)
			if got := testdiff.OnlyAddsInlineTests(c.file, []byte(was), []byte(now)); got != c.want {
				t.Errorf("%t, want %t, for\n%s\n%q\n%q", got, c.want, now, testdiff.InlineTests(c.file, []byte(was)), testdiff.InlineTests(c.file, []byte(now)))
			}
		})
	}
}

func TestProgramOmitsTestModules(t *testing.T) {
	t.Parallel()
	const lib = "fn a() {}\n"
	for file, want := range map[string]string{"a.rs": lib, "a.py": lib + "#[cfg(test)]\nmod tests {\n    fn b() {}\n}"} {
		if got := string(testdiff.Program(file, []byte(lib+"#[cfg(test)]\nmod tests {\n    fn b() {}\n}"))); got != want {
			t.Errorf("%s: %q", file, got)
		}
	}
}

// Tests that moved to another file are there still; one that was changed on its way is not.
func TestInlineTestsMayMoveBetweenFiles(t *testing.T) {
	t.Parallel()
	const (
		one = "    #[test]\n    fn one() {\n        assert_eq!(f(), 1);\n    }\n"
		two = "    #[test]\n    fn two() {\n        assert_eq!(g(), 2);\n    }\n"
	)
	module := func(tests string) []byte {
		return []byte("#[cfg(test)]\nmod tests {\n    use super::*;\n\n" + tests + "}\n")
	}
	before := testdiff.InlineTests("lib.rs", module(one+two))
	for name, c := range map[string]struct {
		lib, other string
		want       bool
	}{
		"one of them": {one, two, true},
		"both":        {"", one + two, true},
		"and another": {one, two + "    #[test]\n    fn new() {}\n", true},
		"changed":     {one, strings.Replace(two, "2)", "3)", 1), false},
		"a fake":      {one, two + "    fn g() -> i32 { 2 }\n", false},
	} {
		after := append(testdiff.InlineTests("lib.rs", module(c.lib)), testdiff.InlineTests("other.rs", module(c.other))...)
		if got := testdiff.OnlyAddsTests(before, after); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
