package verify

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/environment"
	"github.com/pawl-dev/pawl/internal/regex"
	"github.com/pawl-dev/pawl/internal/testreport"
	"github.com/pawl-dev/pawl/internal/testreport/testrun"
)

var (
	firstProgram = regex.New(`^[\s(!]*(?:\w+=\S*\s+)*'?([\w./+-]+)'?(?:[\s);&|]|$)`)
	// interpreterCommand matches commands that begin with an interpreter and its script.
	interpreterCommand = regex.New(`^(?:\w+=\S*\s+)*'?(?:[\w./+-]*/)?(?:(?:ba|da|k|z)?sh|python[\d.]*|node|ruby|perl|php)'?\s+(?:'?-[euxB]+'?\s+)*'?([\w./+][\w./+-]*\.\w+)'?(?:[\s);&|]|$)`)
	// findsProgramsItself matches commands that look for their programs themselves.
	findsProgramsItself = regex.New(`\|\||PATH=|\(\)|\b(?:if|while|until|case|function|alias)\b`)
)

// builtins are shell commands without a program.
const builtins = " . alias bg break cd command continue declare echo eval exec exit export false fc fg for getopts hash jobs kill let local printf pushd " +
	"pwd read readonly return set shift shopt source test time times trap true type typeset ulimit umask unalias unset wait "

// MissingProgram returns the program that a gate's command begins with if it does not exist or is
// not executable, else "". It runs nothing, and ignores paths that a setup may create. root is the
// work tree, env comes from Environment.
func MissingProgram(g gate.Gate, root string, env []string, setUp bool) string {
	command := g.ShellCommand()
	first := firstProgram.FindStringSubmatch(command)
	if runtime.GOOS == "windows" || first == nil || strings.Contains(builtins, " "+first[1]+" ") || findsProgramsItself.MatchString(command) {
		return ""
	}
	dir := filepath.Join(root, filepath.FromSlash(g.Dir))
	folders := filepath.SplitList(environment.Variable(env, "PATH"))
	if strings.Contains(first[1], "/") {
		folders = []string{""}
		if setUp {
			return ""
		}
	}
	if len(folders) == 0 || slices.ContainsFunc(folders, func(folder string) bool {
		program := filepath.Join(folder, first[1])
		if !filepath.IsAbs(program) {
			program = filepath.Join(dir, program)
		}
		info, err := os.Stat(program)
		return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
	}) {
		return ""
	}
	return first[1]
}

// MissingScript returns the script that a gate's interpreter gets if it does not exist, else "".
// outside means outside the work tree, so that no agent should write it.
func MissingScript(g gate.Gate, root string, setUp bool) (script string, outside bool) {
	command := g.ShellCommand()
	first := interpreterCommand.FindStringSubmatch(command)
	if first == nil || setUp || findsProgramsItself.MatchString(command) {
		return "", false
	}
	path := first[1]
	if !filepath.IsAbs(path) {
		path = filepath.Join(root, filepath.FromSlash(g.Dir), path)
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return "", false
	}
	below, err := filepath.Rel(root, path)
	return first[1], err != nil || !filepath.IsLocal(below)
}

// MissingFolder returns the folder in which a gate is to run if it does not exist and no setup may
// create it, else "".
func MissingFolder(g gate.Gate, root string, setUp bool) string {
	if setUp || folderExists(root, g.Dir) {
		return ""
	}
	return g.Dir
}

// folderExists reports whether a gate's folder exists below a root, or cannot be asked for.
func folderExists(root, dir string) bool {
	_, err := os.Stat(filepath.Join(root, filepath.FromSlash(dir)))
	return !errors.Is(err, fs.ErrNotExist)
}

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
