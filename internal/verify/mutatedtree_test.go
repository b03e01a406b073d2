//go:build unix

package verify_test

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/agent/agenttest"
	"github.com/pawl-dev/pawl/internal/core/gate"
)

// A test that is red on the tree of before for want of a name, or of a parameter, proves
// nothing by that.
func TestMissingNameInTheOldTreeProvesNothing(t *testing.T) {
	t.Parallel()
	const (
		limit = "package calc\n\nconst Limit = 100\n\nfunc Add(a, b int) int { return min(a+b, Limit) }\n"
		more  = "package calc\n\nfunc Add(a, b int, more ...int) int {\n\tfor _, n := range more {\n\t\ta += n\n\t}\n\treturn a + b\n}\n"
		pair  = "package calc\n\ntype Pair struct{ A, B int }\n\nfunc (p Pair) Sum() int { return p.A + p.B }\n"
		field = "package calc\n\ntype Pair struct{ A, B, C int }\n\nfunc (p Pair) Sum() int { return p.A + p.B + p.C }\n"
	)
	for name, c := range agenttest.Some(map[string]struct {
		work, test string
		want       gate.Evidence
	}{
		"a constant alone":          {limit, "if Limit < 1 || Add(1, 2) < 0 {\n\t\tt.Error(\"1+2\")\n\t}", gate.Unproven},
		"what a constant is for":    {limit, "if Add(Limit, 2) != Limit {\n\t\tt.Error(\"limit\")\n\t}", gate.Proven},
		"a parameter alone":         {more, "if Add(1, 2, 3) < 0 {\n\t\tt.Error(\"1+2+3\")\n\t}", gate.Unproven},
		"a field alone":             {field, "if (Pair{C: 1}).Sum() < 0 {\n\t\tt.Error(\"1\")\n\t}", gate.Unproven},
		"what the field is for":     {field, "if (Pair{C: 1}).Sum() != 1 {\n\t\tt.Error(\"1\")\n\t}", gate.Proven},
		"what the parameter is for": {more, "if Add(1, 2, 3) != 6 {\n\t\tt.Error(\"1+2+3\")\n\t}", gate.Proven},
	}, 2) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before := calc()
			before["pair.go"] = pair
			b := newBench(t, before, nil)
			file := "calc.go"
			if c.work == field {
				file = "pair.go"
			}
			v := b.claim(gates("go test ./..."), files{file: c.work, "new_test.go": testFile("TestNew", c.test)}, nil).Verdict
			if v.Status != gate.Pass || v.Evidence != c.want {
				t.Errorf("%s %s: %s", v.Status, v.Evidence, v.Reason)
			}
		})
	}
}

// Where a broken function does not build, since no value of its type is known, it takes zero
// values instead.
func TestUnbuildableMutantReturnsZeroValues(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("c++"); err != nil {
		agenttest.Lacks(t, "there is no compiler of C++: %v", err)
	}
	const (
		box   = "struct box { int n; explicit box(int of) : n(of) {} };\n"
		boxed = box + "box boxed(int n) { return box(n); }\n"
		both  = boxed + "int twice(int n) { return 2 * n; }\n"
		test  = "#include <cstdio>\n#include \"calc.cc\"\nint main() { if (%s) { puts(\"not ok twice\"); return 1; } puts(\"ok twice\"); return 0; }\n"
	)
	for name, c := range map[string]struct {
		work, compares string
		want           gate.Evidence
	}{
		"the others are tested": {both, "boxed(1).n != 1 || twice(2) != 4", gate.Proven},
		"neither is":            {both, "boxed(1).n > 9 || twice(2) > 4", gate.Unproven},
		"it takes zero values":  {boxed, "boxed(1).n != 1", gate.Proven},
		"and nobody looks":      {boxed, "boxed(1).n > 9", gate.Unproven},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, files{"calc.cc": box, "run.sh": "for t in test_*.cc; do [ ! -f $t ] || { c++ -o /tmp/t-$$ $t && /tmp/t-$$; } || exit 1; done\n"}, nil)
			v := b.claim(gates("sh run.sh"), files{"calc.cc": c.work, "test_twice.cc": fmt.Sprintf(test, c.compares)}, nil).Verdict
			if v.Status != gate.Pass || v.Evidence != c.want {
				t.Errorf("%s %s: %s", v.Status, v.Evidence, v.Reason)
			}
		})
	}
}

