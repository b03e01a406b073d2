package mutant_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/mutant"
)

func TestBranches(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ file, before, after, want string }{
		{
			"a.go", "package a\n\nfunc f(n int) int {\n\tif n < 0 {\n\t\treturn 1\n\t}\n\treturn n\n}\n",
			"package a\n\nfunc f(n int) int {\n\tif n < 0 {\n\t\treturn 1\n\t}\n\tif k, ok := m[n]; ok {\n\t\tuse(k)\n\t}\n\tif err != nil {\n\t\treturn 2\n\t}\n\tmu.Lock()\n\tv := n\n\treturn v\n}\n",
			"7: if k, ok := m[n]; false && ( ok) { | 8: if false { use(k) }",
		},
		{
			"a.py", "", "def f(n):\n    if n > 3:\n        self.x[n] = 3\n    elif n:\n        log(n)\n    return g(n) and n == 2\n",
			"2: if False and (n > 3): | 4: elif False and (n): | 6: return g(n) | 3: if False: self.x[n] = 3",
		},
		{
			"a.js", "", "function f(n) {\n  if (n > 3) return 1;\n  total += g(n, 'a)');\n  return n.a && !n.b;\n}\n",
			"2: if ( false && (n > 3)) return 1; | 4: return n.a; | 3: if (false) { total += g(n, 'a)'); }",
		},
		{"a.c", "", "int f(int n)\n{\n    if (n > 3) {\n        n--;\n    }\n    return n;\n}\n", "3: if (0 && (n > 3)) { | 4: if (0) { n--; }"},
		{
			"a.rs", "", "fn f(n: u8) -> bool {\n    if let Some(x) = g(n) {\n        return x;\n    }\n    if n > 3 {\n        h(n);\n    }\n    n == 2\n}\n",
			"5: if  false && (n > 3) { | 6: if false { h(n); }",
		},
		{"a.sh", "", "if true; then\n", ""},
	} {
		var got []string
		for _, b := range mutant.Branches(c.file, []byte(c.before), []byte(c.after)) {
			line := strings.Split(string(mutant.Apply([]byte(c.after), b.Mutant)), "\n")[b.Line-1]
			got = append(got, fmt.Sprintf("%d: %s", b.Line, strings.TrimSpace(line)))
		}
		if strings.Join(got, " | ") != c.want {
			t.Errorf("%s:\n\t%s\nwant\n\t%s", c.file, strings.Join(got, " | "), c.want)
		}
	}
}
