package verify_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/verify"
)

// A program that is not there is told of before anything is run, where that is
// sure; what a shell would find, or look for, is left to it.
func TestMissingProgramIsReportedBeforeAnyRun(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("commands are run by another shell here")
	}
	root := t.TempDir()
	for name, mode := range map[string]os.FileMode{"bin/there": 0o755, "bin/text": 0o644, "sub/check.sh": 0o755} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"), mode); err != nil {
			t.Fatal(err)
		}
	}
	env := []string{"PATH=" + filepath.Join(root, "bin")}
	for command, want := range map[string]string{
		"there": "", "there ./... && gone": "", "gone ./...": "gone", "text": "text", "gone | there": "gone", "A=b gone": "gone", "'gone' x": "gone",
		"./bin/there": "", "./bin/gone": "./bin/gone", "bin/text": "bin/text", "cd sub && ./check.sh": "", "cd sub && ./gone.sh": "",
		"set -e; gone": "", "(gone)": "gone", "! gone": "gone", "cd gone && there": "",
		// what is not sure
		"gone || there": "", "if gone; then there; fi": "", "PATH=/x gone": "", "export PATH=/x; gone": "", "command -v gone && gone": "",
		"test -f a && gone": "", "[ -f a ]": "", "echo gone": "", "f() { there; }; f": "", "$TOOL x": "", "exec gone": "", "there >/gone": "",
		"": "", "sh -c gone": "sh", "time gone": "", "kill 1": "",
	} {
		if got := verify.MissingProgram(gate.Gate{Command: command}, root, env, false); got != want {
			t.Errorf("%q: %q, want %q", command, got, want)
		}
	}
	for _, c := range []struct {
		g     gate.Gate
		setUp bool
		want  string
	}{
		{gate.Gate{Command: "./check.sh", Dir: "sub"}, false, ""},
		{gate.Gate{Command: "./check.sh"}, false, "./check.sh"},
		{gate.Gate{Command: "./made-by-a-set-up"}, true, ""},
		{gate.Gate{Argv: []string{"gone", "a b"}}, true, "gone"},
		{gate.Gate{Argv: []string{"there", "|| x"}}, false, ""},
	} {
		if got := verify.MissingProgram(c.g, root, env, c.setUp); got != c.want {
			t.Errorf("%+v: %q, want %q", c.g, got, c.want)
		}
	}
}

// A script that a gate names and that is not there is told of, too. One in the work tree
// may be for the agent to write.
func TestMissingScriptIsReportedBeforeAnyRun(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "check.sh"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	type found struct {
		script  string
		outside bool
	}
	for command, want := range map[string]found{
		"sh check.sh": {}, "sh -eu check.sh && sh gone.sh": {}, "python3 check.sh x": {},
		"sh gone.sh": {"gone.sh", false}, "A=b python3.12 tests/run.py -v": {"tests/run.py", false}, "'node' '-e' 'gone.js'": {"gone.js", false},
		"bash -e gone.sh | tee x": {"gone.sh", false}, "sh ../../gone.sh": {"../../gone.sh", true}, "python3 /gone/run.py": {"/gone/run.py", true},
		// what is not sure
		"python3 -m pytest": {}, "sh -c gone.sh": {}, "node gone": {}, "sh gone.sh || sh check.sh": {}, "cd x && sh gone.sh": {}, "sh $X.sh": {}, "go test ./x.go": {},
	} {
		var got found
		if got.script, got.outside = verify.MissingScript(gate.Gate{Command: command}, root, false); got != want {
			t.Errorf("%q: %+v, want %+v", command, got, want)
		}
	}
	if got, _ := verify.MissingScript(gate.Gate{Command: "sh gone.sh"}, root, true); got != "" {
		t.Errorf("%s, which a set-up may make", got)
	}
}