// Old text does not fit types that the work changed: then the function returns zero values.
func TestUnbuildableOldTextReturnsZeroValues(t *testing.T) {
	t.Parallel()
	const (
		before = "package kept\n\nvar all = map[string]string{}\n\nfunc Set(name, value string) { all[name] = value }\n\nfunc Get(name string) string { return all[name] }\n"
		after  = "package kept\n\nvar all = map[string][]string{}\n\nfunc Set(name, value string) { all[name] = append(all[name], value) }\n\n" +
			"func Get(name string) string {\n\tif n := len(all[name]); n > 0 {\n\t\treturn all[name][n-1]\n\t}\n\treturn \"\"\n}\n\nfunc Count(name string) int { return len(all[name]) }\n"
		test = "package kept\n\nimport \"testing\"\n\nfunc TestKept(t *testing.T) {\n\tSet(\"a\", \"1\")\n\tif %s {\n\t\tt.Error(\"kept\")\n\t}\n}\n"
	)
	for compares, want := range map[string]gate.Evidence{
		`Get("a") != "1" || Count("a") != 1`: gate.Proven,
		`Get("a") == "x" || Count("a") > 9`:  gate.Unproven,
	} {
		t.Run(compares, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, files{"go.mod": "module kept\n\ngo 1.21\n", "kept.go": before}, nil)
			v := b.claim(gates("go test ./..."), files{"kept.go": after, "kept_test.go": fmt.Sprintf(test, compares)}, nil).Verdict
			if v.Status != gate.Pass || v.Evidence != want {
				t.Errorf("%s %s: %s", v.Status, v.Evidence, v.Reason)
			}
		})
	}
}

// A helper's old text stays callable under another name, so that its restored callers build.
func TestOldHelperStaysCallable(t *testing.T) {
	t.Parallel()
	const (
		before = "package calc\n\nimport \"strconv\"\n\nfunc Label(n int) string { return text(n) }\n\nfunc text(n int) string { return strconv.Itoa(n) }\n"
		after  = "package calc\n\nimport \"strconv\"\n\nfunc Label(n int) string { return text(n, n%2 != 0) }\n\n" +
			"func text(n int, marked bool) string {\n\tif marked {\n\t\treturn strconv.Itoa(n) + \"!\"\n\t}\n\treturn strconv.Itoa(n)\n}\n"
		mark = "\nconst Mark = \"!\"\n"
	)
	for name, c := range agenttest.Some(map[string]struct {
		work, test string
		want       gate.Evidence
	}{
		"what the parameter is for": {after, `Label(7) != "7!"`, gate.Proven},
		"what was so before":        {after, `Label(4) != "4"`, gate.Unproven},
		"beside a name":             {after + mark, `Label(7) != "7"+Mark`, gate.Proven},
		"beside a name, as it was":  {after + mark, `Label(4)+Mark != "4"+Mark`, gate.Unproven},
	}, 2) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, files{"go.mod": "module calc\n\ngo 1.21\n", "label.go": before}, nil)
			test := testFile("TestNew", "if "+c.test+" {\n\t\tt.Error(\"label\")\n\t}")
			v := b.claim(gates("go test ./..."), files{"label.go": c.work, "new_test.go": test}, nil).Verdict
			if v.Status != gate.Pass || v.Evidence != c.want {
				t.Errorf("%s %s: %s", v.Status, v.Evidence, v.Reason)
			}
		})
	}
}

// A new source stays in the list of a Makefile, so that what uses it links.
func TestNewSourceStaysInTheMakefile(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"make", "cc"} {
		if _, err := exec.LookPath(tool); err != nil {
			agenttest.Lacks(t, "there is no %s: %v", tool, err)
		}
	}
	const (
		makefile = "SRCS = one.c\n\ntest: $(patsubst %_test.c,%_test,$(wildcard *_test.c))\n\t@for t in $^; do ./$$t || exit 1; done\n\n%_test: %_test.c $(SRCS)\n\t$(CC) -o $@ $< $(SRCS)\n"
		test     = "int %[1]s(int);\nint main(void) { return %s; }\n"
	)
	for compares, want := range map[string]gate.Evidence{"thrice(4) != 12": gate.Proven, "thrice(4) == 99": gate.Unproven} {
		t.Run(compares, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, files{".gitignore": "*_test\n", "Makefile": makefile, "one.c": "int one(int n) { return n; }\n", "one_test.c": fmt.Sprintf(test, "one", "one(1) != 1")}, nil)
			v := b.claim(gates("make -s test"), files{
				"Makefile": strings.Replace(makefile, "one.c", "one.c thrice.c", 1), "thrice.c": "int thrice(int n) { return 3 * n; }\n", "thrice_test.c": fmt.Sprintf(test, "thrice", compares),
			}, nil).Verdict
			if v.Status != gate.Pass || v.Evidence != want {
				t.Errorf("%s %s: %s", v.Status, v.Evidence, v.Reason)
			}
		})
	}
}

