//go:build unix

package verify_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/verify"
)

const (
	sayRed  = "printf '  ● sum › adds\\n\\n    expected 3\\n\\nTest Suites: 1 failed, 1 total\\nTests:       1 failed, 1 total\\n'\nexit 1\n"
	sayNone = "echo 'No tests found, exiting with code 1'\nexit 1\n"
	// Summaries of a failed run, and an exit code that says otherwise.
	unittestRed = "cat >&2 <<'E'\nF\n" + rule70 + "\nFAIL: test_add (t.Sum.test_add)\nAssertionError: 3 != 4\n\nRan 2 tests in 0.001s\n\nFAILED (failures=1)\nE\nexit 0\n"
	pytestRed   = "cat <<'E'\n=== short test summary info ===\nFAILED t.py::test_add - assert 3 == 4\n=== 1 failed, 1 passed in 0.01s ===\nE\nexit 0\n"
	pytestGreen = "echo '2 passed, 1 xfailed in 0.01s'\nexit 0\n"
	mochaRed    = "cat <<'E'\n\n  1 passing (2ms)\n  1 failing\n\n  1) sum\n       adds:\n     expected 3\nE\nexit 0\n"
	rule70      = "======================================================================"

	sayFew = "echo 'Tests:       1 failed, 1 total'\nexit 1\n"
)

// TestOutputNamesWhatFailed: where a gate prints no report, its summary names the
// failing tests; the exit code alone decides.
func TestOutputNamesWhatFailed(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name, script, command string
		want                  gate.Result
	}{
		{"names", sayRed, "sh run-tests.sh", gate.Result{
			Status: gate.Fail, ExitCode: 1, Failing: []string{"sum > adds"}, FirstError: "expected 3", Reason: "expected 3",
		}},
		{"no tests", sayNone, "sh run-tests.sh && sh run-tests.sh", gate.Result{
			Status: gate.Fail, ExitCode: 1, Reason: "exit 1: No tests found, exiting with code 1",
		}},
		{"none, by a known runner", sayNone, "PATH=.:$PATH jest", gate.Result{
			Status: gate.Fail, ExitCode: 1, Reason: "no tests were found: exit 1: No tests found, exiting with code 1",
		}},
		{"masked", sayRed, "sh run-tests.sh | cat", gate.Result{
			Status: gate.Pass, Warning: "its exit code is masked by `| cat`, and its output says that tests failed: sum > adds",
		}},
		{"ended before its tests did", "exit 0\n", "PATH=.:$PATH python3 -m unittest", gate.Result{
			Status: gate.Unknown, Reason: "exit 0, but unittest printed no summary: its tests may not have come to their end",
		}},
		{"exit 0, unittest says that one failed", unittestRed, "PATH=.:$PATH python3 -m unittest", gate.Result{
			Status: gate.Fail, Failing: []string{"t.Sum.test_add"}, FirstError: "AssertionError: 3 != 4",
			Reason: "exit 0, but unittest says that tests failed: t.Sum.test_add",
		}},
		{"exit 0, pytest says that one failed", pytestRed, "PATH=.:$PATH pytest -q", gate.Result{
			Status: gate.Fail, Failing: []string{"t.py::test_add"}, FirstError: "assert 3 == 4",
			Reason: "exit 0, but pytest says that tests failed: t.py::test_add",
		}},
		{"exit 0, mocha says that one failed", mochaRed, "PATH=.:$PATH mocha", gate.Result{
			Status: gate.Fail, Failing: []string{"sum > adds"}, FirstError: "expected 3",
			Reason: "exit 0, but mocha says that tests failed: sum > adds",
		}},
		{"exit 0, one failed as it should", pytestGreen, "PATH=.:$PATH pytest -q", gate.Result{Status: gate.Pass}},
		{"exit 0, a script that is about a failing run", pytestRed, "sh build.sh", gate.Result{Status: gate.Pass}},
		{"masked, and too little to tell", sayFew, "sh run-tests.sh || true", gate.Result{Status: gate.Pass}},
		{"a script of another name, by its marks", sayRed, "sh build.sh || true", gate.Result{
			Status: gate.Pass, Warning: "its exit code is masked by `|| true`, and its output says that tests failed: sum > adds",
		}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			for _, name := range []string{"run-tests.sh", "build.sh", "jest", "python3", "pytest", "mocha"} {
				if err := os.WriteFile(filepath.Join(root, name), []byte("#!/bin/sh\n"+c.script), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			got := run(t, gate.Gate{Name: "g", Command: c.command}, func(o *verify.Options) { o.Root = root })
			got = gate.Result{
				Status: got.Status, ExitCode: got.ExitCode, Failing: got.Failing, FirstError: got.FirstError, Reason: got.Reason, Warning: got.Warning,
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("`%s` (-want +got):\n%s", c.command, diff)
			}
		})
	}
}

func TestMaskedFailuresAreFound(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "package.json"), []byte(`{"scripts":{"test":"jest | tail"}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for command, want := range map[string]string{"npm test": "| tail", "go test . || true": "|| true", "go test .": "", "ls | tail": ""} {
		if got := verify.ExitCodeMask(gate.Gate{Command: command}, root); got != want {
			t.Errorf("Masked(%q) = %q, want %q", command, got, want)
		}
	}
}
