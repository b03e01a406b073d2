package mutant_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/mutant"
)

// Each line of the file is new; what conditions make of it is shown by TestBranchesAreMutated.
func TestLinesAreLeftOut(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		file, after string
		want        []string
	}{
		{
			"a.go", "package a\n\nfunc f(n int) int {\n\tv := g(n)\n\tm[n] = v\n\tdelete(m, n)\n\tdefer mu.Unlock()\n\tfmt.Println(n)\n\tch <- T{\n\t\tn: v,\n\t}\n\tt = T{n: v}\n\tuse(func() {\n\t\tuse(v)\n\t})\n\treturn g(v)\n}\n",
			[]string{
				"6 f: if false { delete(m, n) }", "7 f: if false { defer mu.Unlock() }",
				"5 f: if false { m[n] = v }", "12 f: if false { t = T{n: v} }", "13 f: if false { use(func() {", "14 f: if false { use(v) }",
			},
		},
		{
			"a.py", "def f(n):\n    with self.lock:\n        self.x[n] = 3\n    log(n)\n    del self.y[n]\n    shutil.rmtree(\n        n,\n        True,\n    )\n    if n:\n        raise Bad(n)\n    return g(n)\n",
			[]string{
				"2 f: if True:", "5 f: if False: del self.y[n]", "6 f: if False: shutil.rmtree(", "11 f: if False: raise Bad(n)",
				"3 f: if False: self.x[n] = 3", "3 f: self.x[n] = 4", "8 f: False,",
			},
		},
		{
			"a.js", "class A {\n  save(n) {\n    this.n = n;\n    await fs.rename(n, m)\n      .then(g);\n    delete this.m[n];\n  }\n}\n",
			[]string{"4 A.save: if (false) { await fs.rename(n, m)", "6 A.save: if (false) { delete this.m[n]; }", "3 A.save: if (false) { this.n = n; }"},
		},
		{
			"a.rs", "fn f(n: &Path) -> io::Result<()> {\n    fs::remove_dir_all(n)?;\n    let a = g(n)\n        .h(n);\n    self.all.push(a);\n    n.h(a)\n}\n\n#[cfg(test)]\nmod tests {\n    const N: u8 = 4;\n}\n",
			[]string{"2 f: if false { fs::remove_dir_all(n)?; }", "5 f: if false { self.all.push(a); }"},
		},
		{
			"a.rs", "fn f(n: u64) -> u64 {\n    let n = u64::from(n as u32);\n    let mut m: u64 = n;\n    g(m)\n}\n",
			[]string{"2 f: if false { let n = u64::from(n as u32); }"},
		},
		{
			"A.java", "class A {\n  synchronized void f(int n) {\n    this.n = n;\n    synchronized (this) {\n      map.put(n, 2);\n    }\n  }\n}\n",
			[]string{"4 A.f: if (true) {", "3 A.f: if (false) { this.n = n; }", "5 A.f: if (false) { map.put(n, 2); }", "5 A.f: map.put(n, 3);"},
		},
		{
			"a.cpp", "#include <a1>\nconst int most = 5;\nvoid f(int n)\n{\n    std::lock_guard<std::mutex> hold(mu);\n    hits[n] += most;\n    for (int i = 0; i < n; i++) g(i);\n    h(n,\n      3);\n}\n",
			[]string{"5 f: ;", "6 f: if (0) { hits[n] += most; }", "8 f: if (0) { h(n,", "2 : const int most = 6;", "9 f: 4);"},
		},
		{
			"a.sh", "dir=$1\nprune() {\n  cd \"$dir\" || exit 1\n  rm -f -- \"$old\"\n  echo \"deleted $old\"\n  gzip \"a b\" | tee c &&\n    mv c d # now\n}\nif [ $# -lt 2 ]; then\n  prune 2\nfi\n",
			[]string{"4 prune: if false; then rm -f -- \"$old\"", "7 prune: if false; then mv c d # now", "10 : if false; then prune 2", "9 : if [ $# -le 2 ]; then"},
		},
	} {
		var got []string
		for _, l := range mutant.Lines(c.file, nil, []byte(c.after)) {
			line := strings.Split(string(mutant.Apply([]byte(c.after), l.Mutant)), "\n")[l.Number-1]
			if l.Mutant.Does != "never holds" {
				got = append(got, fmt.Sprintf("%d %s: %s", l.Number, l.Function, strings.TrimSpace(line)))
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", c.file, diff)
		}
	}
}

func TestLinesHaveOtherValues(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"return s.slice(1, 80)": "has 81 for 80", "if (n >= 10_000) {": "has 10001 for 10_000, has > for >=", "t = 1.5 * n": "has 2 for 1",
		"x = a1 + 0x20": "", "for (i = 0; i < n; i++) {": "", "while (n > 3) {": "", "return '3'": "", "console.log(3)": "", `return s.replace(/[^a-z0-9]+/g, c)`: "", "a < b": "has <= for <", "open(p, true)": "has false for true",
	} {
		var does []string
		for _, l := range mutant.Lines("a.js", nil, []byte("function f(n) {\n  "+line+"\n}\n")) {
			if strings.HasPrefix(l.Mutant.Does, "has ") {
				does = append(does, l.Mutant.Does)
			}
		}
		if got := strings.Join(does, ", "); got != want {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
	}
}

func TestNameAtFindsTheFunction(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		file, content string
		line          int
		want          string
	}{
		{"a.go", "package a\n\nfunc f() {\n\tg()\n}\n", 4, "f"},
		{"a.go", "package a\n\nvar table = map[string]int{\n\t\"a\": 1,\n\n\t\"b\": 2,\n}\n", 6, "table"},
		{"A.java", "class A {\n    private static final Map<Integer, A> ALL = Map.of(\n            1, new A());\n}\n", 3, "ALL"},
		{"a.py", "class A:\n    RATES: dict[str, int] = {\n        'a': 1,\n    }\n", 3, "RATES"},
		{"a.py", "class A:\n    x = 1\n", 2, ""},
		{"a.c", "static const int days[12] = {\n\t31, 28,\n};\n", 2, "days"},
		{"a.sh", "f() {\n  g\n}\nh\n", 2, "f"},
		{"a.sh", "f() {\n  g\n}\nh\n", 4, ""},
		{"a.js", "if (a == b(\n  c))\n  d();\n", 2, ""},
	} {
		if got := mutant.NameAt(c.file, []byte(c.content), c.line); got != c.want {
			t.Errorf("%s:%d: %q, want %q", c.file, c.line, got, c.want)
		}
	}
}
