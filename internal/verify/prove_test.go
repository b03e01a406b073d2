//go:build unix

package verify_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/verify"
)

// The gates here look at the broken code's text: what they cannot see, no test notices.
func TestProveNamesUnnoticedMutants(t *testing.T) {
	t.Parallel()
	const (
		was  = "def old(a):\n    return a - 1\n\n\ndef same(a):\n    return a\n"
		work = "def old(a):\n    return a + 1\n\n\ndef same(a):\n    return a\n\n\ndef new(a) -> int:\n    b = a\n    return b\n\n\ndef word() -> str:\n    return 'x'\n"
	)
	for _, c := range []struct {
		name, gate string
		most       time.Duration
		want       string
	}{
		{"each is noticed", "grep -q 'a + 1' calc.py && ! grep -q 'return [07\"]' calc.py", time.Hour, `
calc.py:1 old killed (does what it did before)
calc.py:9 new killed (returns 0)
calc.py:14 word killed (returns "pawl")
`},
		{"one value is not", "grep -q 'a + 1' calc.py && ! grep -q 'return [0\"]' calc.py", time.Hour, `
calc.py:1 old killed (does what it did before)
calc.py:9 new survived (returns 77)
calc.py:14 word killed (returns "pawl")
`},
		{"a change is not", "! grep -q 'return [07\"]' calc.py", time.Hour, `
calc.py:1 old survived (does what it did before), tested by a
calc.py:9 new killed (returns 0)
calc.py:14 word killed (returns "pawl")
`},
		{"nothing is", "true", time.Hour, `
calc.py:1 old survived (does what it did before)
calc.py:9 new survived (returns 0)
calc.py:14 word survived (returns "pawl")
`},
		{"the runner goes missing", "grep -q 'a + 1' calc.py || exit 127; ! grep -q 'return 0' calc.py || exit 127; ! grep -q 'return \"' calc.py", time.Hour, `
calc.py:1 old survived (returns 77)
calc.py:9 new survived (returns 77)
calc.py:14 word killed (returns "pawl")
`},
		{"a compiler stops at it", `if grep -q 'return [07"]' calc.py; then printf 'a.c:3:5: error: x\n    3 | x\n'; exit 1; fi; grep -q 'a + 1' calc.py`, time.Hour, `
calc.py:1 old killed (does what it did before)
calc.py:9 new survived (takes zero values)
calc.py:14 word inconclusive: a.c:3:5: error: x
`},
		{"there is no time", "true", 0, `
calc.py:1 old inconclusive: the time limit was reached
calc.py:9 new inconclusive: the time limit was reached
calc.py:14 word inconclusive: the time limit was reached
`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, files{"calc.py": was}, nil)
			before := b.tree()
			b.write(files{"calc.py": work, "test_calc.py": "def test(): assert True\n", "notes.txt": "x"})
			var told int
			found, err := b.Prove(t.Context(), verify.ProofRequest{
				Before: before, After: b.tree(), Gates: gates(c.gate), Time: c.most, Tried: func(verify.FunctionProof) { told++ },
			})
			if err != nil {
				t.Fatal(err)
			}
			var got strings.Builder
			for _, p := range found.Functions {
				fmt.Fprintf(&got, "%s:%d %s %s", p.Path, p.Line, p.Name, p.Result)
				if p.Result == gate.Inconclusive {
					fmt.Fprintf(&got, ": %s\n", p.Why)
					continue
				}
				fmt.Fprintf(&got, " (%s)", p.Does)
				if p.ChangeSurvived() {
					fmt.Fprintf(&got, ", tested by %s", strings.Join(p.By, " "))
				}
				got.WriteByte('\n')
			}
			if diff := cmp.Diff(strings.TrimPrefix(c.want, "\n"), got.String()); diff != "" {
				t.Error(diff)
			}
			if told != len(found.Functions) {
				t.Errorf("told of %d of %d", told, len(found.Functions))
			}
		})
	}
}

