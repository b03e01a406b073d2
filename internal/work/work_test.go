package work

import (
	"strings"
	"testing"
)

func TestDependencyChangesAreRecognized(t *testing.T) {
	t.Parallel()
	const (
		mod  = "module m\n\nrequire x v1.0.0\n"
		pack = `{"name": "m", "scripts": {"test": "jest"}, "dependencies": {"a": "1"}, "devDependencies": {"jest": "29"}}`
		toml = "[project]\nname = \"m\"\n[tool.pytest.ini_options]\naddopts = \"-q\"\n"
		cfg  = "[metadata]\nname = m\n[options]\ninstall_requires =\n  a\n[tool:pytest]\naddopts = -q\n"
	)
	cases := []struct {
		what, file, was, now string
		want                 bool
	}{
		{"another dependency", "go.mod", mod, mod + "require y v1.0.0\n", true},
		{"a module that is required, replaced", "go.mod", mod, mod + "replace  x => ../x // near\n", false},
		{"in a block", "sub/go.mod", "require (\n\tx v1\n)\n", "require (\n\tx v1\n)\nreplace(\n\n\t// ours\n\tx v1 => ./x\n)\n", false},
		{"a module that is new", "go.mod", mod, mod + "require y v1.0.0\nreplace y => ./y\n", true},
		{"one of a longer name", "go.mod", mod, mod + "replace x/sub => ./y\n", true},
		{"replaced by another", "go.mod", "replace x => ./x\n", "replace x => ./y\n", false},
		{"replaced no more", "go.mod", "replace x => ./x\n", "", false},
		{"moved to a block", "go.mod", "replace x => ./x\n", "replace (\n\tx => ./x\n)\n", true},
		{"another toolchain", "go.mod", mod, mod + "toolchain go1.99\n", false},
		{"a package more", "package.json", pack, `{"name": "m", "version": "2", "scripts": {"test": "jest"}, "dependencies": {"a": "2", "b": "^1.0.0"}, "devDependencies": {"jest": "29"}}`, true},
		{"another script", "package.json", pack, `{"name": "m", "scripts": {"test": "true"}, "dependencies": {"a": "1"}, "devDependencies": {"jest": "29"}}`, false},
		{"another runner", "package.json", pack, `{"name": "m", "scripts": {"test": "jest"}, "dependencies": {"a": "1"}, "devDependencies": {"jest": "28"}}`, false},
		{"a package from a folder", "package.json", pack, `{"name": "m", "scripts": {"test": "jest"}, "dependencies": {"a": "file:./a"}, "devDependencies": {"jest": "29"}}`, false},
		{"settings of a runner", "package.json", pack, `{"name": "m", "jest": {}, "scripts": {"test": "jest"}, "dependencies": {"a": "1"}, "devDependencies": {"jest": "29"}}`, false},
		{"a name that leads elsewhere", "package.json", `{"imports": {"#a": "./a.js"}}`, `{"imports": {"#a": "./b.js"}}`, false},
		{"what is no JSON", "package.json", pack, "{", false},
		{"a dependency", "pyproject.toml", toml, toml + "[project.optional-dependencies]\nx = [\"y\"]\n[tool.poetry.dependencies]\nz = \"1\"\n", true},
		{"other options of a runner", "pyproject.toml", toml, "[project]\nname = \"m\"\n[tool.pytest.ini_options]\naddopts = \"-k x\"\n", false},
		{"another tool", "pyproject.toml", toml, toml + "[tool.ruff]\nselect = []\n", false},
		{"no TOML", "pyproject.toml", toml, "= x", false},
		{"another crate", "Cargo.toml", "[dependencies]\na = \"1\"\n", "[dependencies]\na = \"2\"\n", true},
		{"a patch", "Cargo.toml", "", "[patch.crates-io]\na = { path = \"../a\" }\n", false},
		{"a test without its runner", "Cargo.toml", "", "[[test]]\nname = \"a\"\nharness = false\n", false},
		{"a requirement", "setup.cfg", cfg, "[metadata]\nname = m\n[options]\ninstall_requires =\n  a\n  b\n[tool:pytest]\naddopts = -q\n", true},
		{"a setting", "setup.cfg", cfg, cfg + "[flake8]\nmax-line-length = 999\n", false},
		{"a requirement more", "requirements.txt", "a==1\n", "a==1\nb>=2,<3 ; python_version > \"3\"\n", true},
		{"one from a folder", "requirements-dev.txt", "a==1\n", "a==1\n-e ./fake\n", false},
		{"one that is gone", "requirements.txt", "a==1\nb\n", "b\n", false},
		{"a source", "CMakeLists.txt", "add_executable(a\n  a.cc\n)\n", "add_executable(a\n  a.cc\n  b.cc\n)\n", true},
		{"a test taken out", "CMakeLists.txt", "add_test(a)\n", "", false},
		{"a test switched off", "CMakeLists.txt", "add_test(a)\n", "add_test(a)\nset_tests_properties(a PROPERTIES DISABLED TRUE)\n", false},
		{"a dependency", "pom.xml", "<dependencies>\n</dependencies>\n", "<dependencies>\n  <dependency>\n    <groupId>g</groupId>\n    <artifactId>a</artifactId>\n    <version>1</version>\n  </dependency>\n</dependencies>\n", true},
		{"tests that may fail", "pom.xml", "<a>\n</a>\n", "<a>\n<testFailureIgnore>true</testFailureIgnore>\n</a>\n", false},
	}
	for _, c := range cases {
		if !IsManifest(c.file) {
			t.Errorf("%s is no manifest", c.file)
		} else if got := DependenciesOnly(c.file, []byte(c.was), []byte(c.now)); got != c.want {
			t.Errorf("%s: %v, want %v\n%s\n→\n%s", c.what, got, c.want, c.was, c.now)
		}
	}
	for _, file := range []string{"main.go", "package.json.md", "settings.json", "go.work", "tsconfig.json"} {
		if IsManifest(file) {
			t.Errorf("%s is a manifest", file)
		}
	}
}

