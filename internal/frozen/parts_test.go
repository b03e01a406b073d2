//go:build unix

package frozen_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/frozen"
)

const makefile = `# how to build
GO := go
FLAGS = -race
VERSION := 1
include make/common.mk

.PHONY: check test build

check: lint test

test:
	$(GO) test $(FLAGS) ./...

lint: ; ./tools/lint.sh

build: main.go
	$(GO) build -ldflags "-X v=$(VERSION)" .

deploy:
	scp app host:
`

const pyproject = `[project]
name = "shop"
dependencies = ["attrs"]

[tool.pytest.ini_options]
addopts = "-q"

[tool.ruff]
select = ["E"]

[tool.black]
line-length = 80
`

const setupCfg = `[metadata]
name = shop

[tool:pytest]
addopts = -q
`

func partFiles() files {
	return files{
		"Makefile": makefile, "make/common.mk": "X = 1\n", "tools/lint.sh": "ruff check\n", "pyproject.toml": pyproject, "setup.cfg": setupCfg,
		".github/workflows/ci.yml": "on: push\n", "main.go": "package main\n",
	}
}

// part is one edit of a file of which a part judges.
type partCase struct {
	name, file, from, to string
	judges               bool
	back                 string // the file in the end, "" = as it was where it judges, as edited where not
}

// make looks for no implicit rule of a phony target: nothing would make it.
func TestAPhonyTargetWithoutARecipe(t *testing.T) {
	t.Parallel()
	b := &project{t: t, root: t.TempDir()}
	b.write(files{"Makefile": "check: unit\n\tsh all.sh\nunit: a.sh\n%: %.sh\n\tsh $<\n"})
	f, err := frozen.Take(frozen.Options{Root: b.root, Store: t.TempDir(), Gates: []gate.Gate{{Command: "make check"}}})
	if err != nil {
		t.Fatal(err)
	}
	for phony, want := range map[string][]string{"check": nil, "check unit": {"Makefile"}} {
		b.write(files{"Makefile": ".PHONY: " + phony + "\ncheck: unit\n\tsh all.sh\nunit: a.sh\n%: %.sh\n\tsh $<\n"})
		got, err := f.Changes()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", phony, diff)
		}
	}
}

func TestOnlyThePartThatJudgesIsFrozen(t *testing.T) {
	t.Parallel()
	all := partFiles()
	for _, c := range []partCase{
		{"a recipe", "Makefile", "$(GO) test", "true #", true, ""},
		{"another rule for it", "Makefile", "deploy:", "check:\n\ttrue\n\ndeploy:", true, strings.Replace(makefile, "deploy:", "\ndeploy:", 1)},
		{"a prerequisite", "Makefile", "check: lint test", "check: lint", true, ""},
		{"a variable that it uses", "Makefile", "GO := go", "GO := true", true, ""},
		{"a variable set again", "Makefile", "deploy:", "FLAGS = -run XXX\n\ndeploy:", true, strings.Replace(makefile, "deploy:", "\ndeploy:", 1)},
		{"the shell", "Makefile", "GO := go", "SHELL := /bin/true\nGO := go", true, ""},
		{"a condition around it", "Makefile", "test:\n\t$(GO) test $(FLAGS) ./...\n", "ifdef X\ntest:\n\t$(GO) test $(FLAGS) ./...\nendif\n", true, ""},
		{"a comment that swallows it", "Makefile", "\ntest:\n", "\n# \\\ntest:\n", true, strings.Replace(makefile, "\ntest:\n", "\n# \\\ntest:\ntest:\n", 1)},
		{"not phony any more", "Makefile", ".PHONY: check test build", ".PHONY: check build", true, ""},
		{"a target of the gates that becomes phony", "Makefile", ".PHONY: check test build", ".PHONY: check test build lint", false, ""},
		{"what make includes", "make/common.mk", "X = 1", "test: ; true", true, ""},
		{"what a recipe runs", "tools/lint.sh", "ruff check", "true", true, ""},
		{"a recipe, and another target", "Makefile", "$(FLAGS) ./...\n", "-run XXX ./...\n\nfmt:\n\tgofmt -w .\n", true, strings.Replace(makefile, "$(FLAGS) ./...\n", "$(FLAGS) ./...\n\nfmt:\n\tgofmt -w .\n", 1)},
		{"another target", "Makefile", "scp app host:", "rsync app host:", false, ""},
		{"a new target", "Makefile", ".PHONY: check test build", ".PHONY: check test build fmt\nfmt: ; gofmt -w .", false, ""},
		{"a variable of another target", "Makefile", "VERSION := 1", "VERSION := 2", false, ""},
		{"a comment", "Makefile", "# how to build", "# how to build it", false, ""},

		{"settings of pytest", "pyproject.toml", `"-q"`, `"-p cheat"`, true, ""},
		{"more of them", "pyproject.toml", "[tool.ruff]", "[tool.pytest.ini_options.more]\nx = 1\n\n[tool.ruff]", true, ""},
		{"settings hidden in a text", "pyproject.toml", "[tool.pytest.ini_options]\naddopts = \"-q\"", "x = '''\n[tool.pytest.ini_options]\naddopts = \"-q\"\n'''", true, ""},
		{"settings of a linter that the gates use", "pyproject.toml", `["E"]`, `[]`, true, ""},
		{
			"settings of pytest, and a dependency", "pyproject.toml", "\"attrs\"]\n\n[tool.pytest.ini_options]\naddopts = \"-q\"",
			"\"attrs\", \"httpx\"]\n\n[tool.pytest.ini_options]\naddopts = \"-x\"", true, strings.Replace(pyproject, `"attrs"`, `"attrs", "httpx"`, 1),
		},
		{"no TOML any more", "pyproject.toml", "[project]", "[project", true, ""},
		{"settings of a tool that no gate uses", "pyproject.toml", "80", "120", false, ""},
		{"a dependency", "pyproject.toml", `"attrs"`, `"attrs", "httpx"`, false, ""},

		{"settings of pytest in setup.cfg", "setup.cfg", "-q", "-p cheat", true, ""},
		{"other settings there", "setup.cfg", "name = shop", "name = shops", false, ""},
		{"what CI checks", ".github/workflows/ci.yml", "on: push", "on: never", true, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := &project{t: t, root: t.TempDir()}
			b.write(all)
			f, err := frozen.Take(frozen.Options{Root: b.root, Store: t.TempDir(), Gates: []gate.Gate{{Command: "make check"}, {Command: "ruff check . && pytest"}}})
			if err != nil {
				t.Fatal(err)
			}
			edited := replaceOnce(t, all[c.file], c.from, c.to)
			b.write(files{c.file: edited})
			var want []string
			back := edited
			if c.judges {
				want, back = []string{c.file}, all[c.file]
			}
			if c.back != "" {
				back = c.back
			}
			got, err := f.Changes()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("changes (-want +got):\n%s", diff)
			}
			if err := f.PutBack(got); err != nil {
				t.Fatal(err)
			}
			now, err := os.ReadFile(filepath.Join(b.root, c.file))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(back, string(now)); diff != "" {
				t.Errorf("in the end (-want +got):\n%s", diff)
			}
		})
	}
}

