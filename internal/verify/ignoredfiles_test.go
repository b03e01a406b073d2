//go:build unix

package verify_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/core/gate"
)

// What git ignores may shape what the tests do: that proves nothing, and is named.
func TestIgnoredFilesBesideTestsProveNothing(t *testing.T) {
	t.Parallel()
	const bends = "add() { echo 3; }\n"
	for name, c := range map[string]struct {
		before, work files
		want         gate.Evidence
		named        string
	}{
		"a file that bends them comes": {nil, files{"conftest.py": bends}, gate.EvidenceUnknown, "new or changed since the loop started, and in no commit: conftest.py"},
		"one that was there is bent":   {files{"conftest.py": "true\n"}, files{"conftest.py": bends}, gate.EvidenceUnknown, "new or changed since the loop started, and in no commit: conftest.py"},
		"it comes with honest work":    {nil, files{"lib": adds, "conftest.py": "true\n", "pkg.log": "x"}, gate.Proven, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			start := sums(subtracts, wantsSum)
			maps.Copy(start, files{".gitignore": "conftest.py\n*.log\n", "tests/x": "x"})
			start["run"] = ". ./lib\n[ ! -e conftest.py ] || . ./conftest.py\n" + start["run"][len(". ./lib\n"):]
			b := newBench(t, start, shellTests)
			b.write(c.before)
			if err := b.RecordStart(t.Context()); err != nil {
				t.Fatal(err)
			}
			work := files{"note": "x"}
			maps.Copy(work, c.work)
			f := b.claim(sumsGate(), work, nil)
			if v := f.Verdict; v.Status != gate.Pass || v.Evidence != c.want || !strings.Contains(v.Reason, c.named) {
				t.Errorf("%s %s: %s", v.Status, v.Evidence, v.Reason)
			}
		})
	}
}

// What gates made before the first turn (caches, reports) is not a change of the agent's.
func TestGateProductsBeforeTheFirstTurnAreNotNamed(t *testing.T) {
	t.Parallel()
	b := newBench(t, files{".gitignore": "__pycache__/\n*.log\n", "m.py": "m"}, nil)
	if err := b.RecordStart(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.write(files{"__pycache__/m.cpython-313.pyc": "compiled", "out.log": "x"})
	if err := b.RecordIgnored(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.write(files{"mine.log": "x"})
	if got, err := b.ChangedIgnoredFiles(t.Context()); err != nil || !slices.Equal(got, []string{"mine.log"}) {
		t.Errorf("%q, %v", got, err)
	}
}

// Python believes what it once compiled by the time and size that stand in it.
func TestCompiledPythonIsRemoved(t *testing.T) {
	t.Parallel()
	b := newBench(t, files{".gitignore": "__pycache__/\n", "d/m.py": "m"}, nil)
	b.claim(gates("true"), files{"d/__pycache__/m.cpython-313.pyc": "a lie", "n": "n"}, nil)
	if left, err := filepath.Glob(filepath.Join(b.root, "d", "__pycache__")); err != nil || len(left) > 0 {
		t.Errorf("%q, %v", left, err)
	}
	if _, err := os.Stat(filepath.Join(b.root, "d", "m.py")); err != nil {
		t.Error(err)
	}
}
