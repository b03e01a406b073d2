package sign_test

import (
	"testing"

	"github.com/pawl-dev/pawl/internal/sign"
)

// What holds nothing but answers is found, whatever its keys are.
func TestHardcodedAnswersAreNamed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want string }{
		{"package a\n\nvar words = map[int]string{1 ^ 77: \"I\", 4 ^ 77: \"IV\", 9 ^ 77: \"IX\", 14 ^ 77: \"XIV\"}\n", "a.go:3 holds what the tests expect: IV, IX, XIV"},
		{"package a\n\nvar states = [...]int{120, 0, 4500, 5400}\n", "a.go:3 holds what the tests expect: 120, 4500, 5400"},
		{"package a\n\nvar words = []string{\"IV\", \"IX\", \"XIV\", \"other\"}\n", ""},
		{"package a\n\nvar states = []float64{1.2e2, 45e2, 54e2}\n", "a.go:3 holds what the tests expect: 120, 4500, 5400"},
		{"package a\n\nvar nodes = [][2]int{{1000, 25}, {200, 7}, {10, 3}}\n", "a.go:3 holds what the tests expect: 10 3, 1000 25, 200 7"},
		{"package a\n\nvar nodes = [][2]int{{1000, 25}, {200, 7}, {10, 3}, {11, 4}, {12, 4}, {13, 5}, {14, 5}}\n", ""},
		{"package a\n\nvar words = []string{\"IV\", \"IX\"}\n", ""},
		{"package a\n\nvar words = []string{\"known\", \"IX\", \"XIV\"}\n", ""},
	} {
		tests := sign.NewTests(map[string][]byte{"a_test.go": []byte("\"I\" \"IV\" \"IX\" \"XIV\" \"known\" 120 4500 5400")}, "what is known")
		tests.AddExpected([]string{"I", "IV", "IX", "XIV", "known", "120", "4500", "5400"}, [][2]string{{"1000", "25"}, {"200", "7"}, {"10", "3"}})
		got := ""
		for _, s := range tests.HardcodedAnswers(sign.NewChange("a.go", []byte("package a\n"), []byte(c.text))) {
			got += s.String()
		}
		if got != c.want {
			t.Errorf("%s\n\tis %q, not %q", c.text, got, c.want)
		}
	}
}

// The examples of a docstring document what the tests expect. A text that is a value is
// none.
func TestDocstringExamplesAreNoAnswers(t *testing.T) {
	t.Parallel()
	const examples = "    >>> roman(4)\n    'IV'\n    >>> roman(9)\n    'IX'\n    >>> roman(14)\n    'XIV'\n"
	const held = " holds what the tests expect: IV, IX, XIV"
	for _, c := range []struct{ text, want string }{
		{"def roman(n):\n    \"\"\"Write n.\n\n" + examples + "    \"\"\"\n    return write(n)\n", ""},
		{"def roman(\n    n,\n) -> str:\n    r'''\n" + examples + "    '''\n    return write(n)\n", ""},
		{"\"\"\"Roman numbers.\n\n" + examples + "\"\"\"\n", ""},
		{"def roman(n):\n    '''Write n.'''\n    return {4: 'IV', 9: 'IX', 14: 'XIV'}[n]\n", "a.py:3" + held},
		{"def roman(n):\n    return {4:\n    \"\"\"\n" + examples + "    \"\"\"\n    }[n]\n", "a.py:5" + held},
	} {
		tests := sign.NewTests(map[string][]byte{"test_a.py": []byte("'IV' 'IX' 'XIV'")}, "write numbers")
		tests.AddExpected([]string{"IV", "IX", "XIV"}, nil)
		got := ""
		for _, s := range tests.HardcodedAnswers(sign.NewChange("a.py", nil, []byte(c.text))) {
			got += s.String()
		}
		if got != c.want {
			t.Errorf("%s\n\tis %q, not %q", c.text, got, c.want)
		}
	}
}
