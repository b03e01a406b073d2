//go:build unix

package verify_test

import (
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/core/gate"
)

// make exits with 2 whatever failed beneath it: only where it, or the shell of a recipe,
// says that a known tool is not there, the gate cannot start. What a test calls, and
// what the project is to make, may be missing in a test that fails.
func TestMissingToolInMakeCannotStart(t *testing.T) {
	t.Parallel()
	const ends = "make: *** [Makefile:2: test] Error 127"
	for name, c := range map[string]struct {
		says   []string
		reason string
	}{
		"make finds no runner":       {[]string{"pytest -q", "make: pytest: No such file or directory", ends}, "make did not find pytest"},
		"its shell finds none":       {[]string{"/bin/sh: 1: jest: not found", ends}, "make did not find jest"},
		"bash says so":               {[]string{"/bin/bash: line 1: go: command not found", "make: *** [test] Error 127"}, "make did not find go"},
		"one that may not be run":    {[]string{"make: eslint: Permission denied", "make: *** [Makefile:2: test] Error 126"}, "make did not find eslint"},
		"beneath another make":       {[]string{"make[1]: bats: No such file or directory", "make[1]: *** [Makefile:4: unit] Error 127", "make[1]: Leaving directory '/x'", "make: *** [Makefile:2: test] Error 2"}, "make did not find bats"},
		"a module":                   {[]string{"/usr/bin/python3: No module named pytest", "make: *** [Makefile:2: test] Error 1"}, "Python cannot find the test runner"},
		"the program to be written":  {[]string{"make: ./greet: No such file or directory", ends}, ""},
		"the same on the PATH":       {[]string{"/bin/sh: 1: greet: not found", ends}, ""},
		"a test that calls a tool":   {[]string{"test.sh: 3: jest: not found", ends}, ""},
		"a tool's name in an output": {[]string{"/bin/sh: 1: jest: not found", "1 failed", ends}, ""},
		"a tool that fails":          {[]string{"/bin/sh: 1: jest: not found", "make: *** [Makefile:2: test] Error 1"}, ""},
		"nothing else":               {[]string{ends}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := run(t, gate.Gate{Command: "printf '%s\\n' \"" + strings.Join(c.says, "\" \"") + "\"; exit 2"}, nil)
			if absent := c.reason != ""; r.CannotStart != absent || absent != (r.Status == gate.Unknown) || !strings.HasPrefix(r.Reason, c.reason) {
				t.Errorf("%s, cannot start %v: %s", r.Status, r.CannotStart, r.Reason)
			}
		})
	}
}