// A trait of Rust's library. Cargo writes its lock file beside, whose old version is no mutant.
func TestRustTraitImplementationsAreMutated(t *testing.T) {
	t.Parallel()
	needs(t, "cargo")
	const (
		was     = "#[derive(Debug, PartialEq)]\npub struct Length(pub u8);\n"
		display = was + "\nuse std::fmt;\n\nimpl fmt::Display for Length {\n    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {\n        write!(f, \"{} m\", self.0)\n    }\n}\n"
		add     = was + "\nuse std::ops::Add;\n\nimpl Add for Length {\n    type Output = Length;\n\n    fn add(self, other: Length) -> Length {\n        Length(self.0 + other.0)\n    }\n}\n"
		test    = "use units::Length;\n\n#[test]\nfn shows() {\n    %s;\n}\n"
	)
	for name, c := range map[string]struct {
		work, test string
		want       gate.Evidence
		why        string
	}{
		"compared":                {display, `assert_eq!(Length(9).to_string(), "9 m")`, gate.Proven, ""},
		"called":                  {display, `assert_ne!(Length(9).to_string(), "x")`, gate.Unproven, "do not check it"},
		"of a type without zeros": {add, "assert_eq!(Length(9) + Length(1), Length(10))", gate.Unproven, "does not build"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, files{
				".gitignore": "target/\n", "src/lib.rs": was, "Cargo.toml": "[package]\nname = \"units\"\nversion = \"0.2.0\"\nedition = \"2021\"\n",
				"Cargo.lock": "version = 3\n\n[[package]]\nname = \"units\"\nversion = \"0.2.0\"\n",
			}, nil)
			lock := "version = 4\n\n[[package]]\nname = \"units\"\nversion = \"0.2.0\"\n"
			v := b.claim(gates("cargo test --offline -q"), files{"src/lib.rs": c.work, "tests/shows.rs": fmt.Sprintf(test, c.test), "Cargo.lock": lock}, nil).Verdict
			if v.Status != gate.Pass || v.Evidence != c.want || !strings.Contains(v.Reason, c.why) {
				t.Errorf("%s %s: %s", v.Status, v.Evidence, v.Reason)
			}
		})
	}
}

// What data that was there turned green is not the work of functions that changed beside it.
func TestDataChangeDoesNotProveFunctions(t *testing.T) {
	t.Parallel()
	const (
		limited = "limit, _ := os.ReadFile(flag.Arg(0))\n\tif Add(60, 60) > len(limit) {\n\t\tt.Error(string(limit))\n\t}"
		clamps  = "package calc\n\nfunc Add(a, b int) int { return min(a+b, 100) }\n"
		idle    = "package calc\n\nfunc Add(a, b int) int { return b + a }\n"
	)
	for name, c := range map[string]struct {
		work, limit string
		want        gate.Evidence
	}{
		"the limit is raised":              {idle, strings.Repeat("x", 1000), gate.Unproven},
		"the function keeps within it":     {clamps, strings.Repeat("x", 101), gate.Proven},
		"the limit alone, as nobody asked": {calc()["calc.go"], strings.Repeat("x", 1000), gate.Proven},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before := calc()
			before["limit.txt"] = strings.Repeat("x", 100)
			before["limit_test.go"] = strings.Replace(testFile("TestLimit", limited), `import "testing"`, "import (\n\t\"flag\"\n\t\"os\"\n\t\"testing\"\n)", 1)
			if name == "the function keeps within it" {
				before["limit.txt"] = "x"
			}
			b := newBench(t, before, nil)
			v := b.claim(gates("go test . -args limit.txt"), files{"calc.go": c.work, "limit.txt": c.limit}, nil).Verdict
			if v.Status != gate.Pass || v.Evidence != c.want {
				t.Errorf("%s %s: %s", v.Status, v.Evidence, v.Reason)
			}
		})
	}
}
