//go:build unix

package verify_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/core/gate"
)

// What passed on a tree runs there again, since the reason why a task failed may lie outside of the
// work: a program that is gone, a service, the date.
func TestBaselineAgainFindsWhatNoLongerPasses(t *testing.T) {
	t.Parallel()
	const tests = "echo TAP version 13; echo 1..2; echo ok 1 - old; if [ -e SERVICE ]; then echo ok 2 - db; else echo not ok 2 - db; exit 1; fi"
	for name, c := range map[string]struct {
		gate, change string
		want         gate.Status
		cannotStart  bool
		reason       string
	}{
		"nothing changed":        {"test -e SERVICE", "true", gate.Pass, false, ""},
		"a gate without tests":   {"test -e SERVICE", "rm SERVICE", gate.Unknown, true, "passed on the same files before"},
		"a program that is gone": {"sh SERVICE", "rm SERVICE", gate.Unknown, true, "cannot open"},
		"one test of two":        {tests, "rm SERVICE", gate.Fail, false, "the cause: db"},
		"only in the work tree":  {"test ! -e broken", "touch broken", gate.Pass, false, ""},
		"it never passed":        {"false", "true", gate.Fail, false, "exit 1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, files{"a": "a\n", ".gitignore": "broken\n"}, nil)
			service := filepath.Join(t.TempDir(), "service")
			sh(t, b.root, "sh", "-c", "echo true > "+service)
			gs := gates(strings.ReplaceAll(c.gate, "SERVICE", service))
			if strings.Contains(c.gate, "TAP") {
				gs[0].Report = "tap"
			}
			tree := b.tree()
			if _, err := b.Baseline(t.Context(), tree, gs, ""); err != nil {
				t.Fatal(err)
			}
			sh(t, b.root, "sh", "-c", strings.ReplaceAll(c.change, "SERVICE", service))
			for range 2 { // the first one changes what is known only if tests of it still pass
				results, _, err := b.BaselineAgain(t.Context(), tree, gs, "")
				if err != nil {
					t.Fatal(err)
				}
				if r := results[0]; r.Status != c.want || r.CannotStart != c.cannotStart || !strings.Contains(r.Reason, c.reason) {
					t.Errorf("%s, cannot start %v: %s", r.Status, r.CannotStart, r.Reason)
				}
			}
		})
	}
}
