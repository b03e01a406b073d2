package config

import (
	"cmp"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/core/shell"
	"github.com/pawl-dev/pawl/internal/regex"
)

// Suggest returns test commands for use as gates, the likeliest first. It derives them from the
// files at root. If it finds none and there is exactly one project below root, it returns that
// project's command. It only reads files, and searches the PATH for the name of Python.
func Suggest(root string) []string {
	if found := suggestAt(root); len(found) > 0 {
		return found
	}
	if below := Subprojects(root); len(below) == 1 {
		return []string{below[0].Command}
	}
	return nil
}

// suggestAt returns the test commands of the projects in a folder.
func suggestAt(root string) []string {
	var out []string
	for _, p := range suggesters {
		if command := p(root); command != "" {
			out = append(out, command)
		}
	}
	return out
}

// suggesters holds functions that each return the test command of one kind of project, or "". The
// targets of make and just come last: they are less certain.
var suggesters = [...]func(root string) string{
	commandByFile("go.mod", "go test ./..."),
	commandByFile("Cargo.toml", "cargo test"),
	packageScriptCommand,
	commandByFile("deno.json", "deno test", "deno.jsonc", "deno test"),
	pythonTestCommand,
	commandByFile("mix.exs", "mix test"),
	rubyCommand,
	composerCommand,
	commandByFile("gradlew", "./gradlew test", "build.gradle", "gradle test", "build.gradle.kts", "gradle test",
		"mvnw", "./mvnw -q test", "pom.xml", "mvn -q test"),
	dotnetCommand,
	commandByFile("Package.swift", "swift test"),
	commandByFile("pubspec.yaml", "dart test"),
	commandByFile("build.zig", "zig build test"),
	commandByTarget("make test", "GNUmakefile", "makefile", "Makefile"),
	commandByTarget("just test", "justfile", "Justfile", ".justfile"),
}

// commandByFile returns a function that returns the command of the first existing file. The
// arguments are pairs of a file and its command.
func commandByFile(filesAndCommands ...string) func(root string) string {
	return func(root string) string {
		for pair := range slices.Chunk(filesAndCommands, 2) {
			if hasFile(root, pair[0]) {
				return pair[1]
			}
		}
		return ""
	}
}

// packageScriptCommand returns the command that runs the test script of package.json. The lock file
// decides the package manager; the default is npm.
func packageScriptCommand(root string) string {
	var pkg struct {
		Scripts map[string]string `json:"scripts"`
	}
	if json.Unmarshal(readIfExists(root, "package.json"), &pkg) != nil {
		return ""
	}
	script := pkg.Scripts["test"]
	if script == "" || strings.Contains(script, "no test specified") { // npm init writes this
		return ""
	}
	manager := commandByFile("pnpm-lock.yaml", "pnpm test", "yarn.lock", "yarn test", "bun.lock", "bun run test", "bun.lockb", "bun run test")
	return cmp.Or(manager(root), "npm test")
}

// pythonTestCommand returns the test command of a Python project. It is pytest if a file names
// pytest or the tests do not import unittest. Otherwise it is unittest if there are tests.
// pytest runs with the tool of the lock file (uv, poetry), or else with pythonInterpreter.
func pythonTestCommand(root string) string {
	project := string(readIfExists(root, "pyproject.toml"))
	pytest := hasFile(root, "pytest.ini") || hasFile(root, "conftest.py") || hasFile(root, "tests/conftest.py") ||
		strings.Contains(project+string(readIfExists(root, "requirements.txt"))+string(readIfExists(root, "requirements-dev.txt"))+
			string(readIfExists(root, "setup.cfg"))+string(readIfExists(root, "tox.ini")), "pytest")
	test := firstPythonTest(root, ".", "tests", "test")
	unittest := strings.Contains(test, "import unittest") || strings.Contains(test, "from unittest import")
	declared := (project != "" || hasFile(root, "setup.py")) && (hasFile(root, "tests") || hasFile(root, "test"))
	switch {
	case pytest && hasFile(root, "uv.lock"):
		return "uv run pytest"
	case pytest && hasFile(root, "poetry.lock"):
		return "poetry run pytest"
	case pytest || test != "" && !unittest:
		return pythonInterpreter(root) + " -m pytest"
	case unittest || declared:
		return pythonInterpreter(root) + " -m unittest discover" + startOption(root)
	}
	return ""
}

// firstPythonTest returns the text of the first Python test file in the folders, or "".
func firstPythonTest(root string, folders ...string) string {
	for _, folder := range folders {
		names, err := filepath.Glob(filepath.Join(root, folder, "test_*.py"))
		if err == nil && len(names) > 0 {
			return string(readIfExists(filepath.Dir(names[0]), filepath.Base(names[0])))
		}
	}
	return ""
}

