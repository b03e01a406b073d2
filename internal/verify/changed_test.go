//go:build unix

package verify_test

import (
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/verify"
)

// sums is a project in shell, whose runner prints TAP: quicker to judge than one
// that must be built.
func sums(lib, test string) files {
	return files{
		"lib": lib, "add_test.sh": test,
		"run": `. ./lib
bad=0
for f in *_test.sh; do
	[ -e "$f" ] || continue
	. "./$f"
	for t in $(sed -n 's/^\(test_[a-z]*\)().*/\1/p' "$f"); do
		if $t; then echo "ok - $t"; else echo "not ok - $t"; bad=1; fi
	done
done
exit $bad
`,
	}
}

const (
	adds      = "add() { echo $(($1 + $2)); }\n"
	subtracts = "add() { echo $(($1 - $2)); }\n"
	wantsSum  = "test_add() { [ $(add 1 2) = 3 ]; }\n"
	wantsDiff = "test_add() { [ $(add 1 2) = -1 ]; }\n"
	wantsAny  = "test_add() { true; }\n"
)

func sumsGate() []gate.Gate { return []gate.Gate{{Name: "a", Command: "sh run", Report: "tap"}} }

func shellTests(o *verify.Options) { o.Tests = []string{"**/*_test.sh"} }

func TestChangedTestsAreListed(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name    string
		start   files
		work    files
		allow   bool
		want    gate.Evidence
		changed bool
		reason  string
	}{
		{
			"the test was bent to the work", sums(adds, wantsSum),
			files{"lib": subtracts, "add_test.sh": wantsDiff},
			false, gate.EvidenceUnknown, true, "only with the changed tests",
		},
		{
			"as the task may", sums(adds, wantsSum),
			files{"lib": subtracts, "add_test.sh": wantsDiff},
			true, gate.Proven, false, "passes with it: test_add",
		},
		{
			"the test was deleted", withMore(sums(adds, wantsSum)),
			files{"lib": subtracts, "add_test.sh": ""},
			false, gate.EvidenceUnknown, true, "only with the changed tests",
		},
		{
			"the test was renamed", sums(adds, wantsSum),
			files{"add_test.sh": strings.Replace(wantsSum, "test_add", "test_sum", 1)},
			false, gate.Unproven, false, "without this work too",
		},
		{
			"a red test was emptied", sums(subtracts, wantsSum),
			files{"add_test.sh": wantsAny},
			false, gate.EvidenceUnknown, true, "only with the changed tests",
		},
		{
			"a red test was edited, and would be green without", sums(subtracts, wantsSum),
			files{"lib": adds, "add_test.sh": wantsSum + "# as it says\n"},
			false, gate.Proven, false, "passes now: test_add",
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, c.start, shellTests)
			v := b.claim(sumsGate(), c.work, func(r *verify.Request) { r.AllowTestChanges = c.allow }).Verdict
			if v.Status != gate.Pass || v.Evidence != c.want || v.NeedsChangedInputs != c.changed || !strings.Contains(v.Reason, c.reason) {
				t.Errorf("verdict %+v (runs %q)", v, b.ran)
			}
		})
	}
}

// withMore adds a test that stays.
func withMore(f files) files {
	f["more_test.sh"] = "test_more() { true; }\n"
	return f
}

// No test is not a judgement, whoever allows what.
func TestClaimWithoutTestsIsUnknown(t *testing.T) {
	t.Parallel()
	for _, allow := range []bool{false, true} {
		b := newBench(t, sums(adds, wantsSum), shellTests)
		v := b.claim(sumsGate(), files{"lib": subtracts, "add_test.sh": ""}, func(r *verify.Request) { r.AllowTestChanges = allow }).Verdict
		if v.Status != gate.Fail || !strings.Contains(v.Reason, "now it reports none") {
			t.Errorf("allowed %v: %+v", allow, v)
		}
	}
}

func TestProtectedCopiesMayPredateTheTask(t *testing.T) {
	t.Parallel()
	b := newBench(t, sums(adds, wantsSum), shellTests)
	judge := b.tree()
	bent := files{"lib": subtracts, "add_test.sh": wantsAny, "more_test.sh": "test_more() { true; }\n"}
	if v := b.claim(sumsGate(), bent, nil).Verdict; !v.NeedsChangedInputs {
		t.Fatalf("first task: %+v", v)
	}
	v := b.claim(sumsGate(), files{"README": "sums\n"}, func(r *verify.Request) { r.ProtectedTree = judge }).Verdict
	if !v.NeedsChangedInputs || !strings.Contains(v.Reason, "add_test.sh") {
		t.Errorf("second task: %+v", v)
	}
}

func TestNewTestDoesNotReplaceAnOldOne(t *testing.T) {
	t.Parallel()
	b := newBench(t, sums(adds, wantsSum), shellTests)
	work := files{"lib": adds + "sub() { echo $(($1 - $2)); }\n", "sub_test.sh": "test_sub() { [ $(sub 3 1) = 2 ]; }\n"}
	v := b.claim(sumsGate(), work, nil).Verdict
	if v.Evidence != gate.Proven || len(v.Labels) != 0 || !strings.Contains(v.Reason, "test_sub") {
		t.Errorf("verdict %+v", v)
	}
	v = b.claim(sumsGate(), files{"run": "echo ok - test_add\n"}, nil).Verdict
	if v.Status != gate.Fail || !strings.Contains(v.Reason, "was not run now: test_sub") {
		t.Errorf("verdict %+v", v)
	}
}
