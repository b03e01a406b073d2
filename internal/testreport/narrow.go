package testreport

import (
	"path"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/shell"
	"github.com/pawl-dev/pawl/internal/regex"
	"github.com/pawl-dev/pawl/internal/testreport/testrun"
)

// OnlyTests narrows a shell command to the tests with these ids, even if a script of package.json
// or a Makefile starts the runner. It returns false for an unknown runner, for several runners, and
// if the command already selects tests. A runner that matches a part of a name may run more tests.
// files reads the files of the folder that the command runs in.
func OnlyTests(command string, ids []string, files func(path string) ([]byte, error)) (string, bool) {
	runs := testrun.Read(command, files)
	if len(runs) != 1 || len(ids) == 0 || len(runs[0].Words) == 0 || files == nil {
		return command, false
	}
	words := runs[0].Words
	switch runnerOf(runs[0], files) {
	case "go":
		if tests, ok := testNames(ids); ok && !hasFlag(words, "run", "test.run", "skip", "c", "bench", "fuzz", "args") {
			return `export GOFLAGS="$(go env GOFLAGS) -run=^(` + strings.Join(tests, "|") + `)$"; ` + command, true
		}
	case "pytest":
		if tests, ok := testNames(ids); ok && !hasFlag(words, "k") {
			return `export PYTEST_ADDOPTS="$PYTEST_ADDOPTS -k '` + strings.Join(tests, " or ") + `'"; ` + command, true
		}
	case "unittest":
		if tests, ok := testNames(ids); ok && !hasFlag(words, "k") {
			return appendArguments(command, runs[0], files, " -k "+strings.Join(tests, " -k "))
		}
	case "cargo":
		if tests, ok := testNames(ids); ok && !slices.ContainsFunc(words[2:], func(w string) bool { return !strings.HasPrefix(w, "-") || w == "--" }) {
			return appendArguments(command, runs[0], files, " -- "+strings.Join(tests, " "))
		}
	case "jest", "vitest":
		if !hasFlag(words, "t", "testNamePattern") {
			return appendArguments(command, runs[0], files, " -t "+shell.QuoteCommand([]string{titlePattern(ids)}))
		}
	case "mocha":
		if !hasFlag(words, "g", "grep", "f", "fgrep") {
			return appendArguments(command, runs[0], files, " -g "+shell.QuoteCommand([]string{titlePattern(ids)}))
		}
	case "node":
		if !hasFlag(words, "test-name-pattern", "test-only", "test-skip-pattern") {
			return narrowNode(command, runs[0], files, " --test-name-pattern="+shell.QuoteCommand([]string{titlePattern(ids)}))
		}
	}
	return command, false
}

// runnerOf returns the runner of a call. Scripts of Python and Node.js are recognized by their
// text.
func runnerOf(c testrun.Call, files func(path string) ([]byte, error)) string {
	own, mark := "", ""
	switch shell.CommandName(c.Words[0]) {
	case "python":
		own, mark = "unittest", "unittest.main("
	case "node":
		own, mark = "node", "node:test"
	}
	if own == "" || own == "node" && c.Runner == own {
		return c.Runner
	}
	if slices.ContainsFunc(c.Words[1:], func(word string) bool {
		text, err := files(path.Join(c.Dir, word))
		return err == nil && strings.Contains(string(text), mark)
	}) {
		return own
	}
	return ""
}

// narrowNode adds an option to a run of Node.js, which expects options before file names.
func narrowNode(command string, c testrun.Call, files func(path string) ([]byte, error), option string) (string, bool) {
	if all := simpleCommands(command); len(all) == 1 && all[0].words[0] == "node" {
		return command[:all[0].ends[0]] + option + command[all[0].ends[0]:], true
	}
	if slices.ContainsFunc(c.Words[1:], func(w string) bool { return !strings.HasPrefix(w, "-") }) {
		return command, false
	}
	return appendArguments(command, c, files, option)
}

// appendArguments adds arguments for the runner that the command starts last. The command starts it
// directly, or by a script of package.json that does nothing else.
func appendArguments(command string, c testrun.Call, files func(path string) ([]byte, error), arguments string) (string, bool) {
	all := simpleCommands(command)
	if len(all) == 0 || len(all[len(all)-1].words) == 0 {
		return command, false
	}
	last := all[len(all)-1]
	words, end := last.words, last.ends[len(last.ends)-1]
	if !slices.Contains(packageManagers, words[0]) {
		if len(words) < len(c.Words) || !slices.Equal(words[len(words)-len(c.Words):], c.Words) {
			return command, false
		}
		return command[:end] + arguments + command[end:], true
	}
	name := packageScript(words)
	text, err := files("package.json")
	if name == "" || c.Dir != "" || err != nil {
		return command, false
	}
	script := testrun.PackageScripts(text)[name]
	inner := simpleCommands(script)
	if len(inner) != 1 || slices.Contains(packageManagers, inner[0].words[0]) || slices.Contains(inner[0].words, "--") || len(testrun.Read(script, files)) != 1 {
		return command, false
	}
	if words[0] == "npm" {
		arguments = " --" + arguments
	}
	return command[:end] + arguments + command[end:], true
}

var packageManagers = []string{"npm", "pnpm", "yarn"}

// packageScript returns the script of package.json that a package manager runs. It returns "" if
// there is no script or if the script gets arguments.
func packageScript(words []string) string {
	switch rest := words[1:]; {
	case len(rest) == 1 && (rest[0] == "test" || rest[0] == "t"):
		return "test"
	case len(rest) == 2 && (rest[0] == "run" || rest[0] == "run-script"):
		return rest[1]
	}
	return ""
}

var (
	goTestID   = regex.New(`\.((?:Test|Fuzz|Example)\w*)(?:/|$)`) // pkg.TestX/case
	identifier = regex.New(`^\w+$`)
)

// testNames returns the names of tests in their source files, from their ids.
func testNames(ids []string) ([]string, bool) {
	var names []string
	for _, id := range ids {
		name, ok := testName(id)
		if !ok {
			return nil, false
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names, true
}

func testName(id string) (string, bool) {
	if m := goTestID.FindStringSubmatch(id); m != nil {
		return m[1], true
	}
	id, _, _ = strings.Cut(id, " (")
	id, _, _ = strings.Cut(id, "[")
	name := strings.TrimSpace(id[strings.LastIndexAny(id, ".:>")+1:])
	return name, identifier.MatchString(name)
}

// titlePattern returns a regular expression that matches the titles of JavaScript tests and of
// their suites, because some runners match each title separately.
func titlePattern(ids []string) string {
	var parts []string
	for _, id := range ids {
		for part := range strings.SplitSeq(id, " > ") {
			if part = gate.TitlePattern(part); !slices.Contains(parts, part) {
				parts = append(parts, part)
			}
		}
	}
	return strings.Join(parts, "|")
}

func hasFlag(words []string, names ...string) bool {
	return slices.ContainsFunc(words[1:], func(w string) bool {
		flag, _, _ := strings.Cut(strings.TrimLeft(w, "-"), "=")
		joined := strings.HasPrefix(w, "-k") && slices.Contains(names, "k") // -kNAME
		return strings.HasPrefix(w, "-") && (joined || slices.Contains(names, flag))
	})
}
