package verify

import (
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/regex"
	"github.com/pawl-dev/pawl/internal/testreport/testrun"
)

// cannotStart says that a program which the command calls is not there, "" where nothing
// tells so: by the exit codes of shells, or by what Python says last of a test runner
// behind -m, since it exits with 1, as tests that fail do. make exits with 2 for either,
// so its last lines tell. A program or module of the project may be yet to write.
func cannotStart(code int, tail string) string {
	last := lastLine(tail)
	if of, line := beneathMake(tail); of != "" {
		switch absent := absentProgram.FindStringSubmatch(line); {
		case (of == "127" || of == "126") && absent != nil && isTool(absent[1]):
			return "make did not find " + absent[1]
		case of != "1":
			return ""
		}
		code, last = 1, line
	}
	switch {
	case code == 127:
		return "a command was not found (exit 127)"
	case code == 126:
		return "a command could not be executed (exit 126)"
	case code == 1 && absentModule.MatchString(last):
		return "Python does not find what runs the tests"
	}
	return ""
}

// absentModule matches the message of CPython's runpy, with modules that run tests and come
// from elsewhere.
var absentModule = regex.New(`^\S*python[0-9.]*: No module named (pytest|nose2|tox|nox|coverage|behave|mypy|ruff|flake8|pylint|black)$`)

// absentProgram matches what make, or the shell of one of its recipes, says of a program
// that it does not find. A script says its own name in front, and may be a test.
var absentProgram = regex.New(`^(?:(?:\S*/)?(?:ba|da|k|z)?sh: (?:(?:line )?\d+: )?|g?make(?:\[\d+\])?: )([\w.+-]+): (?:(?:command )?not found|No such file or directory|Permission denied)$`)

// makeEnds matches the lines with which make ends after a recipe failed, with its exit code.
var makeEnds = regex.New(`^g?make(?:\[\d+\])?: (?:\*\*\* \[.+\] Error (\d+)|(?:Leaving directory|Target) .+)$`)

// beneathMake returns the exit code of the recipe for which make ended, and the last line
// before make's own; "" where make did not end so.
func beneathMake(tail string) (code, line string) {
	lines := strings.Split(strings.TrimSpace(tail), "\n")
	for _, l := range slices.Backward(lines) {
		l = strings.TrimSpace(l)
		ends := makeEnds.FindStringSubmatch(l)
		if ends == nil {
			return code, l
		}
		if ends[1] != "" {
			code = ends[1]
		}
	}
	return code, ""
}

// isTool reports whether a program comes from elsewhere than the project: what runs
// tests, or checks sources.
func isTool(name string) bool {
	const tools = " python python2 python3 pip uv poetry pipenv hatch node npm npx pnpm yarn tsc eslint prettier ruby bundle bundler java javac php " +
		"composer perl lua cmake ninja meson bazel gcc g++ cc c++ clang clang++ rustc golangci-lint staticcheck gofmt gofumpt mypy ruff flake8 pylint " +
		"black isort coverage behave rubocop shellcheck hadolint yamllint markdownlint docker podman valgrind "
	return strings.Contains(tools, " "+name+" ") || testrun.IsRunner(name)
}
