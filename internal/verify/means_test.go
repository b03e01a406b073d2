//go:build unix

package verify_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/verify"
)

// Names that the work made for itself are no means for what the task asks for; others are.
func TestSignsSayWhatTheWorkHasNoMeansFor(t *testing.T) {
	t.Parallel()
	const asked = "backup.sh: delete all but the newest archives; saving must be atomic"
	for _, c := range []struct {
		name  string
		after files
		want  []string
	}{
		{"none", files{"backup.sh": "prune() {\n  echo \"deleted $1\"\n}\n", "store.py": "def lock(path):\n    path.write_text('x')\n"}, []string{
			"backup.sh has no call that removes anything, and the task says delete all: prune, lock",
			"backup.sh has no call that renames a file, locks or commits, and the task says atomic: prune, lock",
		}},
		{"by what it calls", files{"backup.sh": "prune() {\n  rm -f -- \"$1\"\n}\n", "save.py": "import store\ndef save(path):\n    store.keep(path)\n"}, nil},
		{"both", files{"backup.sh": "prune() {\n  rm -f -- \"$1\"\n}\n", "store.py": "def save(path):\n    temporary(path).rename(path)\n"}, nil},
		{"no function changed", files{"notes.md": "x\n"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, files{"backup.sh": "#!/bin/sh\n", "store.py": "def keep(path):\n    temporary(path).rename(path)\n\ndef drop(path):\n    path.unlink()\n"}, nil)
			before := b.tree()
			b.write(c.after)
			found, err := verify.Signs(t.Context(), b.repo, verify.SignRequest{Before: before, After: b.tree(), Asked: asked})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, s := range found {
				if strings.Contains(s.Does, "the task says") {
					got = append(got, s.String())
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
