//go:build unix

package frozen_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/frozen"
)

// The programs that dependencies bring are held while the dependencies stay; those that
// git shows are judged like any file.
func TestTheRunnerInTheWorkTreeIsFrozen(t *testing.T) {
	t.Parallel()
	b := &project{t: t, root: t.TempDir()}
	b.write(files{
		"package.json": manifest, "package-lock.json": "{}\n", "node_modules/jest/bin/jest.js": "require('jest-cli')\n",
		"node_modules/left-pad/index.js": "x\n", "tools/pytest": "#!/bin/sh\n", "venv/bin/ruff": "#!/bin/sh\n", "vendor/bin/jest": "#!/bin/sh\n",
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
		Gates:   []gate.Gate{{Command: "npm test"}, {Command: "pytest -q"}},
		Ignores: func(path string) (bool, error) { return path != "vendor/bin/jest", nil },
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
	b.write(files{"node_modules/left-pad/index.js": "y\n", "venv/bin/ruff": "exit 0\n", "vendor/bin/jest": "exit 0\n"})
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

// Where git did not say what it ignores, nothing is kept by a guess.
func TestAnErrorOfGitIsNotTakenForNotIgnored(t *testing.T) {
	t.Parallel()
	b := newProject(t, files{"venv/bin/pytest": "#!/bin/sh\n"})
	dead, store := errors.New("git died"), t.TempDir()
	_, err := frozen.Take(frozen.Options{
		Root: b.root, Store: store, Gates: []gate.Gate{{Command: "timeout 60 venv/bin/pytest -q"}},
		Ignores: func(string) (bool, error) { return false, dead },
	})
	if !errors.Is(err, dead) {
		t.Errorf("error %v", err)
	}
	if kept, err := os.ReadDir(store); err != nil || len(kept) > 0 {
		t.Errorf("kept %v, %v", kept, err)
	}
}
