package testrun

import (
	"path"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/shell"
)

// readCommand reads the words of a simple command. It follows wrappers, shells and scripts to the test
// runs.
func (r *reader) readCommand(words []string, f flow) {
	if r.reached != nil {
		r.walk(shell.QuoteCommand(words))
		return
	}
	if r.tooDeep() {
		return
	}
	r.depth++
	defer func() { r.depth-- }()
	if len(words) == 0 || words[0] == "" {
		return
	}
	name := strings.TrimSuffix(path.Base(words[0]), ".exe")
	if rest, ok := shell.Unwrap(words); ok {
		f.HasTimeLimit = f.HasTimeLimit || strings.HasSuffix(name, "timeout")
		if name == "coverage" && !slices.Contains(words[:len(words)-len(rest)], "-m") {
			rest = append([]string{"python"}, rest...)
		}
		r.readCommand(rest, f)
		return
	}
	switch name {
	case "cd", "pushd":
		if len(words) > 1 && words[1] != "" {
			if r.dir = path.Join(r.dir, words[1]); path.IsAbs(words[1]) {
				r.dir = words[1]
			}
		}
	case "bash", "sh", "zsh", "dash", "ksh":
		r.readShell(words, f)
	case "eval":
		r.readScript(strings.Join(words[1:], " "), f)
	case "npm", "pnpm", "yarn", "bun", "run-s", "run-p", "npm-run-all":
		r.readPackageManager(name, words, f)
	case "make", "gmake":
		r.readMake(words, f)
	default:
		r.readRunner(name, words, f)
	}
}

// readShell reads `bash -c SCRIPT` and `bash FILE`.
func (r *reader) readShell(words []string, f flow) {
	inner := f
	inner.applyOptions(words[1:])
	rest := words[1:]
	for len(rest) > 0 && strings.HasPrefix(rest[0], "-") {
		if strings.HasSuffix(rest[0], "c") && !strings.HasPrefix(rest[0], "--") {
			if len(rest) > 1 {
				r.readScript(rest[1], inner)
			}
			return
		}
		if strings.HasSuffix(rest[0], "o") {
			rest = rest[min(1, len(rest)-1):]
		}
		rest = rest[1:]
	}
	if len(rest) > 0 {
		r.addScriptFile(rest, words, f)
	}
}

// addScriptFile adds a script that a program runs. Its output decides whether it is a test run, if its
// name does not say so.
func (r *reader) addScriptFile(rest, words []string, f flow) {
	if rest[0] == "" {
		return
	}
	program := strings.TrimRight(path.Base(words[0]), "0123456789.")
	r.add(Call{Runner: scriptRunners[program], FromScript: true, Words: words, IsTestRun: isTestName(strings.TrimSuffix(path.Base(rest[0]), path.Ext(rest[0]))) || path.Ext(rest[0]) == ".t"}, f)
}

// scriptRunners maps an interpreter to the runner that its test scripts usually use.
var scriptRunners = map[string]string{"python": "unittest", "ruby": "minitest"}

// isTestName reports whether a name means tests: test, test:unit, run-tests, sum_test. A part that
// means something else (test:lint) has priority.
func isTestName(name string) bool {
	found := false
	for _, part := range strings.FieldsFunc(strings.ToLower(name), func(c rune) bool { return strings.ContainsRune(":._-/ ", c) }) {
		switch part {
		case "test", "tests", "spec", "specs", "e2e", "unit", "units", "integration", "unittest", "unittests",
			"jest", "vitest", "mocha", "pytest", "playwright", "cypress", "phpunit", "rspec", "bats", "ctest", "ava", "jasmine":
			found = true
		case "lint", "build", "compile", "format", "fmt", "typecheck", "types", "setup", "install", "clean", "report", "ui", "serve", "prepare", "deps", "data", "server":
			return false
		}
	}
	return found
}