// Where the gates do not pass on whole code, broken code says nothing.
func TestProveNeedsPassingGates(t *testing.T) {
	t.Parallel()
	b := newBench(t, files{"calc.py": "x = 1\n"}, nil)
	before := b.tree()
	b.write(files{"calc.py": "def f():\n    return 1\n"})
	_, err := b.Prove(t.Context(), verify.ProofRequest{Before: before, After: b.tree(), Gates: gates("false"), Time: time.Hour})
	if err == nil || !strings.Contains(err.Error(), "the gates fail on the unchanged code: ") {
		t.Errorf("%v", err)
	}
}

func TestProveNamesSigns(t *testing.T) {
	t.Parallel()
	b := newBench(t, files{"calc.py": "import os\ndef old(): pass\ndef moved(): pass\n", "a.ts": "export {}\n", "b.ts": "export {}\n", "list.txt": "a\nb\n", "asked.txt": "a\n"}, nil)
	before := b.tree()
	b.write(files{"calc.py": "import os\nos._exit(0)\n", "other.py": "def moved(): return 1\n", "random.py": "x = 1\n", "test_calc.py": "import os\nos._exit(0)\n", "test_moved.py": "class Own:\n    def moved(self):\n        assert True\n", "a.js": "export {}\n", "notes.txt": "os._exit(0)", "list.txt": "a\n", "asked.txt": "b\n"})
	sh(t, b.root, "rm", "a.ts")
	found, err := verify.Signs(t.Context(), b.repo, verify.SignRequest{Before: before, After: b.tree(), Asked: "change asked.txt"})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range found {
		got = append(got, s.String())
	}
	want := []string{
		"calc.py:2 ends the process with success: os._exit(0)",
		"list.txt is data that was there: a gate may read it",
		"random.py has the name of the Python module random, whose place it may take", "test_moved.py:2 has a function of its own with a name that the work changed: Own.moved", "calc.py no longer exports old",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestProveNamesLinesThatNoTestNotices(t *testing.T) {
	t.Parallel()
	b := newBench(t, files{"calc.py": "x = 1\n"}, nil)
	before := b.tree()
	b.write(files{
		"calc.py": "x = 1\n\n\ndef f(a) -> int:\n    if a > 3:\n        a = 3\n    if a > 2:\n        a = 2\n    return a\n",
		"t.sh":    "prune() {\n  rm -f \"$1\"\n}\n",
	})
	found, err := b.Prove(t.Context(), verify.ProofRequest{
		Before: before, After: b.tree(), Gates: gates("! grep -q 'return [07]' calc.py && grep -q '  if a > 2' calc.py && ! grep -q 'if False: a = [23]' calc.py"), Time: time.Hour,
	})
	if err != nil || len(found.Functions) != 1 {
		t.Fatal(found, err)
	}
	var got []string
	for _, m := range found.Missed {
		got = append(got, m.String())
	}
	want := []string{
		`t.sh:2 in prune is left out (rm -f "$1")`, "calc.py:5 in f never holds (if a > 3:)",
		"calc.py:6 in f has 4 for 3 (a = 3)", "calc.py:8 in f has 3 for 2 (a = 2)",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// What only moved is none of the change, neither with its file nor from one to another.
func TestProveOmitsMovedCode(t *testing.T) {
	t.Parallel()
	const two, more = "LIMIT = 10\n\n\ndef two(x):\n    return x * 2 + 1\n", "\n\ndef more(x):\n    return x * 3 + 1\n"
	for name, c := range map[string]struct {
		change files
		want   []string
	}{
		"a file":              {files{"calc.py": "", "sums.py": two + more}, nil},
		"a function":          {files{"calc.py": two, "other.py": "x = 1\n" + more}, nil},
		"a file, and changed": {files{"calc.py": "", "sums.py": two + strings.Replace(more, "3", "4", 1)}, []string{"more"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, files{"calc.py": two + more, "other.py": "x = 1\n"}, nil)
			before := b.tree()
			b.write(c.change)
			found, err := b.Prove(t.Context(), verify.ProofRequest{Before: before, After: b.tree(), Gates: gates("true"), Time: time.Hour})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, p := range found.Functions {
				got = append(got, p.Name)
			}
			for _, m := range found.Missed {
				if m.In != "more" || c.want == nil {
					t.Errorf("missed: %s", m)
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