// The programs that dependencies bring are held while the dependencies stay.
func TestTheRunnerInTheWorkTreeIsFrozen(t *testing.T) {
	t.Parallel()
	b := &project{t: t, root: t.TempDir()}
	b.write(files{
		"package.json": manifest, "package-lock.json": "{}\n", "node_modules/jest/bin/jest.js": "require('jest-cli')\n",
		"node_modules/left-pad/index.js": "x\n", "tools/pytest": "#!/bin/sh\n", "venv/bin/ruff": "#!/bin/sh\n",
	})
	if err := os.MkdirAll(filepath.Join(b.root, "node_modules/.bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(b.root, "node_modules/.bin/jest")
	if err := os.Symlink("../jest/bin/jest.js", link); err != nil {
		t.Skip("no symlinks here: ", err)
	}
	f, err := frozen.Take(frozen.Options{
		Root: b.root, Store: t.TempDir(), Path: filepath.Join(b.root, "tools") + string(filepath.ListSeparator) + "/usr/bin",
		Gates: []gate.Gate{{Command: "npm test"}, {Command: "pytest -q"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	changed := func() []string {
		t.Helper()
		got, err := f.Changes()
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	b.write(files{"node_modules/left-pad/index.js": "y\n", "venv/bin/ruff": "exit 0\n"})
	if got := changed(); got != nil {
		t.Errorf("changes %q", got)
	}
	b.write(files{"node_modules/jest/bin/jest.js": "process.exit(0)\n", "tools/pytest": "exit 0\n"})
	if err := os.Remove(link); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(link, []byte("exit 0\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	want := []string{"node_modules/.bin/jest", "node_modules/jest/bin/jest.js", "tools/pytest"}
	if diff := cmp.Diff(want, changed()); diff != "" {
		t.Fatalf("changes (-want +got):\n%s", diff)
	}
	if err := f.PutBack(want); err != nil {
		t.Fatal(err)
	}
	if to, err := os.Readlink(link); err != nil || to != "../jest/bin/jest.js" || changed() != nil {
		t.Errorf("put back as %q, %v; still changed: %q", to, err, changed())
	}
	b.write(files{"node_modules/jest/bin/jest.js": "require('jest-cli/next')\n", "package-lock.json": `{"jest": 2}`})
	if got := changed(); got != nil {
		t.Errorf("other dependencies bring another program: %q", got)
	}
	lock := filepath.Join(b.root, "package-lock.json")
	if err := os.Remove(lock); err != nil {
		t.Fatal(err)
	}
	if err := exec.Command("mkfifo", lock).Run(); err != nil {
		t.Skip("no pipes with a name here: ", err)
	}
	if got := changed(); got != nil {
		t.Errorf("a pipe is waited for, or is no other dependencies: %q", got)
	}
}
