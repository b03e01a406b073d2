//go:build unix

package verify_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/verify"
)

func TestBaselineRunsInAnEarlierTree(t *testing.T) {
	t.Parallel()
	b := newBench(t, files{"stock": "apples\n"}, nil)
	base := b.tree()
	b.write(files{"stock": "pears\n"})
	got, err := b.Baseline(t.Context(), base, gates("grep apples stock", "grep pears stock"), "")
	if err != nil {
		t.Fatal(err)
	}
	if got[0].Status != gate.Pass || got[1].Status != gate.Unknown || !strings.Contains(got[1].Reason, "the work tree has changed since") {
		t.Errorf("baseline %+v", got)
	}
}

// While gates run before the work, or before the loop is resumed, users edit files. What failed then
// is known to have failed.
func TestUserEditsDoNotChangeTheBaseline(t *testing.T) {
	t.Parallel()
	mark := filepath.Join(t.TempDir(), "mark")
	edits := "test -f " + mark + " || { touch " + mark + "; echo mine >> notes; }; "
	for name, c := range map[string]struct {
		gate   string
		before files // the edit before the baseline
	}{
		"before": {"grep -q pears stock", files{"notes": "mine\n"}},
		"during": {edits + "grep -q pears stock", nil},
	} {
		b := newBench(t, files{"stock": "apples\n", "notes": "yours\n"}, nil)
		r := verify.Request{Gates: gates(c.gate), Base: b.tree()}
		b.write(c.before)
		got, err := b.Baseline(t.Context(), r.Base, r.Gates, "")
		if err != nil || got[0].Status != gate.Fail {
			t.Errorf("%s: baseline %+v, %v", name, got, err)
		}
		if unlike, err := b.CheckIsolation(t.Context(), r.Base, r.Gates, ""); err != nil || len(unlike) > 0 {
			t.Errorf("%s: isolation %+v, %v", name, unlike, err)
		}
		b.write(files{"stock": "pears\n"})
		r.Tree = b.tree()
		if f, err := b.Claim(t.Context(), r); err != nil || f.Verdict.Evidence != gate.Proven {
			t.Errorf("%s: claim %+v, %v", name, f.Verdict, err)
		}
	}
}
