package verify_test

import (
	"os"
	"path/filepath"
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
		globs := verify.WithNamed([]gate.Gate{{Command: command}, {Kind: gate.ByReview, Rubric: command}}, root)
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
	below := verify.WithNamed([]gate.Gate{{Command: "pytest foo.py", Dir: "checks"}}, root)
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
	behind := verify.WithNamed([]gate.Gate{{Command: "pytest"}}, root)
	if diff := cmp.Diff([]string{"suite/**"}, behind[len(verify.DefaultTests()):]); diff != "" {
		t.Errorf("behind a link: %s", diff)
	}
}
