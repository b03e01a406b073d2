package verify

import (
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/regex"
	"github.com/pawl-dev/pawl/internal/testreport"
	"github.com/pawl-dev/pawl/internal/testreport/testrun"
)

// cannotStart says which program of the command is missing, or returns "". Shells exit with 126 or
// 127. Python exits with 1 for a missing test runner, and make with 2 for any failure, so their
// last lines decide. A missing program of the project may be the task.
func cannotStart(code int, tail string) string {
	last := testreport.LastLine(tail)
	if of, line := recipeFailure(tail); of != "" {
		switch absent := missingMakeProgram.FindStringSubmatch(line); {
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
		return "a command cannot be executed (exit 126)"
	case code == 1 && missingModule.MatchString(last):
		return "Python cannot find the test runner"
	}
	return ""
}

// missingModule matches CPython's message for test modules that are installed from elsewhere.
var missingModule = regex.New(`^\S*python[0-9.]*: No module named (pytest|nose2|tox|nox|coverage|behave|mypy|ruff|flake8|pylint|black)$`)

// missingMakeProgram matches the message of make, or its shell, for a missing program. A script
// prints its own name first, and may be a test.
var missingMakeProgram = regex.New(`^(?:(?:\S*/)?(?:ba|da|k|z)?sh: (?:(?:line )?\d+: )?|g?make(?:\[\d+\])?: )([\w.+-]+): (?:(?:command )?not found|No such file or directory|Permission denied)$`)

// makeEnds matches make's last lines after a failed recipe, with the exit code.
var makeEnds = regex.New(`^g?make(?:\[\d+\])?: (?:\*\*\* \[.+\] Error (\d+)|(?:Leaving directory|Target) .+)$`)

// recipeFailure returns the exit code of the failed recipe and the last line before make's own, or
// "".
func recipeFailure(tail string) (code, line string) {
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

// isTool reports whether a program is installed from elsewhere: a test runner or a checker.
func isTool(name string) bool {
	const tools = " python python2 python3 pip uv poetry pipenv hatch node npm npx pnpm yarn tsc eslint prettier ruby bundle bundler java javac php " +
		"composer perl lua cmake ninja meson bazel gcc g++ cc c++ clang clang++ rustc golangci-lint staticcheck gofmt gofumpt mypy ruff flake8 pylint " +
		"black isort coverage behave rubocop shellcheck hadolint yamllint markdownlint docker podman valgrind "
	return strings.Contains(tools, " "+name+" ") || testrun.IsRunner(name)
}
