package sign_test

import (
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/sign"
)

func TestWeakTestsAreNamed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ file, before, after, want string }{
		{"test/LimiterTest.java", "", "class LimiterTest {\n    public static void main(String[] a) {\n        f();\n        System.out.println(\"3 checks passed\");\n    }\n}\n", "asserts nothing"},
		{"test/LimiterTest.java", "", "class LimiterTest {\n    public static void main(String[] a) {\n        if (f() != 3) System.exit(1);\n    }\n}\n", ""},
		{"tests/conftest.py", "", "import pytest\n", ""},
		{"test_a.py", "x = 1\n", "x = 1\ny = f()\n", ""},
		{"test_a.py", "", "def test_a():\n    f()\n", "asserts nothing"},
		{"example_test.go", "", "package a_test\n\nfunc ExampleF() {\n\ta.F(os.Stdout)\n\t// Output:\n\t// mail\n}\n", ""},
		{"example_test.go", "", "package a_test\n\nfunc ExampleF() {\n\ta.F(os.Stdout)\n}\n", "asserts nothing"},
		{"bench_test.go", "", "package a\n\nfunc BenchmarkF(b *testing.B) {\n\tfor b.Loop() {\n\t\tf(1)\n\t}\n}\n", ""},
		{"a.rs", "", "assert_eq!(is_valid(n), is_valid(&n.replace(' ', \"\")));\n", "compares a function with itself"},
		{"a_test.go", "", "if got := f(1); got != 2 {\n\tt.Fatal(got)\n}\nif f(2) != f(3) {\n\tt.Fatal()\n}\n", "compares a function with itself"},
		{"a.test.js", "", "expect(slug('a b')).toBe(slug('a  b'));\n", "compares a function with itself"},
		{"a.test.js", "", "expect(slug('a b')).toBe('a-b');\n", ""},
		{"a_test.go", "", "func TestA(t *testing.T) {\n\tif got, want := is_valid(1), 2; got != want {\n\t\tt.Error(got)\n\t}\n}\n", ""},
		{"test_a.py", "", "def test_a():\n    expected = is_valid('a')\n    assert is_valid('a') == expected\n", "expects what the function gives that it tests"},
		{"test_a.c", "", "assert(f(s, 0) && f(s, 1));\n", ""},
		{"a.rs", "", "assert_eq!((r.f(), r.f()), (Some(1), None));\nassert_eq!(r.f(), model.f());\n", ""},
	} {
		var does []string
		for _, s := range sign.NewChange(c.file, []byte(c.before), []byte(c.after)).WeakTestSigns([]string{"f", "A.slug", "is_valid"}) {
			does = append(does, s.Does)
		}
		if got := strings.Join(does, "; "); got != c.want {
			t.Errorf("%s\n%s\n\t%q, want %q", c.file, c.after, got, c.want)
		}
	}
	if found := sign.NewChange("a_test.go", nil, []byte("if f(2) != f(3) {\n")).WeakTestSigns(nil); len(found) > 0 && found[0].Does != "asserts nothing" {
		t.Error("the work has no function of that name", found)
	}
}

func TestInvisibleCharactersAreNamed(t *testing.T) {
	t.Parallel()
	for text, line := range map[string]int{"\ufeffa\nb\n": 0, "a\nb\u200b\n": 2, "a \u202e b\n": 1, "👨\u200d👩 ä\n": 0} {
		found := sign.Unreadable("de.json", nil, []byte(text))
		if got := len(found); (got > 0) != (line > 0) || got > 0 && found[0].Line != line {
			t.Errorf("%q: %v", text, found)
		}
		if found := sign.Unreadable("de.json", []byte(text), []byte(text)); len(found) > 0 {
			t.Error("it was there", found)
		}
	}
}

func TestLinesThatNobodyReadsAreNamed(t *testing.T) {
	t.Parallel()
	long := "x = 1; " + strings.Repeat(" ", 2000) + "os._exit(0)\n"
	for file, want := range map[string]bool{"a.py": true, "a.json": false, "app.min.js": false, "dist/app.js": false} {
		if found := sign.Unreadable(file, nil, []byte("a\n"+long)); (len(found) > 0) != want || want && found[0].Line != 2 {
			t.Errorf("%s: %v", file, found)
		}
	}
	if found := sign.Unreadable("a.py", []byte(long), []byte(long)); len(found) > 0 {
		t.Error("it was there", found)
	}
}
