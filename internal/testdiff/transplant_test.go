package testdiff_test

import (
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/testdiff"
)

func TestTransplant(t *testing.T) {
	t.Parallel()
	const (
		before = "fn f() -> i32 { 1 }\n\n#[cfg(test)]\nmod tests {\n    use super::*;\n\n    #[test]\n    fn one() {\n        assert_eq!(f(), 1);\n    }\n\n    #[test]\n    fn two() {}\n}\n"
		fresh  = "    #[test]\n    fn new() {\n        assert!(f() > 0, \"{\");\n    }\n"
	)
	for name, c := range map[string]struct {
		edit []string
		ok   bool
	}{
		"at the end":                {[]string{"    fn two() {}\n", "    fn two() {}\n\n" + fresh}, true},
		"between":                   {[]string{"    #[test]\n    fn two", fresh + "\n    #[test]\n    fn two"}, true},
		"at the beginning":          {[]string{"use super::*;\n", "use super::*;\n\n" + fresh}, true},
		"two of them":               {[]string{"    fn two() {}\n", "    fn two() {}\n\n" + fresh + fresh}, true},
		"none":                      {nil, false},
		"one of them is gone":       {[]string{"    #[test]\n    fn two() {}\n", fresh}, false},
		"in a test":                 {[]string{"        assert_eq!(f(), 1);\n", "        if true { return; }\n        assert_eq!(f(), 1);\n"}, false},
		"an attribute":              {[]string{"    #[test]\n    fn two", fresh + "    #[ignore]\n    #[test]\n    fn two"}, false},
		"behind an attribute":       {[]string{"    fn two", "    #[ignore]\n    fn two"}, false},
		"a name that is taken":      {[]string{"use super::*;", "use super::*;\n    use other::f;"}, false},
		"a macro in a test":         {[]string{"    fn two() {}\n", "    fn two() {}\n" + strings.Replace(fresh, "assert!", "macro_rules! assert_eq { () => {} }\nassert!", 1)}, false},
		"code behind the test":      {[]string{"    fn two() {}\n", "    fn two() {}\n" + strings.Replace(fresh, "\n    }\n", "\n    } fn f() {}\n", 1)}, false},
		"another module beside":     {[]string{"fn f()", "#[cfg(test)]\nmod more {\n}\nfn f()"}, false},
		"a raw string":              {[]string{"{ 1 }", "{ let _ = r#\"x\"#; 2 }", "    fn two() {}\n", "    fn two() {}\n\n" + fresh}, true},
		"a raw string with a brace": {[]string{"{ 1 }", "{ let _ = r#\"}\"{\"#; 2 }", "    fn two() {}\n", "    fn two() {}\n\n" + fresh}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			work := strings.NewReplacer("{ 1 }", "{ 2 }")
			after := work.Replace(strings.NewReplacer(c.edit...).Replace(before))
			got, ok := testdiff.Transplant("lib.rs", []byte(before), []byte(after))
			if ok != c.ok {
				t.Fatalf("%v:\n%s", ok, got)
			}
			if ok && !(strings.Contains(string(got), "{ 1 }") && strings.Contains(string(got), "fn new()")) {
				t.Errorf("got\n%s", got)
			}
		})
	}
}

func TestProgramIsWithoutItsTests(t *testing.T) {
	t.Parallel()
	const lib = "fn a() {}\n"
	for file, want := range map[string]string{"a.rs": lib, "a.py": lib + "#[cfg(test)]\nmod tests {\n    fn b() {}\n}"} {
		if got := string(testdiff.Program(file, []byte(lib+"#[cfg(test)]\nmod tests {\n    fn b() {}\n}"))); got != want {
			t.Errorf("%s: %q", file, got)
		}
	}
}
