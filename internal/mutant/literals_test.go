package mutant_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/mutant"
)

// Values are known by their number, by the variable that begins with them, or by their constant.
func TestLiteralsAreFound(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ file, after, want string }{
		{"a.go", "package a\n\nconst most = 1_000\n\nfunc F(n int) bool { return n > 20 }\n", "3 1000 constant most [1001 999], 5 20 [21 19]"},
		{"a.py", "def f(rows):\n    lost = 0\n    found = False\n    return rows, lost, found\n", "2 0 variable lost zero [1], 3 False variable found [True]"},
		{"a.py", "def f(rows):\n    lost = 0\n    for row in rows:\n        lost += row\n    return lost\n", "2 0 variable lost [1]"},
		{"a.rs", "fn f() -> u64 {\n    let mut sum: u64 = 0;\n    sum = g(sum);\n    sum\n}\n", "2 0 variable sum [1]"},
		{"a.c", "#define MOST 10\n", "1 10 constant MOST [11 9]"},
		{"a.sh", "dry=1\nname=\"$1\"\n", "1 1 variable dry []"},
	} {
		var got []string
		for _, l := range mutant.Literals(c.file, nil, []byte(c.after)) {
			text := fmt.Sprint(l.Number, " ", l.Value)
			if l.Constant != "" {
				text += " constant " + l.Constant
			}
			if l.Variable != "" {
				text += " variable " + l.Variable
			}
			if l.StaysZero {
				text += " zero"
			}
			var others []string
			for _, m := range l.Mutants {
				others = append(others, m.Text())
			}
			got = append(got, fmt.Sprint(text, " ", others))
		}
		if strings.Join(got, ", ") != c.want {
			t.Errorf("%s: %s, want %s", c.after, strings.Join(got, ", "), c.want)
		}
	}
}
