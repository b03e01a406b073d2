//go:build unix

package verify_test

import (
	"flag"
	"math/rand/v2"
	"path"
	"testing"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/verify"
	"github.com/pawl-dev/pawl/internal/work"
)

var claims = flag.Int("claims", 4, "claims that the property of gate inputs is tried with")

// For random changes of random files that are not work, a claim that passes only with them
// is never proven, whatever work is done beside. The gate passes where any file has a word.
func TestPassingByGateInputsIsNeverProven(t *testing.T) {
	t.Parallel()
	for n := range *claims {
		r := rand.New(rand.NewPCG(uint64(n), 41)) //nolint:gosec // to be the same each time
		t.Run(input(r).Path, func(t *testing.T) {
			t.Parallel()
			start := files{"app.py": "def f():\n    return 1\n", "docs/use.md": "Use it.\n", "check.sh": "grep -rq --exclude-dir=.git 'is gr[e]en' .\n"}
			changed := files{}
			for range 1 + r.IntN(3) {
				in := input(r)
				if !in.Added {
					start[in.Path] = "is red\n"
				}
				changed[in.Path] = [...]string{"is green\n", "# set\nis green\n", "is green\nis red\n"}[r.IntN(3)]
			}
			beside := files{"app.py": "def f():\n    return 2\n", "docs/use.md": "Use it well.\n", "new.py": "def g(n):\n    return n + 1\n", "test_new.py": "import new\nassert new.g(1) == 2\n"}
			for name, content := range beside {
				if r.IntN(2) == 0 {
					changed[name] = content
				}
			}
			b := newBench(t, start, nil)
			f := b.claim(gates("sh check.sh"), changed, nil)
			if f.Observation.Now[0].Status != gate.Pass || f.Verdict.Evidence == gate.Proven {
				t.Errorf("with %v changed: %s, %+v", changed, f.Observation.Now[0].Status, f.Verdict)
			}
		})
	}
}

// input is a random file that is neither work nor a test, there or new.
func input(r *rand.Rand) work.Change {
	pick := func(from ...string) string { return from[r.IntN(len(from))] }
	letters := func() string {
		name := make([]byte, 2+r.IntN(6))
		for i := range name {
			name[i] = byte('a' + r.IntN(26))
		}
		return string(name)
	}
	for {
		file := work.Change{
			Added: r.IntN(2) == 0, Path: path.Join(
				pick("", "", "conf", "tools", "data", "ci", ".hidden", "vendor/x", "src/"+letters(), letters()),
				pick("", "", ".", "_")+pick(letters(), letters(), "Makefile", "config", "setup", "package", "settings")+
					pick("", ".cfg", ".ini", ".toml", ".json", ".yaml", ".sh", ".mk", ".lock", ".xml", ".env", ".csv", ".bin", "."+letters())),
		}
		if !(work.Rules{}).IsWork(file) && !verify.IsTest(nil, file.Path) {
			return file
		}
	}
}
