package mutant_test

import (
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/mutant"
)

// What is left of a file whose equalities compare all fields.
func TestEqualitiesCompareAllFields(t *testing.T) {
	t.Parallel()
	const (
		python = `next((t.__eq__(self, other) for t in type(self).__mro__ if t is not object and t.__module__ == "builtins"), type(self) is type(other) and self.__reduce_ex__(2)[1:3] == other.__reduce_ex__(2)[1:3])`
		java   = `if (o == null || o.getClass() != this.getClass()) return false;`
	)
	for _, c := range []struct{ file, before, after, want string }{
		{"a.go", "", "package a\n\nfunc (s T) Equal(o T) bool {\n\treturn true\n}\n", "package a; import pawlReflect3 \"reflect\"\n\nfunc (s T) Equal(o T) bool { if true { return pawlReflect3.DeepEqual(s, o) };\n\treturn true\n}\n"},
		{"a.go", "", "package a\n\nfunc sameRow(a, b Row) bool { return true }\n", ""},
		{"a.go", "", "package a\n\nfunc rowsEqual(a, b Row) bool { return true }\n", "DeepEqual(a, b)"},
		{"a.go", "package a\n\nfunc (s *T) Equal(o T) bool { return *s == o }\n", "package a\n\nfunc (s *T) Equal(o T) bool { return true }\n", "package a\n\nfunc (s *T) Equal(o T) bool { return *s == o }\n"},
		{"a.go", "", "package a\n\nfunc (s *T) Equal(o T) bool { return true }\n", "none"},
		{"a.go", "", "package a\n\nfunc (t T) Add(o T) bool { return true }\n", ""},
		{"a.py", "", "class M(str):\n    def __eq__(self, other):\n        \"\"\"Same.\"\"\"\n        return True\n", "\"\"\"Same.\"\"\"\n        return " + python + "\n        return True\n"},
		{"a.py", "", "class M(str):\n    def __ne__(self, other: object) -> bool:\n        return False\n", "return (" + python + ") is not True\n"},
		{"A.java", "", "class A {\n    @Override\n    public boolean equals(Object o) {\n        return true;\n    }\n}\n", java},
		{"a.rs", "", "impl PartialEq for A {\n    fn eq(&self, other: &Self) -> bool {\n        true\n    }\n}\n", `return format!("{:?}", self) == format!("{:?}", other); }`},
		{"a.rs", "", "impl PartialEq<str> for A {\n    fn eq(&self, other: &str) -> bool {\n        true\n    }\n}\n", "none"},
		{"A.java", "", "public record A(int from, int to) {\n    @Override public boolean equals(Object o) {\n        return o instanceof A a && a.from == from;\n    }\n}\n", java},
		{"Check.java", "", "class Check {\n    static void equal(Object want, Object got) {\n        if (!want.equals(got)) throw new AssertionError(got);\n    }\n}\n", ""},
		{"a.js", "", "class A {\n  equals(o) {\n    return true;\n  }\n}\n", "return JSON.stringify(this) === JSON.stringify(o);"},
		{"a.c", "int point_equal(struct p *a, struct p *b) {\n  return a->x == b->x;\n}\n", "int point_equal(struct p *a, struct p *b) {\n  return 1;\n}\n", "return a->x == b->x"},
		{"a.py", "def zip_equal(*its):\n    return zip(*its)\n", "def zip_equal(*its):\n    return zip(*its, strict=True)\n", ""},
		{"a.py", "def is_equal(a, b):\n    return a == b\n", "def is_equal(a, b):\n    return a == b  # both\n", ""},
	} {
		found := mutant.EqualityFunctions(c.file, []byte(c.before), []byte(c.after))
		var all []mutant.Mutant
		for _, f := range found {
			all = append(all, f.Mutants...)
		}
		text := string(mutant.Apply([]byte(c.after), all...))
		switch c.want {
		case "":
			if len(found) > 0 {
				t.Errorf("%s\n\tis taken for an equality: %+v", c.after, found)
			}
		case "none":
			if len(found) != 1 || len(all) > 0 {
				t.Errorf("%s\n\tis changed: %+v", c.after, found)
			}
		default:
			if len(found) != 1 || !strings.Contains(text, c.want) {
				t.Errorf("%s\n\tis %s", c.after, text)
			}
		}
	}
}
