//go:build unix

package verify_test

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/pawl-dev/pawl/internal/agent/agenttest"
	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/verify"
)

// Tests in a submodule are tests, but Pawl has no copy of them to restore.
func TestTestsInSubmodulesAreTests(t *testing.T) {
	t.Parallel()
	commit := []string{"-c", "user.name=dev", "-c", "user.email=dev@example.com", "commit", "-qam", "x"}
	for name, c := range agenttest.Some(map[string]struct {
		work        files
		inside      [][]string // commands of git
		want        gate.Evidence
		old, behind []string
	}{
		"a test is changed":             {files{"sub/f_test.sh": "true\n"}, nil, gate.EvidenceUnknown, []string{"sub/f_test.sh"}, []string{"sub"}},
		"it is committed":               {files{"sub/f_test.sh": "true\n"}, [][]string{commit}, gate.EvidenceUnknown, []string{"sub/f_test.sh"}, nil},
		"git was told to overlook it":   {files{"sub/f_test.sh": "true\n", "n": "n"}, [][]string{{"update-index", "--assume-unchanged", "f_test.sh"}}, gate.EvidenceUnknown, []string{"sub/f_test.sh"}, []string{"sub"}},
		"git is told of a filter":       {files{"sub/f_test.sh": "true\n", "n": "n"}, [][]string{{"config", "filter.x.clean", "true"}}, gate.EvidenceUnknown, []string{"sub"}, []string{"sub"}},
		"the code is fixed":             {files{"sub/lib": "echo good\n"}, [][]string{commit}, gate.Proven, nil, nil},
		"it is fixed and not committed": {files{"sub/lib": "echo good\n", "n": "n"}, nil, gate.Proven, nil, []string{"sub"}},
		"a case is gone":                {files{"sub/1.case": "x\n"}, [][]string{{"rm", "-qf", "1.case"}, commit}, gate.EvidenceUnknown, []string{"sub/1.case"}, nil},
	}, 2) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, files{"a": "a"}, shellTests)
			source := t.TempDir()
			sh(t, source, "git", "init", "-q", "-b", "main")
			inner := &bench{t: t, root: source}
			inner.write(files{"lib": "echo bad\n", "f_test.sh": "[ $(sh ./lib) = good ] || [ ! -f 1.case ]\n", "1.case": "good\n"})
			sh(t, source, "git", "add", "-A")
			sh(t, source, append([]string{"git"}, commit...)...)
			sh(t, b.root, "git", "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", source, "sub")
			sh(t, b.root, append([]string{"git"}, commit...)...)
			if err := b.RecordStart(t.Context()); err != nil {
				t.Fatal(err)
			}
			base := b.tree()
			gs := gates("cd sub && sh ./f_test.sh")
			if _, err := b.Baseline(t.Context(), base, gs, ""); err != nil {
				t.Fatal(err)
			}
			b.write(c.work)
			for _, args := range c.inside {
				sh(t, filepath.Join(b.root, "sub"), append([]string{"git"}, args...)...)
			}
			f := b.claim(gs, files{"note": "x"}, func(r *verify.Request) { r.Base = base })
			if v := f.Verdict; v.Evidence != c.want || !slices.Equal(f.Observation.Inputs.Changed, c.old) || !slices.Equal(f.UncommittedSubmodules, c.behind) {
				t.Errorf("%s %s, old tests %q, uncommitted %q: %s", v.Status, v.Evidence, f.Observation.Inputs.Changed, f.UncommittedSubmodules, v.Reason)
			}
		})
	}
}
