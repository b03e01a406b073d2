//go:build unix

package frozen_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/frozen"
)

// The scripts that gates run are held, whatever is named before them; what git
// ignores is built, and is not, but for what dependencies brought.
func TestScriptsOfGates(t *testing.T) {
	t.Parallel()
	b := newProject(t, files{
		"check.sh": "x\n", "sub/check.sh": "x\n", "out/tool": "x\n", "venv/bin/lint": "x\n", "data.txt": "x\n",
		"Makefile": "include out/deps.mk\ntest: out/tool\n\tout/tool && ./check.sh\n", "out/deps.mk": "x:\n",
	})
	ignores := func(path string) (bool, error) {
		return strings.HasPrefix(path, "out/") || strings.HasPrefix(path, "venv/"), nil
	}
	for command, want := range map[string]string{
		"./check.sh":                       "check.sh",
		"sh check.sh data.txt":             "check.sh",
		". ./check.sh":                     "check.sh",
		"bash -euo pipefail check.sh":      "check.sh",
		"timeout 60 ./check.sh":            "check.sh",
		"CI=1 nice env LANG=C sh check.sh": "check.sh",
		"sh -c 'exec ./check.sh'":          "check.sh",
		"cd sub && ./check.sh":             "sub/check.sh",
		"cd sub && sh ../check.sh":         "check.sh",
		`cd "$WHERE" && ./check.sh`:        "check.sh",
		"at=sub; $at/check.sh":             "sub/check.sh",
		"x=$(./check.sh) || exit 1":        "check.sh",
		"echo ./check.sh":                  "",
		"cc -o out/tool x.c && out/tool":   "",
		"timeout 60 venv/bin/lint":         "venv/bin/lint",
		"make test":                        "check.sh",
		"if":                               "",
	} {
		f, err := frozen.Look(frozen.Options{Root: b.root, Gates: []gate.Gate{{Command: command}}, Ignores: ignores})
		if err != nil {
			t.Fatal(err)
		}
		held := slices.DeleteFunc(f.Whole(), func(path string) bool { return path == "pawl.toml" }) // it is held always
		if got := strings.Join(held, " "); got != want {
			t.Errorf("%s: %q is held, want %q", command, got, want)
		}
	}
}

// What an interpreter runs may be what is checked: its name tells, where it is given
// nothing to work on.
func TestChecksThatGatesRun(t *testing.T) {
	t.Parallel()
	b := newProject(t, files{
		"check.py": "x\n", "main.py": "x\n", "web/scripts/verify-all.mjs": "x\n", "lint.rb": "x\n", "recheck.py": "x\n", "gated.py": "x\n",
		"web/package.json": `{"scripts": {"test": "node scripts/verify-all.mjs"}}`,
	})
	for command, want := range map[string]string{
		"python3 check.py": "check.py",
		"set -e; timeout 9 python3 ./check.py && ruby lint.rb": "check.py lint.rb",
		"cd web && npm test":                   "web/scripts/verify-all.mjs",
		"python3 check.py data.json":           "", // it may be the product
		"python3 main.py":                      "",
		"python3 recheck.py; python3 gated.py": "",
		"python3 -m check":                     "",
		"python3 gone/check.py":                "",
	} {
		if got := strings.Join(frozen.Checks(b.root, []gate.Gate{{Command: command}}), " "); got != want {
			t.Errorf("%s: %q checks, want %q", command, got, want)
		}
	}
}
