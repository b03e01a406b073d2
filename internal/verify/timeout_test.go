//go:build unix

package verify_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/verify"
)

func onMachine(loaded bool) func(*verify.Options) {
	return func(o *verify.Options) { o.Loaded = func() bool { return loaded } }
}

func TestTimeoutIsAFailure(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		loaded bool
		reason string
		runs   int
	}{
		"idle machine":   {false, "timed out after 200ms", 1},
		"loaded machine": {true, "timed out after 200ms, and again after 400ms: on a busy machine the limit is doubled", 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			runs := filepath.Join(t.TempDir(), "runs")
			got := run(t, gate.Gate{Name: "slow", Command: "echo begun | tee -a " + runs + "; sleep 60", Timeout: 200 * time.Millisecond}, onMachine(c.loaded))
			if !got.TimedOut || got.Status != gate.Fail || got.Reason != c.reason || !strings.Contains(got.Tail, "begun") {
				t.Errorf("got %+v", got)
			}
			b, err := os.ReadFile(runs)
			if n := strings.Count(string(b), "begun"); err != nil || n != c.runs {
				t.Errorf("ran %d times, want %d (%v)", n, c.runs, err)
			}
		})
	}
}

func TestSlowGatePassesWithMoreTimeOnLoadedMachine(t *testing.T) {
	t.Parallel()
	got := run(t, gate.Gate{Name: "slow", Command: "test -e seen || { touch seen; sleep 60; }", Timeout: time.Second}, onMachine(true))
	if got.Status != gate.Pass || got.Flaky || !strings.Contains(got.Warning, "timed out after 1s") {
		t.Errorf("got %+v", got)
	}
}

// A gate that hung when the task started and ends well now turned green by this work.
func TestEarlierTimeoutCanTurnGreen(t *testing.T) {
	t.Parallel()
	for name, loaded := range map[string]bool{"idle machine": false, "loaded machine": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, files{"calc.sh": "sleep 60\n"}, onMachine(loaded))
			hangs := []gate.Gate{{Name: "check", Command: "sh ./calc.sh", Timeout: time.Second}}
			f := b.claim(hangs, files{"calc.sh": "true\n"}, isWork("calc.sh"))
			if f.Verdict.Status != gate.Pass || f.Verdict.Evidence != gate.Proven {
				t.Errorf("verdict %+v", f.Verdict)
			}
			// The baseline was run twice, each of which may be its repeat.
			if diff := cmp.Diff([]string{"kept check", "check", "kept check repeat-before", "check repeat-clean"}, b.ran); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A gate that times out before the work and with it is asked no more than that, and the
// others tell what the work is worth.
func TestHangingGateIsNotRunForEvidence(t *testing.T) {
	t.Parallel()
	hangs := gate.Gate{Name: "hangs", Command: "sleep 60", Timeout: 200 * time.Millisecond}
	work := files{"calc.sh": "true\n"}
	for name, c := range map[string]struct {
		gates    []gate.Gate
		evidence gate.Evidence
		ran      []string
	}{
		"alone": {[]gate.Gate{hangs}, gate.Unproven, []string{"kept hangs", "hangs"}},
		"beside another": {
			[]gate.Gate{hangs, {Name: "check", Command: "sh ./calc.sh"}},
			gate.Proven,
			[]string{"kept hangs", "kept check", "hangs", "check", "kept check repeat-before", "check repeat-clean"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, files{"calc.sh": "false\n"}, onMachine(true))
			f := b.claim(c.gates, work, isWork("calc.sh"))
			if f.Verdict.Status != gate.Pass || f.Verdict.Evidence != c.evidence || f.Verdict.FullGreen {
				t.Errorf("verdict %+v", f.Verdict)
			}
			if diff := cmp.Diff(c.ran, b.ran); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// In a checkout of Pawl's own the first gate that times out may have had to build
// everything; those after it have not.
func TestFirstTimeoutInACheckoutIsRetried(t *testing.T) {
	t.Parallel()
	runs := filepath.Join(t.TempDir(), "runs")
	b := newBench(t, files{"a": "1\n"}, func(o *verify.Options) { // gates count their runs outside of the checkout
		onMachine(false)(o)
		byFolder(o)
	})
	var hang []gate.Gate
	for _, name := range []string{"first", "second"} {
		hang = append(hang, gate.Gate{Name: name, Command: "echo " + name + " >> " + runs + "; sleep 60", Timeout: 200 * time.Millisecond})
	}
	start := b.tree()
	b.write(files{"a": "2\n"})
	for _, tree := range []string{start, b.tree()} {
		if _, err := b.RunInCheckout(t.Context(), tree, hang, ""); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(runs)
	if diff := cmp.Diff("first\nfirst\nsecond\nfirst\nsecond\n", string(got)); diff != "" || err != nil {
		t.Error(diff, err)
	}
}
