package config

import (
	"cmp"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/regex"
)

// Suggest lists the commands that the files at root imply as gates, the likeliest
// first; none if they imply nothing. Where those at the root imply nothing and there is
// one project below it, those of that project count. It only reads, and asks the PATH for
// the name of Python.
func Suggest(root string) []string {
	if found := suggestAt(root); len(found) > 0 {
		return found
	}
	if below := SuggestBelow(root); len(below) == 1 {
		return []string{below[0].Command}
	}
	return nil
}

// suggestAt lists the commands that the files in a folder imply.
func suggestAt(root string) []string {
	var out []string
	for _, p := range projects {
		if command := p(root); command != "" {
			out = append(out, command)
		}
	}
	return out
}

// projects know one sort of project each and answer "" for others. A Makefile's
// own target comes after what is sure to be right.
var projects = [...]func(root string) string{
	fileMeans("go.mod", "go test ./..."),
	fileMeans("Cargo.toml", "cargo test"),
	packageScript,
	fileMeans("deno.json", "deno test", "deno.jsonc", "deno test"),
	python,
	fileMeans("mix.exs", "mix test"),
	ruby,
	composer,
	fileMeans("gradlew", "./gradlew test", "build.gradle", "gradle test", "build.gradle.kts", "gradle test",
		"mvnw", "./mvnw -q test", "pom.xml", "mvn -q test"),
	dotnet,
	fileMeans("Package.swift", "swift test"),
	fileMeans("pubspec.yaml", "dart test"),
	fileMeans("build.zig", "zig build test"),
	targetIn("make test", "GNUmakefile", "makefile", "Makefile"),
	targetIn("just test", "justfile", "Justfile", ".justfile"),
}

// fileMeans suggests a command by the first of some files that is there; each stands before
// its command.
func fileMeans(filesAndCommands ...string) func(root string) string {
	return func(root string) string {
		for pair := range slices.Chunk(filesAndCommands, 2) {
			if has(root, pair[0]) {
				return pair[1]
			}
		}
		return ""
	}
}

// packageScript is the test script of package.json, run by the package manager
// whose lock file is there.
func packageScript(root string) string {
	var pkg struct {
		Scripts map[string]string `json:"scripts"`
	}
	if json.Unmarshal(read(root, "package.json"), &pkg) != nil {
		return ""
	}
	script := pkg.Scripts["test"]
	if script == "" || strings.Contains(script, "no test specified") { // what npm init writes
		return ""
	}
	manager := fileMeans("pnpm-lock.yaml", "pnpm test", "yarn.lock", "yarn test", "bun.lock", "bun run test", "bun.lockb", "bun run test")
	return cmp.Or(manager(root), "npm test")
}

// python is pytest where something names it or the tests are plain functions, else
// unittest where there are tests, in the environment that is there: that of the tool
// whose lock file is there, or of the folder .venv or venv.
func python(root string) string {
	project := string(read(root, "pyproject.toml"))
	pytest := has(root, "pytest.ini") || has(root, "conftest.py") || has(root, "tests/conftest.py") ||
		strings.Contains(project+string(read(root, "requirements.txt"))+string(read(root, "requirements-dev.txt"))+
			string(read(root, "setup.cfg"))+string(read(root, "tox.ini")), "pytest")
	test := firstTest(root, ".", "tests", "test")
	unittest := strings.Contains(test, "import unittest") || strings.Contains(test, "from unittest import")
	declared := (project != "" || has(root, "setup.py")) && (has(root, "tests") || has(root, "test"))
	switch {
	case pytest && has(root, "uv.lock"):
		return "uv run pytest"
	case pytest && has(root, "poetry.lock"):
		return "poetry run pytest"
	case pytest || test != "" && !unittest:
		return pythonCommand(root) + " -m pytest"
	case unittest || declared:
		return pythonCommand(root) + " -m unittest discover" + startIn(root)
	}
	return ""
}

// firstTest is the text of the first Python test in these folders that has tests.
func firstTest(root string, folders ...string) string {
	for _, folder := range folders {
		names, err := filepath.Glob(filepath.Join(root, folder, "test_*.py"))
		if err == nil && len(names) > 0 {
			return string(read(filepath.Dir(names[0]), filepath.Base(names[0])))
		}
	}
	return ""
}

// startIn names the folder of the tests where unittest does not find it by itself: one
// that is not a package.
func startIn(root string) string {
	for _, folder := range []string{"tests", "test"} {
		if has(root, folder) && !has(root, folder+"/__init__.py") {
			return " -s " + folder
		}
	}
	return ""
}

// pythonCommand is the interpreter of the environment in the folder, else the name
// that the machine has: Debian and macOS know python3 alone.
func pythonCommand(root string) string {
	for _, interpreter := range []string{".venv/bin/python", "venv/bin/python"} {
		if has(root, interpreter) {
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

func ruby(root string) string {
	if !has(root, "Gemfile") {
		return ""
	}
	runner := fileMeans(".rspec", "bundle exec rspec", "spec", "bundle exec rspec", "bin/rails", "bin/rails test", "Rakefile", "bundle exec rake test")
	return runner(root)
}

func composer(root string) string {
	var project struct {
		Scripts map[string]any `json:"scripts"`
	}
	if json.Unmarshal(read(root, "composer.json"), &project) != nil {
		return ""
	}
	if _, ok := project.Scripts["test"]; ok {
		return "composer test"
	}
	if has(root, "phpunit.xml") || has(root, "phpunit.xml.dist") {
		return "vendor/bin/phpunit"
	}
	return ""
}

func dotnet(root string) string {
	entries, err := os.ReadDir(root)
	if err == nil && slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		return slices.Contains([]string{".sln", ".slnx", ".csproj", ".fsproj"}, filepath.Ext(e.Name()))
	}) {
		return "dotnet test"
	}
	return ""
}

// testTarget is a rule named test in a Makefile or a justfile, also with further
// names or arguments, but no variable.
var testTarget = regex.New(`(?m)^(?:[\w.-]+ +)*test(?: [^:=\n]*)?:(?:[^=]|$)`)

// targetIn suggests a command where one of the files has such a rule.
func targetIn(command string, files ...string) func(root string) string {
	return func(root string) string {
		if slices.ContainsFunc(files, func(name string) bool { return testTarget.Match(read(root, name)) }) {
			return command
		}
		return ""
	}
}

func has(root, name string) bool {
	_, err := os.Stat(filepath.Join(root, name))
	return err == nil
}

// read is the content of a file, or nothing: what cannot be read implies nothing.
func read(root, name string) []byte {
	data, err := atomicfile.Read(filepath.Join(root, name), maxFile)
	if err != nil {
		return nil
	}
	return data
}
