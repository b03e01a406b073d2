//go:build unix

package verify_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/verify"
)

// A pristine gate sees the tree that would be committed and what the set-up makes
// of it, and nothing that lies about in the work tree.
func TestPristineGateRunsInACleanCheckout(t *testing.T) {
	t.Parallel()
	start := files{".gitignore": "deps/\n", "stock": "apples\n", "run": "grep -q pears stock && . ./deps/check\n"}
	b := newBench(t, start, func(o *verify.Options) { o.Setup = []string{"mkdir -p deps && echo 'test -e clean' > deps/check"} })
	b.write(files{"deps/check": "exit 0\n"})
	here, pristine := gate.Gate{Name: "here", Command: "sh run"}, gate.Gate{Name: "clean", Command: "sh run", Pristine: true}
	f := b.claim([]gate.Gate{here, pristine}, files{"stock": "pears\n"}, nil)
	if f.Observation.Now[0].Status != gate.Pass || f.Observation.Now[1].Status != gate.Fail {
		t.Errorf("a replaced dependency: %+v", f.Observation.Now)
	}
	f = b.claim([]gate.Gate{pristine}, files{"clean": "yes\n"}, nil)
	if f.Verdict.Status != gate.Pass || f.Verdict.Evidence != gate.Proven {
		t.Errorf("honest work: %+v", f.Verdict)
	}
	if r, err := b.Run(t.Context(), []gate.Gate{pristine}, ""); err != nil || r[0].Status != gate.Pass {
		t.Errorf("now: %+v, %v", r, err)
	}
	if _, err := os.Stat(filepath.Join(b.root, "deps", "check")); err != nil {
		t.Error(err)
	}
}

func TestPristineGateWithoutACheckoutIsUnknown(t *testing.T) {
	t.Parallel()
	b := newBench(t, files{"stock": "apples\n"}, func(o *verify.Options) { o.Setup = []string{"echo no network; exit 3"} })
	r, err := b.Run(t.Context(), []gate.Gate{{Name: "clean", Command: "true", Pristine: true}}, "")
	if err != nil || r[0].Status != gate.Unknown || !strings.Contains(r[0].Reason, "no network") {
		t.Errorf("%+v, %v", r, err)
	}
	v, err := verify.New(verify.Options{Root: t.TempDir(), Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	if r, err := v.Run(t.Context(), []gate.Gate{{Name: "clean", Command: "true", Pristine: true}}, ""); err != nil || r[0].Status != gate.Unknown {
		t.Errorf("without git: %+v, %v", r, err)
	}
}
