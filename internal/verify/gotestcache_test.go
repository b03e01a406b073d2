//go:build unix

package verify_test

import (
	"testing"

	"github.com/pawl-dev/pawl/internal/core/gate"
)

// programWithEndToEndTest is a program that no tested package imports: Go caches the result of the
// test that starts it, and does not see that the program changed.
var programWithEndToEndTest = files{
	"go.mod":      "module example.org/app\n\ngo 1.22\n",
	"app/main.go": "package main\n\nfunc main() { println(\"v1\") }\n",
	"e2e/e2e_test.go": `package e2e

import (
	"os/exec"
	"testing"
)

func TestVersion(t *testing.T) {
	if out, err := exec.Command("go", "run", "../app").CombinedOutput(); string(out) != "v1\n" {
		t.Fatal(err, string(out))
	}
}
`,
	"check.sh": "go test ./...\n",
}

// Go answers a test run from its cache if the test's own package did not change. A program that a
// test starts may have changed all the same.
func TestGoTestCacheDoesNotHideABrokenProgram(t *testing.T) {
	t.Parallel()
	for _, command := range []string{"go test ./...", "sh check.sh"} {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, programWithEndToEndTest, nil)
			sh(t, b.root, "go", "test", "./...") // as the agent does before it goes on
			f := b.claim(gates(command), files{"app/main.go": "package main\n\nfunc main() { println(\"broken\") }\n"}, nil)
			if now := f.Observation.Now[0]; now.Status != gate.Fail {
				t.Errorf("the gate is %v, and the program is broken: %+v", now.Status, f.Verdict)
			}
		})
	}
}