func TestWorkFilesAreRecognized(t *testing.T) {
	t.Parallel()
	shell := Rules{ShellIsWork: true}
	cases := []struct {
		rules Rules
		work  string
		input string
	}{
		{
			Rules{},
			"calc.go src/app.ts lib/x.py web/templates/a.html style.css a.sql db/migrations/1.up locales/de.json README.md docs/a.txt hello LICENSE .gitignore go.sum yarn.lock assets/a.json",
			"Makefile GNUmakefile Dockerfile .npmrc pytest.ini jest.config.js vitest.setup.ts tsconfig.json settings.yaml data.json .env scripts/ci.py .github/workflows/a.yml vendor/x/y.go " +
				"build.rs sitecustomize.py unittest.py unittest/mock.py a.pth go.work .cargo/config.toml rust-toolchain check.sh greet.sh want.txt words.csv x.unknown .golangci.yml",
		},
		{shell, "greet.sh lib/a.bash", "check.sh want.txt"},
		{Rules{ShellIsWork: true, IsRun: func(file string) bool { return file == "all.sh" }}, "greet.sh", "all.sh"},
		{Rules{IsChecked: func(file string) bool { return file == "words.csv" }}, "words.csv", "want.txt"},
		{
			Rules{IsLoaded: func(file string) bool { return !strings.Contains(file, "other") }},
			"src/geo/countries.json lib/words.txt", "src/geo/other.json tsconfig.json settings.yaml want.txt sub/package.json sub/.eslintrc.json sub/configs.json .github/a.json",
		},
		{Rules{Globs: []string{"data.json", "conf/**"}}, "data.json conf/a.yml", "other.json"},
	}
	for _, c := range cases {
		for want, files := range map[bool]string{true: c.work, false: c.input} {
			for file := range strings.FieldsSeq(files) {
				if got := c.rules.IsWork(Change{Path: file}); got != want {
					t.Errorf("%s: work %v, want %v", file, got, want)
				}
			}
		}
	}
	fresh := Rules{HasFiles: func(dir string) bool { return dir == "old" || dir == "." }}
	for file, want := range map[string]bool{
		"want.txt": true, "tool.sh": true, "new_check.sh": false, "run": true, ".toolrc": false,
		"sum/go.mod": true, "old/go.mod": false, "go.mod": false, "CMakeLists.txt": false, "sub/CMakeLists.txt": false,
	} {
		if got := fresh.IsWork(Change{Path: file, Added: true}); got != want {
			t.Errorf("%s, new: work %v, want %v", file, got, want)
		}
	}
	if (Rules{RunsMake: true}).IsWork(Change{Path: "test", Added: true}) {
		t.Error("what make would take for a product is work")
	}
	for file, want := range map[string]bool{"bin/slug": true, "bin/my-tool": true, "run-tests": false, "hooks/pre-commit": false, "all": false} {
		rules := Rules{ShellIsWork: true, IsRun: func(file string) bool { return file == "all" }}
		if got := rules.IsWork(Change{Path: file, Executable: true}); got != want {
			t.Errorf("%s, a script without an ending: work %v, want %v", file, got, want)
		}
	}
	if (Rules{}).IsWork(Change{Path: "run", Added: true, Executable: true}) {
		t.Error("a program without an ending is work")
	}
}

func TestIsProgramText(t *testing.T) {
	t.Parallel()
	rules := Rules{IsLoaded: func(file string) bool { return file == "data/words.txt" || file == "words.txt" }}
	for file, want := range map[string]bool{
		"templates/invite.txt": true, "app/locales/de.md": true, "data/words.txt": true,
		"data/other.txt": false, "words.txt": false, "notes.md": false, "docs/images/notes.md": false, "templates/README.md": false,
	} {
		if got := rules.IsProgramText(file); got != want {
			t.Errorf("%s: %v, want %v", file, got, want)
		}
	}
}

func TestFilesNamedInATaskAreFound(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text, file string
		want       bool
	}{
		{"Add conf/dev.json, let app/current.json link to it", "conf/dev.json", true},
		{"register it in pytest.ini.", "pytest.ini", true},
		{"edit `./conf/dev.json`", "conf/dev.json", true},
		{"edit old/conf/dev.json and conf/dev.json", "conf/dev.json", true},
		{"edit app/conf/dev.json", "conf/dev.json", false},
		{"edit conf/dev.json.bak", "conf/dev.json", false},
		{"edit ../conf/dev.json", "conf/dev.json", false},
		{"the developers' settings", "conf/dev.json", false},
	} {
		if got := MentionsPath(c.text, c.file); got != c.want {
			t.Errorf("Names(%q, %q) = %v", c.text, c.file, got)
		}
	}
}
