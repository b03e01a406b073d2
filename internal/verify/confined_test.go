//go:build unix

package verify_test

import (
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/verify"
)

// What is put before a gate's argv runs it; where that fails the gate cannot tell.
func TestGateRunsBehindItsSandboxCommand(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		prefix []string
		status gate.Status
		reason string
	}{
		"it runs":        {[]string{"env", "WALLED=1"}, gate.Pass, ""},
		"no wall":        {[]string{"sh", "-c", "echo \"bwrap: Can't mount\" >&2; exit 1"}, gate.Unknown, "the sandbox could not start: bwrap: Can't mount"},
		"not started":    {[]string{"sh", "-c", "exit 126"}, gate.Unknown, "exit 126"},
		"red in a wall":  {[]string{"env", "WALLED=0"}, gate.Fail, "exit 1"},
		"red without it": {nil, gate.Fail, "exit 1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v, err := verify.New(verify.Options{Root: t.TempDir(), Dir: t.TempDir(), Prefix: tc.prefix, Env: []string{"PATH=/usr/local/bin:/usr/bin:/bin"}})
			if err != nil {
				t.Fatal(err)
			}
			got, err := v.Run(t.Context(), []gate.Gate{{Name: "g", Command: `test "$WALLED" = 1`}}, "")
			if err != nil {
				t.Fatal(err)
			}
			if r := got[0]; r.Status != tc.status || !strings.Contains(r.Reason, tc.reason) {
				t.Errorf("%s: %s", r.Status, r.Reason)
			}
		})
	}
}
