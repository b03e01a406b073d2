package mutant_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/mutant"
)

func TestBranchesAreMutated(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ file, before, after, want string }{
		{
			"a.go", "package a\n\nfunc f(n int) int {\n\tif n < 0 {\n\t\treturn 1\n\t}\n\treturn n\n}\n",
			"package a\n\nfunc f(n int) int {\n\tif n < 0 {\n\t\treturn 1\n\t}\n\tif k, ok := m[n]; ok {\n\t\tuse(k)\n\t}\n\tif err != nil {\n\t\treturn 2\n\t}\n\tmu.Lock()\n\tv := n\n\treturn v\n}\n",
			"7: if k, ok := m[n]; false && ( ok) {",
		},
		{
			"a.py", "", "def f(n):\n    if n > 3:\n        self.x[n] = 3\n    elif n:\n        log(n)\n    return g(n) and n == 2\n",
			"2: if False and (n > 3): | 4: elif False and (n): | 6: return g(n)",
		},
		{
			"a.js", "", "function f(n) {\n  if (n > 3) return 1;\n  total += g(n, 'a)');\n  return n.a && !n.b;\n}\n",
			"2: if ( false && (n > 3)) return 1; | 4: return n.a;",
		},
		{"a.c", "", "int f(int n)\n{\n    if (n > 3) {\n        n--;\n    }\n    return n;\n}\n", "3: if (0 && (n > 3)) {"},
		{"a.c", "", "int f(struct r *r, int n)\n{\n    r->p = (char *)malloc(n);\n    if (!r->p)\n        return -1;\n    if (!r->q)\n        return -2;\n    return 0;\n}\n", "6: if (0 && (!r->q))"},
		{
			"a.rs", "", "fn f(n: u8) -> bool {\n    if let Some(x) = g(n) {\n        return x;\n    }\n    if n > 3 {\n        h(n);\n    }\n    n == 2\n}\n",
			"5: if  false && (n > 3) {",
		},
		{ // a condition that looks at nothing given has two mutants
			"a.py", "", "def f(n):\n    if not diagnostics():\n        n = 3\n    return n if n > probes() else where()\n\n\ndef g(n):\n    if MODE:\n        use(n)\n    return n if MODE else 0\n",
			"2: if False and (not diagnostics()): | 2: if True or (not diagnostics()): | 8: if False and (MODE): | 8: if True or (MODE): | 10: return n if False and (MODE) else 0 | 10: return n if True or (MODE) else 0",
		},
		{
			"a.js", "const traced = look(env);\n", "const traced = look(env);\nexport function f(max) {\n  return traced ? max : g(1, 2);\n}\nexport function h(max) {\n  const all = [];\n  return max > 2 ? all : process.platform === 'win32' ? 1 : 2;\n}\n",
			"3: return  false && (traced) ? max : g(1, 2); | 3: return  true || (traced) ? max : g(1, 2);",
		},
		{
			"a.c", "", "static int tries(void)\n{\n    return strncmp(name_of_me, \"test\", 4) == 0 ? 5 : 1;\n}\n",
			"3: return 0 && (strncmp(name_of_me, \"test\", 4) == 0) ? 5 : 1; | 3: return 1 || (strncmp(name_of_me, \"test\", 4) == 0) ? 5 : 1;",
		},
		{ // nor does one that asks what the program keeps
			"a.go", "", "package a\n\nvar on bool\n\nfunc set() {\n\ton = true\n}\n\nfunc (c *C) f() {\n\tif on {\n\t\tset()\n\t}\n\tif c.on {\n\t\tset()\n\t}\n\tif inTest() {\n\t\tset()\n\t}\n}\n",
			"10: if  false && (on) { | 13: if  false && (c.on) { | 16: if  false && (inTest()) { | 16: if  true || (inTest()) {",
		},
		{ // what only tells where the program runs is followed through variables, fields and functions
			"a.js", "", "function odd() {\n  return !String(Date.now).includes('native')\n}\nfunction f(s) {\n  if (s && odd()) {\n    return 1\n  }\n  return odd() || g(s)\n}\n",
			"5: if (s && (false && (odd()))) { | 5: if (s && (true || (odd()))) { | 5: if ( false && (s && odd())) { | 8: return (false && (odd())) || g(s) | 8: return (true || (odd())) || g(s)",
		},
		{
			"a.go", "", "package a\n\nfunc traced() bool {\n\treturn frames() > 3\n}\n\nfunc open(n int) plan {\n\treturn plan{n: n, on: traced()}\n}\n\nfunc f(n int) int {\n\tp := open(n)\n\tif p.on {\n\t\treturn 1\n\t}\n\tif p.n {\n\t\treturn 2\n\t}\n\treturn n\n}\n",
			"13: if (false && (p.on)) { | 13: if (true || (p.on)) { | 13: if  false && (p.on) { | 16: if  false && (p.n) {",
		},
		{
			"A.java", "", "class A {\n  static int f(int n) {\n    boolean seen = Walker.walk(frames ->\n      frames.map(x));\n    boolean big = n > 3;\n    if (seen) {\n      return 1;\n    }\n    return big ? 2 : 3;\n  }\n}\n",
			"6: if ((false && (seen))) { | 6: if ((true || (seen))) { | 6: if ( false && (seen)) {",
		},
		{"a.py", "", "def f(n):\n    m = load(n)\n    k = load(m)\n    if k and n:\n        return 1\n    return 2\n", "4: if False and (k and n):"},
		{"a.rs", "", "fn f(n: char) -> u8 {\n    match n {\n        'a' => 1,\n        'b' | 'c' => 2,\n        other => 3,\n    }\n}\n", "3: 'a' if false => 1, | 4: 'b' | 'c' if false => 2,"},
		{"a.py", "", "def f(n):\n    match n:\n        case 'a' | 'b':\n            return 1\n        case _:\n            return 2\n", "3: case 'a' | 'b' if False:"},
		{"a.sh", "", "if [ $# -lt 2 ]; then\n  x=1\nelif [ -e \"$dir/a\" ]; then\n", "3: elif false && { [ -e \"$dir/a\" ]; }; then"},
	} {
		var got []string
		for _, b := range mutant.Branches(c.file, []byte(c.before), []byte(c.after)) {
			line := strings.Split(string(mutant.Apply([]byte(c.after), b.Mutant)), "\n")[b.Number-1]
			got = append(got, fmt.Sprintf("%d: %s", b.Number, strings.TrimSpace(line)))
		}
		if strings.Join(got, " | ") != c.want {
			t.Errorf("%s:\n\t%s\nwant\n\t%s", c.file, strings.Join(got, " | "), c.want)
		}
	}
}
