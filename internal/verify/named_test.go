package verify_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/verify"
)

// A file that a gate names to its test runner is a test, wherever it lies; what is a
// source, an option's value or a folder is not made one.
func TestFilesThatGatesNameAreTests(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for command, want := range map[string][]string{
		"pytest checks/foo.py":                     {"checks/foo.py"},
		"pytest -q checks/foo.py::test_a":          {"checks/foo.py"},
		"python3 -m pytest checks/foo.py | tail":   {"checks/foo.py"},
		"node --test checks/x.js checks/y.mjs":     {"checks/x.js", "checks/y.mjs"},
		"cd web && npx jest --ci checks/x.ts":      {"web/checks/x.ts"},
		"npx vitest run checks/x.ts && true":       {"checks/x.ts"},
		"pytest checks":                            nil,
		"pytest tests/test_a.py":                   nil, // it is one anyway
		"pytest -c checks/pytest.py":               nil,
		"pytest --doctest-modules src/a.py":        nil,
		"npx jest --findRelatedTests src/a.ts":     nil,
		"npx jest --config jest.config.js":         nil,
		"node --test checks/*.js":                  nil,
		"go test ./x":                              nil,
		"go test x.go y.go":                        nil,
		"zig test src/main.zig":                    nil,
		"eslint src/a.js":                          nil,
		"pytest ../other/foo.py /elsewhere/foo.py": nil,
		"pytest --junitxml=out.xml out.xml":        nil,
		"pytest $FILE":                             nil,
	} {
		globs := verify.TestsOfGates([]gate.Gate{{Command: command}, {Kind: gate.ByReview, Rubric: command}}, root)
		var got []string
		if globs != nil {
			got = globs[len(verify.DefaultTests()):]
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: %s", command, diff)
		}
		for _, file := range want {
			if !verify.IsTest(globs, file) || verify.IsTest(nil, file) {
				t.Errorf("%q: %s", command, file)
			}
		}
	}
	below := verify.TestsOfGates([]gate.Gate{{Command: "pytest foo.py", Dir: "checks"}}, root)
	if !verify.IsTest(below, "checks/foo.py") || verify.IsTest(below, "foo.py") || !verify.IsTest(below, "tests/test_a.py") {
		t.Errorf("%q", below)
	}
	if err := os.MkdirAll(filepath.Join(root, "suite"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{"tests": "suite", "lib": "suite/lib", "test": "../elsewhere"} {
		if err := os.Symlink(to, filepath.Join(root, name)); err != nil {
			t.Skipf("there are no symbolic links: %v", err)
		}
	}
	behind := verify.TestsOfGates([]gate.Gate{{Command: "pytest"}}, root)
	if diff := cmp.Diff([]string{"suite/**"}, behind[len(verify.DefaultTests()):]); diff != "" {
		t.Errorf("behind a link: %s", diff)
	}
}

// What an interpreter runs may be what is checked: its name tells, where it is given
// nothing to work on.
func TestScriptsRunByInterpretersAreTests(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for name, text := range map[string]string{
		"check.py": "x\n", "main.py": "x\n", "web/scripts/verify-all.mjs": "x\n", "lint.rb": "x\n", "recheck.py": "x\n", "gated.py": "x\n",
		"web/package.json": `{"scripts": {"test": "node scripts/verify-all.mjs"}}`,
	} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for command, want := range map[string][]string{
		"python3 check.py": {"check.py"},
		"set -e; timeout 9 python3 ./check.py && ruby lint.rb": {"check.py", "lint.rb"},
		"cd web && npm test":                   {"web/scripts/verify-all.mjs"},
		"python3 check.py data.json":           nil, // it may be the product
		"python3 main.py":                      nil,
		"python3 recheck.py; python3 gated.py": nil,
		"python3 -m check":                     nil,
		"python3 gone/check.py":                nil,
	} {
		globs := verify.TestsOfGates([]gate.Gate{{Command: command}}, root)
		if got := globs[min(len(globs), len(verify.DefaultTests())):]; !slices.Equal(got, want) {
			t.Errorf("%s: %q checks, want %q", command, got, want)
		}
	}
}

// Scripts that a gate runs one after another are tests, wherever they lie.
func TestScriptsThatGatesRunInALoop(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	if err := os.MkdirAll(filepath.Join(root, "app", "t"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "app", "all.sh"), []byte("for c in cases/*.sh; do sh $c || exit 1; done\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		command string
		want    bool
	}{
		{"cd app && sh all.sh", true},
		{"sh app/all.sh", false},                              // it runs cases/*.sh
		{"for f in app/cases/*.sh; do sh -n $f; done", false}, // their syntax only
		{"for f in app/cases/*.sh; do sh $f --help; done", false},
		{"for f in app/cases/*.sh; do bash --norc $f || x=1; done", true},
		{"for f in app/cases/*.sh; do sh $f | grep -q ok; done", false},
		{"for f in app/cases/*.sh; do $f >/dev/null || x=1; done", true},
		{"run() { sh \"$1\" > out.log 2>&1 || exit 1; }; for f in app/cases/*.sh; do run $f; done", true},
		{"find app -name '*.sh' | sort | while read -r f; do sh \"$f\"; done", true},
		{"find app/cases -type f -print0 | xargs -0 -n1 sh", true},
		{"find app/cases -name '*.sh' | xargs cat", false},
		{"for f in app/cases/*; do python3 $f || exit 1; done", true},
		{"for f in app/cases/*; do python3 -m py_compile $f; done", false},
	} {
		if got := verify.IsTest(verify.TestsOfGates([]gate.Gate{{Command: c.command}}, root), "app/cases/a.sh"); got != c.want {
			t.Errorf("%s: a test: %v, want %v", c.command, got, c.want)
		}
	}
	below := verify.TestsOfGates([]gate.Gate{{Command: "./run", Dir: "app"}}, root)
	if !verify.IsTest(below, "app/t/a.sh") || verify.IsTest(below, "lib/t/a.sh") {
		t.Errorf("t is a folder of tests where a gate runs: %q", below)
	}
}

// The checks that a Makefile compiles by a pattern are tests: the next one needs no line in it.
func TestChecksThatAMakefileFindsByPattern(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	const text = "check: $(patsubst %.c,%,$(wildcard check_*.c))\n\t./check_a\n\nall: $(wildcard *.c)\n"
	if err := os.WriteFile(filepath.Join(root, "Makefile"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	globs := verify.TestsOfGates([]gate.Gate{{Command: "make check"}}, root)
	for file, want := range map[string]bool{"check_a.c": true, "a.c": false, "lib/check_a.c": false} {
		if got := verify.IsTest(globs, file); got != want {
			t.Errorf("%s: a test: %v, want %v", file, got, want)
		}
	}
}
