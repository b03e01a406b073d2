//go:build unix

package verify_test

import (
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/agent/agenttest"
	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/verify"
)

// A fix beside tests that are as they were is judged by what turned green.
func TestFixBesideUnchangedTestsInOneFileIsProven(t *testing.T) {
	t.Parallel()
	const (
		rust    = "pub fn add(a: i32, b: i32) -> i32 {\n    a - b\n}\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn adds() { assert_eq!(super::add(1, 2), 3); }\n}\n"
		example = "def add(a, b):\n    \"\"\"\n    >>> add(1, 2)\n    3\n    \"\"\"\n    return a - b\n"
		inline  = "def add(a, b):\n    return a - b\n\n\ndef test_add():\n    assert add(1, 2) == 3\n"
		apart   = "import calc\n\n\ndef add(a, b):\n    return a - b\n\n\ndef test_add():\n    assert add(1, 2) == 3\n"
	)
	fix := []string{"a - b", "a + b"}
	cases := []struct {
		name, file, text string
		named            bool // a gate's command names it as a test
		edit             []string
		want             gate.Evidence
		changed          bool
	}{
		{"Rust", "lib.rs", rust, false, fix, gate.Proven, false},
		{"Rust, with the test", "lib.rs", rust, false, append([]string{"(1, 2), 3", "(1, 2), 3i32"}, fix...), gate.EvidenceUnknown, false},
		{"examples", "calc.py", example, false, fix, gate.Proven, false},
		{"examples, with one more", "calc.py", example, false, append([]string{"    3\n", "    3\n    >>> add(0, 0)\n    0\n"}, fix...), gate.Proven, false},
		{"examples of a file that is named", "calc.py", example, true, fix, gate.Proven, false},
		{"named, with an example more", "calc.py", example, true, append([]string{"    3\n", "    3\n    >>> add(0, 0)\n    0\n"}, fix...), gate.Proven, false},
		{"named, with an example before it", "calc.py", example, true, append([]string{"    >>>", "    >>> add = max\n    >>>"}, fix...), gate.EvidenceUnknown, true},
		{"named, with its example", "calc.py", example, true, append([]string{"    3\n", "    4\n"}, fix...), gate.EvidenceUnknown, true},
		{"tests in a file that is named", "calc.py", inline, true, fix, gate.Proven, false},
		{"named, with a test", "calc.py", inline, true, append([]string{"== 3", "== 1 + 2"}, fix...), gate.EvidenceUnknown, true},
		{"a helper of tests of another file", "checks.py", apart, true, fix, gate.EvidenceUnknown, true},
	}
	for _, c := range agenttest.Each(cases, 2) {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			start := files{"calc.py": "x = 1\n"}
			start[c.file] = c.text
			b := newBench(t, start, func(o *verify.Options) {
				if c.named {
					o.Tests = append(verify.DefaultTests(), c.file)
				}
			})
			f := b.claim(gates("grep -q 'a + b' "+c.file), files{c.file: strings.NewReplacer(c.edit...).Replace(c.text)}, nil)
			if v := f.Verdict; v.Evidence != c.want || v.NeedsChangedInputs != c.changed {
				t.Errorf("%+v", v)
			}
		})
	}
}

// A fix and a test that is added beside the others in the same file: with the functions
// of the work broken, the test is seen to fail.
func TestFixWithNewTestInOneFileIsProven(t *testing.T) {
	t.Parallel()
	const lib = "pub fn add(a: i32, b: i32) -> i32 {\n    a - b\n}\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn zero() { assert_eq!(super::add(0, 0), 0); }\n}\n"
	const fresh = "\n    #[test]\n    fn adds() {\n        assert_eq!(super::add(1, 2), 3);\n    }\n"
	after := "fn zero() { assert_eq!(super::add(0, 0), 0); }\n"
	for name, c := range map[string]struct {
		edit   []string
		want   gate.Evidence
		reason string
	}{
		"with the work":             {[]string{"a - b", "a + b", after, after + fresh}, gate.Proven, "fails when its functions are broken"},
		"the test alone is not it":  {[]string{after, after + strings.ReplaceAll(fresh, "3", "-1")}, gate.EvidenceUnknown, "inside source files"},
		"an old test is changed":    {[]string{"a - b", "a + b", after, "fn zero() { }\n" + fresh}, gate.EvidenceUnknown, "inside source files"},
		"an old test is ignored":    {[]string{"a - b", "a + b", "    #[test]\n    fn zero", "    #[test]\n    #[ignore]\n    fn zero"}, gate.EvidenceUnknown, "inside source files"},
		"a helper comes with it":    {[]string{"a - b", "a + b", after, after + "    fn add() {}\n" + fresh}, gate.EvidenceUnknown, "inside source files"},
		"what asserts is redefined": {[]string{"a - b", "a + b", after, after + fresh, "pub fn", "macro_rules! assert_eq { () => {} }\npub fn"}, gate.EvidenceUnknown, "inside source files"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, files{"lib.rs": lib}, nil)
			// As cargo test would: the new test fails where the code subtracts.
			f := b.claim(gates("! grep -q 'add(1, 2), 3' lib.rs || grep -q 'a + b' lib.rs"), files{"lib.rs": strings.NewReplacer(c.edit...).Replace(lib)}, nil)
			if v := f.Verdict; v.Evidence != c.want || !strings.Contains(v.Reason, c.reason) {
				t.Errorf("%s %s: %s", v.Status, v.Evidence, v.Reason)
			}
		})
	}
}

// Dead code that goes with its test is proven by a gate that was red for it, once the
// deletion of the test is approved.
func TestDeletedDeadCodeIsProvenOnceApproved(t *testing.T) {
	t.Parallel()
	for name, gs := range map[string][]gate.Gate{
		"beside the tests":      gates("go test ./...", "! grep -rq legacy --include=*.go ."),
		"the gate alone":        gates("! grep -rq legacy --include=*.go ."),
		"in one with the tests": gates("go test ./... && ! grep -rq legacy --include=*.go ."),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			start := calc()
			start["old.go"] = "package calc\n\nfunc legacy() int { return 1 }\n"
			start["old_test.go"] = "package calc\n\nimport \"testing\"\n\nfunc TestOld(t *testing.T) {\n\tif legacy() != 1 {\n\t\tt.Error()\n\t}\n}\n"
			b := newBench(t, start, nil)
			f := b.claim(gs, files{"old.go": "", "old_test.go": ""}, nil)
			if f.Verdict.Evidence == gate.Proven {
				t.Errorf("without an approval: %+v", f.Verdict)
			}
			if g := f.IfApproved; g == nil || g.Status != gate.Pass || g.Evidence != gate.Proven {
				t.Errorf("approved: %+v\n%+v", g, f.Verdict)
			}
		})
	}
}
