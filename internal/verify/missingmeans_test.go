//go:build unix

package verify_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/verify"
)

// Names that the work made for itself are no means for what the task asks for; others are.
func TestMissingMeansAreNamed(t *testing.T) {
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

// What the agent itself deleted, as the task asks, needs no call that deletes.
func TestDeletedFileNeedsNoDeletingCode(t *testing.T) {
	t.Parallel()
	for gone, want := range map[string]int{"vendor/randomid/index.js": 0, "extra/lib.js": 1} {
		b := newBench(t, files{"store.js": "const id = require('./vendor/randomid')\n", "vendor/randomid/index.js": "module.exports = () => 1\n", "extra/lib.js": "1\n"}, nil)
		f := b.claim(gates("true"), files{"store.js": "function id() {\n  return crypto.randomBytes(4)\n}\n", gone: ""}, func(r *verify.Request) {
			r.Asked = "replace vendor/randomid by node:crypto and make sure that it deletes the folder"
		})
		if got := f.Observation.Work.Unfinished; len(got) != want {
			t.Errorf("%s is gone: %q", gone, got)
		}
	}
}

// Work that has no means for what its task asks for is not proven by tests of what it does. A shell
// script is no exception.
func TestWorkWithoutMeansIsNotProven(t *testing.T) {
	t.Parallel()
	const asked, test = "saving must be atomic", "echo a | sh save.sh out && grep -q a out\n"
	for script, want := range map[string]gate.Evidence{
		"save() {\n  cat > \"$1\"\n}\nsave \"$1\"\n":                             gate.Unproven,
		"save() {\n  cat > \"$1.new\"\n  mv \"$1.new\" \"$1\"\n}\nsave \"$1\"\n": gate.Proven,
	} {
		b := newBench(t, files{"save.sh": "exit 1\n", "test.sh": "for t in test_*.sh; do sh $t || exit 1; done\n", "test_old.sh": "true\n"}, nil)
		f := b.claim(gates("sh test.sh"), files{"save.sh": script, "test_save.sh": test}, func(r *verify.Request) { r.Asked = asked })
		v := f.Verdict
		if v.Evidence != want || want == gate.Unproven && !strings.HasPrefix(v.Reason, "the work cannot do all that the task asks for: save.sh has no call that renames") {
			t.Errorf("%s: %+v", script, v)
		}
	}
}
