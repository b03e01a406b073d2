//go:build unix

package verify_test

import (
	"path/filepath"
	"testing"

	"github.com/pawl-dev/pawl/internal/agent/agenttest"
	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/verify"
)

// A gate that was red by chance runs again when the agent claims the same tree again; one
// that was red twice is not asked a third time.
func TestTwiceFailedTreeIsNotRunAgain(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		reds string // of the runs after the baseline
		want []gate.Status
		runs int
	}{
		"by chance": {"4", []gate.Status{gate.Fail, gate.Pass, gate.Pass}, 2},
		"for good":  {"[4-9]", []gate.Status{gate.Fail, gate.Fail, gate.Fail}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, files{"lib": "bad\n"}, nil)
			count := filepath.Join(t.TempDir(), "runs")
			gs := gates("echo >> " + count + "; case $(wc -l < " + count + ") in " + c.reds + ") exit 1;; esac; true")
			for range 3 { // of the baseline's tree, of which nothing is asked
				sh(t, b.root, "sh", "-c", "echo >> "+count)
			}
			base := b.tree()
			b.write(files{"lib": "good\n"})
			r := verify.Request{Gates: gs, Base: base, Tree: b.tree(), GatesOnly: true, KnownBaseline: []gate.Result{{Gate: gs[0].Name, Status: gate.Pass}}}
			for i, want := range c.want {
				f, err := b.Claim(t.Context(), r)
				if err != nil {
					t.Fatal(err)
				}
				if got := f.Observation.Now[0]; got.Status != want || got.Flaky != (want == gate.Pass) {
					t.Errorf("claim %d: %s, flaky %v", i+1, got.Status, got.Flaky)
				}
			}
		})
	}
}

// A gate that makes code again and asks git what changed sees what it changed itself.
func TestGateSeesItsTreeAsCommitted(t *testing.T) {
	t.Parallel()
	start := files{"list": "red\n", "made.go": "red\n", "gen": "cat list > made.go\n"}
	gs := gates("sh gen && git diff --exit-code && grep -q blue made.go")
	for name, c := range map[string]struct {
		work files
		want gate.Status
		is   gate.Evidence
	}{
		"made again":     {files{"list": "blue\n", "made.go": "blue\n"}, gate.Pass, gate.Proven},
		"not made again": {files{"list": "blue\n"}, gate.Pass, gate.Unproven},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, start, nil)
			f := b.claim(gs, c.work, func(r *verify.Request) { r.Work = []string{"list"} })
			if v := f.Verdict; v.Status != c.want || v.Evidence != c.is {
				t.Errorf("%s %s: %s", v.Status, v.Evidence, v.Reason)
			}
		})
	}
}

// The output of a new example is what git compares with, also where the work is broken.
func TestRegeneratedOutputIsComparedWithGit(t *testing.T) {
	t.Parallel()
	agenttest.Needs(t, "gcc")
	const lib, header = "#include \"lib.h\"\nint add(int a, int b)\n{\n    return a + b;\n}\n", "int add(int a, int b);\n"
	example := func(call string) string {
		return "#include <stdio.h>\n#include \"lib.h\"\n\nint main()\n{\n    printf(\"%d\\n\", " + call + ");\n    return 0;\n}\n"
	}
	makes := func(name string) string { return "gcc " + name + ".c lib.c -o it\n./it > " + name + ".txt\nrm it\n" }
	b := newBench(t, files{"lib.c": lib, "lib.h": header, "one.c": example("add(1, 2)"), "one.txt": "3\n", "gen.sh": makes("one")}, nil)
	f := b.claim(gates("sh gen.sh && git diff --exit-code"), files{
		"lib.c": lib + "\nint sub(int a, int b)\n{\n    return a - b;\n}\n", "lib.h": header + "int sub(int a, int b);\n",
		"two.c": example("sub(3, 2)"), "two.txt": "1\n", "gen.sh": makes("one") + makes("two"),
	}, func(r *verify.Request) { r.Asked = "sub" })
	if v := f.Verdict; v.Evidence != gate.Proven {
		t.Errorf("%s %s: %s", v.Status, v.Evidence, v.Reason)
	}
}

// A new case beside others, which an old test reads, is laid over the code of before.
func TestNewCaseIsOverlaidOnTheOldCode(t *testing.T) {
	t.Parallel()
	start := files{"price.sh": "echo ${1%.*}\n", "cases/a.txt": "1.5 1\n", "check": "for f in cases/*; do while read -r a b; do [ $(sh price.sh $a) = $b ] || exit 1; done < $f; done\n"}
	for name, c := range map[string]struct {
		work files
		want gate.Evidence
	}{
		"fails without the work": {files{"price.sh": "echo ${1%.*} | tr -d ,\n", "cases/b.txt": "1,5.0 15\n"}, gate.Proven},
		"passes without it too":  {files{"price.sh": "echo ${1%.*} | tr -d ,\n", "cases/b.txt": "2.0 2\n"}, gate.Unproven},
		"fixes what was red":     {files{"cases/b.txt": "2.0 2\n", "b": "b\n"}, gate.Proven},
		"no case":                {files{"price.sh": "echo ${1%.*} | tr -d ,\n"}, gate.Unproven},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, start, nil)
			check := "sh check"
			if c.work["b"] != "" {
				check = "[ -e cases/b.txt ] && sh check"
			}
			f := b.claim(gates(check), c.work, nil)
			if v := f.Verdict; v.Evidence != c.want {
				t.Errorf("%s %s: %s", v.Status, v.Evidence, v.Reason)
			}
		})
	}
}
