package testreport_test

import (
	"io/fs"
	"testing"

	"github.com/pawl-dev/pawl/internal/testreport"
)

func TestOnlyTestsNarrowsTheCommand(t *testing.T) {
	t.Parallel()
	const goAB = `export GOFLAGS="$(go env GOFLAGS) -run=^(TestA|TestB)$"; `
	const pytestAB = `export PYTEST_ADDOPTS="$PYTEST_ADDOPTS -k 'TestA or TestB'"; `
	files := func(file string) ([]byte, error) {
		text, ok := map[string]string{
			"Makefile":  "test:\n\tgo test ./...\nboth:\n\tgo test ./...\n\tpytest\npy:\n\tpython3 -m unittest\n",
			"test_a.py": "import unittest\nunittest.main()\n",
			"test_b.py": "print('ok')\n",
		}[file]
		if !ok {
			return nil, fs.ErrNotExist
		}
		return []byte(text), nil
	}
	for command, want := range map[string]string{
		"go test ./...":                           goAB + "go test ./...",
		"go test -race ./... -count=1":            goAB + "go test -race ./... -count=1",
		"go test -run TestA ./...":                "",
		"go test ./... -run=TestA":                "",
		"go test ./... && go vet ./...":           goAB + "go test ./... && go vet ./...",
		"go test ./a && go test ./b":              "",
		"make test":                               goAB + "make test",
		"make both":                               "",
		"./check.sh":                              "",
		"npm test":                                "",
		"pytest -q":                               pytestAB + "pytest -q",
		"python3 -m pytest tests":                 pytestAB + "python3 -m pytest tests",
		"pytest -k sums":                          "",
		"pytest -ksums":                           "",
		"python3 -m unittest -v":                  "python3 -m unittest -v -k TestA -k TestB",
		"python3.11 -m unittest -q -k x":          "",
		"python3 -m unittest discover -s tests; ": "python3 -m unittest discover -s tests -k TestA -k TestB; ",
		"ruff check . && python3 -m unittest":     "ruff check . && python3 -m unittest -k TestA -k TestB",
		"python3 -m unittest && ruff check .":     "",
		"make py":                                 "",
		"python3 -B test_a.py":                    "python3 -B test_a.py -k TestA -k TestB",
		"python3 test_b.py":                       "",
		"python3 manage.py test":                  "",
		"python3 run.py -m unittest":              "",
		"cargo test":                              "cargo test -- TestA TestB",
		"cargo test --quiet":                      "cargo test --quiet -- TestA TestB",
		"cargo test sums":                         "",
	} {
		got, ok := testreport.OnlyTests(command, []string{"calc.TestA", "example.com/calc.TestB/a case", "calc.TestA/b.c", "t::TestB[1-2]", "TestA (t.TestA)"}, files)
		if ok != (want != "") || ok && got != want || !ok && got != command {
			t.Errorf("%s: %q %v, want %q", command, got, ok, want)
		}
	}
	for _, names := range [][]string{nil, {"a case with blanks"}, {"TestA", ""}, {"a/b"}} {
		if got, ok := testreport.OnlyTests("go test ./...", names, files); ok {
			t.Errorf("%q: %s", names, got)
		}
	}
}

// Titles of JavaScript tests are quoted for regular expressions. Scripts of package.json pass
// arguments to the runner.
func TestOnlyTestsOfJavaScript(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ script, command, want string }{
		{"", "node --test", `node --test-name-pattern='sums|adds a\.b' --test`},
		{"", "node --test test/sum.test.js", `node --test-name-pattern='sums|adds a\.b' --test test/sum.test.js`},
		{"", "node --import tsx sum.test.js", `node --test-name-pattern='sums|adds a\.b' --import tsx sum.test.js`},
		{"", "node other.js", ""},
		{"", "npx jest --ci", `npx jest --ci -t 'sums|adds a\.b'`},
		{"", "npx jest -t other", ""},
		{"", "npx mocha", `npx mocha -g 'sums|adds a\.b'`},
		{"node --test", "npm test", `npm test -- --test-name-pattern='sums|adds a\.b'`},
		{"node --test test/", "npm test", ""},
		{"vitest run", "npm run test", `npm run test -- -t 'sums|adds a\.b'`},
		{"vitest run", "pnpm test", `pnpm test -t 'sums|adds a\.b'`},
		{"jest && eslint .", "npm test", ""},
		{"jest -- a", "npm test", ""},
		{"jest", "npm test -- sum.test.js", ""},
		{"npm run unit", "npm test", ""},
		{"jest", "npm ci && npm test", `npm ci && npm test -- -t 'sums|adds a\.b'`},
		{"jest", "npm test && npm run unit", ""},
		{"jest", "cd web && npm test", ""},
		{"node sum.test.js", "npm test", ""},
	} {
		files := func(file string) ([]byte, error) {
			switch file {
			case "package.json":
				return []byte(`{"scripts": {"unit": "jest", "test": "` + c.script + `"}}`), nil
			case "sum.test.js":
				return []byte("const test = require('node:test');\n"), nil
			}
			return nil, fs.ErrNotExist
		}
		got, ok := testreport.OnlyTests(c.command, []string{"sums > adds a.b"}, files)
		if ok != (c.want != "") || ok && got != c.want {
			t.Errorf("%s (%s): %q %v, want %q", c.command, c.script, got, ok, c.want)
		}
	}
}