// startOption returns the option that names the test folder, if the folder is not a package. unittest
// does not find such a folder by itself.
func startOption(root string) string {
	for _, folder := range []string{"tests", "test"} {
		if hasFile(root, folder) && !hasFile(root, folder+"/__init__.py") {
			return " -s " + folder
		}
	}
	return ""
}

// pythonInterpreter returns the interpreter of the virtual environment in .venv or venv. Without
// one, it returns python, or python3 if only that is on the PATH, as on Debian and macOS.
func pythonInterpreter(root string) string {
	for _, interpreter := range []string{".venv/bin/python", "venv/bin/python"} {
		if hasFile(root, interpreter) {
			return interpreter
		}
	}
	if _, err := exec.LookPath("python"); err != nil {
		if _, err := exec.LookPath("python3"); err == nil {
			return "python3"
		}
	}
	return "python"
}

func rubyCommand(root string) string {
	if !hasFile(root, "Gemfile") {
		return ""
	}
	runner := commandByFile(".rspec", "bundle exec rspec", "spec", "bundle exec rspec", "bin/rails", "bin/rails test", "Rakefile", "bundle exec rake test")
	return runner(root)
}

func composerCommand(root string) string {
	var project struct {
		Scripts map[string]any `json:"scripts"`
	}
	if json.Unmarshal(readIfExists(root, "composer.json"), &project) != nil {
		return ""
	}
	if _, ok := project.Scripts["test"]; ok {
		return "composer test"
	}
	if hasFile(root, "phpunit.xml") || hasFile(root, "phpunit.xml.dist") {
		return "vendor/bin/phpunit"
	}
	return ""
}

func dotnetCommand(root string) string {
	entries, err := os.ReadDir(root)
	if err == nil && slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		return slices.Contains([]string{".sln", ".slnx", ".csproj", ".fsproj"}, filepath.Ext(e.Name()))
	}) {
		return "dotnet test"
	}
	return ""
}

// testTarget matches a rule named test in a Makefile or a justfile. The rule may have further
// names or arguments. It does not match an assignment to a variable.
var testTarget = regex.New(`(?m)^(?:[\w.-]+ +)*test(?: [^:=\n]*)?:(?:[^=]|$)`)

// commandByTarget returns a function that returns the command if one of the files has a rule named test.
func commandByTarget(command string, files ...string) func(root string) string {
	return func(root string) string {
		if slices.ContainsFunc(files, func(name string) bool { return testTarget.Match(readIfExists(root, name)) }) {
			return command
		}
		return ""
	}
}

func hasFile(root, name string) bool {
	_, err := os.Stat(filepath.Join(root, name))
	return err == nil
}

// readIfExists returns the content of a file, or nil if it cannot be read.
func readIfExists(root, name string) []byte {
	data, err := atomicfile.Read(filepath.Join(root, name), maxFileBytes)
	if err != nil {
		return nil
	}
	return data
}

// Subproject is a project in a folder of a repository, such as a monorepo.
type Subproject struct {
	Dir     string // relative to the root, with slashes
	Command string // runs the project's tests from the root
}

// Limits of the search for projects below the root.
const (
	maxProjectDepth = 2   // maximum depth of a folder, such as packages/app
	maxFoldersRead  = 300 // maximum number of folders to read
)

// Subprojects returns the projects below root with their likeliest test command, in the order of
// their folders. It does not search inside a project for further ones.
func Subprojects(root string) []Subproject {
	var out []Subproject
	foreign := []string{"node_modules", "vendor", "third_party", "testdata", "venv", "dist", "build", "target"} // dependencies, build output
	read := 0
	var look func(dir string, depth int)
	look = func(dir string, depth int) {
		entries, err := os.ReadDir(filepath.Join(root, filepath.FromSlash(dir)))
		if err != nil { // an unreadable folder has no suggestions
			return
		}
		for _, e := range entries {
			if !e.IsDir() || strings.HasPrefix(e.Name(), ".") || slices.Contains(foreign, e.Name()) || read >= maxFoldersRead {
				continue
			}
			read++
			at := path.Join(dir, e.Name())
			if found := suggestAt(filepath.Join(root, filepath.FromSlash(at))); len(found) > 0 {
				out = append(out, Subproject{Dir: at, Command: shell.QuoteCommand([]string{"cd", at}) + " && " + found[0]})
			} else if depth < maxProjectDepth {
				look(at, depth+1)
			}
		}
	}
	look("", 1)
	return out
}
