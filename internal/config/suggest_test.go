package config_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/config"
)

func TestSuggestFindsTheTestCommand(t *testing.T) {
	t.Parallel()
	const script = `{"scripts":{"test":"vitest run"}}`
	cases := []struct {
		name  string
		files map[string]string
		want  string // separated by ;
	}{
		{"nothing", nil, ""},
		{"Go", map[string]string{"go.mod": "module x"}, "go test ./..."},
		{"Rust", map[string]string{"Cargo.toml": ""}, "cargo test"},
		{"npm", map[string]string{"package.json": script}, "npm test"},
		{"pnpm", map[string]string{"package.json": script, "pnpm-lock.yaml": ""}, "pnpm test"},
		{"yarn", map[string]string{"package.json": script, "yarn.lock": ""}, "yarn test"},
		{"bun", map[string]string{"package.json": script, "bun.lock": ""}, "bun run test"},
		{"package without tests", map[string]string{"package.json": `{"scripts":{"test":"echo \"Error: no test specified\" && exit 1"}}`}, ""},
		{"broken package", map[string]string{"package.json": `{`}, ""},
		{"deno", map[string]string{"deno.jsonc": ""}, "deno test"},
		{"pytest by uv", map[string]string{"pyproject.toml": "dev = ['pytest']", "uv.lock": ""}, "uv run pytest"},
		{"pytest by poetry", map[string]string{"pyproject.toml": "pytest = '*'", "poetry.lock": ""}, "poetry run pytest"},
		{"python without tests", map[string]string{"pyproject.toml": "[project]"}, ""},
		{"Elixir", map[string]string{"mix.exs": ""}, "mix test"},
		{"rspec", map[string]string{"Gemfile": "", "spec/a_spec.rb": ""}, "bundle exec rspec"},
		{"rails", map[string]string{"Gemfile": "", "bin/rails": ""}, "bin/rails test"},
		{"rake", map[string]string{"Gemfile": "", "Rakefile": ""}, "bundle exec rake test"},
		{"gems only", map[string]string{"Gemfile": ""}, ""},
		{"composer", map[string]string{"composer.json": `{"scripts":{"test":["a"]}}`}, "composer test"},
		{"phpunit", map[string]string{"composer.json": `{}`, "phpunit.xml.dist": ""}, "vendor/bin/phpunit"},
		{"composer without tests", map[string]string{"composer.json": `{}`}, ""},
		{"gradle wrapper", map[string]string{"gradlew": "", "build.gradle": ""}, "./gradlew test"},
		{"gradle", map[string]string{"build.gradle.kts": ""}, "gradle test"},
		{"maven wrapper", map[string]string{"mvnw": "", "pom.xml": ""}, "./mvnw -q test"},
		{"maven", map[string]string{"pom.xml": ""}, "mvn -q test"},
		{"dotnet", map[string]string{"App.sln": ""}, "dotnet test"},
		{"make", map[string]string{"Makefile": "all:\n\ntest: all\n\tgo test\n"}, "make test"},
		{"make, several targets", map[string]string{"Makefile": "lint test:\n"}, "make test"},
		{"make without the target", map[string]string{"Makefile": "test := 1\ntests:\n\ntest_all:\nx: test\n"}, ""},
		{"just", map[string]string{"justfile": "test *args:\n  go test\n"}, "just test"},
		{"a project below", map[string]string{"packages/app/package.json": script, "README.md": ""}, "cd packages/app && npm test"},
		{"a folder with a space", map[string]string{"my app/go.mod": ""}, "cd 'my app' && go test ./..."},
		{"several projects below", map[string]string{"a/go.mod": "", "b/go.mod": ""}, ""},
		{"nothing of the user's below", map[string]string{"node_modules/a/package.json": script, ".x/go.mod": "", "a/b/c/go.mod": ""}, ""},
		{"several, the sure one first", map[string]string{"Makefile": "test:\n", "go.mod": ""}, "go test ./...;make test"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			for name, content := range c.files {
				writeFile(t, filepath.Join(root, name), content)
			}
			if diff := cmp.Diff(c.want, strings.Join(config.Suggest(root), ";")); diff != "" {
				t.Error(diff)
			}
		})
	}
	if got := config.Suggest(filepath.Join(t.TempDir(), "none")); got != nil {
		t.Errorf("suggested %v where nothing is", got)
	}
}

// The command uses the name of Python on the PATH, unless the folder has a virtual environment.
func TestSuggestUsesTheInstalledPython(t *testing.T) {
	const plain, class = "def test_a():\n    assert a() == 1\n", "import unittest\n"
	cases := []struct {
		name     string
		programs []string // programs on the PATH
		files    map[string]string
		want     string
	}{
		{"pytest", []string{"python", "python3"}, map[string]string{"pyproject.toml": "[tool.pytest.ini_options]"}, "python -m pytest"},
		{"pytest by its files", []string{"python3"}, map[string]string{"tests/conftest.py": ""}, "python3 -m pytest"},
		{"pytest by plain functions", []string{"python3"}, map[string]string{"tests/test_a.py": plain}, "python3 -m pytest"},
		{"pytest by plain functions at the root", []string{"python"}, map[string]string{"test_a.py": plain}, "python -m pytest"},
		{"pytest in an environment", []string{"python3"}, map[string]string{"tests/test_a.py": plain, ".venv/bin/python": ""}, ".venv/bin/python -m pytest"},
		{"unittest", []string{"python"}, map[string]string{"setup.py": "", "tests/test_a.py": class, "tests/__init__.py": ""}, "python -m unittest discover"},
		{"unittest in a folder that is no package", []string{"python3"}, map[string]string{"tests/test_a.py": class}, "python3 -m unittest discover -s tests"},
		{"unittest where only a folder says so", nil, map[string]string{"setup.py": "", "test/a_test.py": class}, "python -m unittest discover -s test"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			bin, root := t.TempDir(), t.TempDir()
			for _, name := range c.programs {
				writeProgram(t, filepath.Join(bin, name))
			}
			t.Setenv("PATH", bin)
			for name, content := range c.files {
				writeFile(t, filepath.Join(root, name), content)
			}
			if diff := cmp.Diff([]string{c.want}, config.Suggest(root)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// writeProgram writes an executable file for a PATH. Windows finds it by its extension.
func writeProgram(t *testing.T, path string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		path += ".exe"
	}
	writeFile(t, path, "")
	if err := os.Chmod(path, 0o755); err != nil {
		t.Fatal(err)
	}
}
