//go:build unix

package verify_test

import (
	"testing"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/verify"
)

// A script that gates run for its exit code is a gate input, and so is a list of such scripts, however
// the gates name it. What a test script gives arguments to is the program.
func TestScriptsRunByGatesAreGateInputs(t *testing.T) {
	t.Parallel()
	start := files{
		"greet.sh":     "echo \"hello $1\"\n",
		"cases/one.sh": "[ \"$(sh greet.sh one)\" = 'hello one' ]\n",
		"cases/two.sh": "[ \"$(sh greet.sh two)\" = 'hello two' ]\n",
		"cases.txt":    "# all of them\ncases/one.sh\ncases/two.sh\n",
		"tests/all.sh": "here=$(dirname \"$0\")\n[ \"$(sh \"$here/../greet.sh\" x)\" = 'hello x' ] && sh \"$here/../greet.sh\" y\n",
	}
	broken := "echo \"hello one\"\n"
	for name, c := range map[string]struct {
		gate    string
		work    files
		isCheat bool
	}{
		"function":         {"run() { sh \"$1\" || exit 1; }; run cases/one.sh; run cases/two.sh", files{"greet.sh": broken, "cases/two.sh": "true\n"}, true},
		"find":             {"find cases -name '*.sh' | sort | while read -r t; do sh \"$t\" || exit 1; done", files{"greet.sh": broken, "cases/two.sh": "true\n"}, true},
		"list":             {"while read -r t; do case $t in '#'*) continue;; esac; sh \"$t\" || exit 1; done < cases.txt", files{"greet.sh": broken, "cases.txt": "cases/one.sh\n"}, true},
		"program of tests": {"sh tests/all.sh", files{"greet.sh": "# Greets.\necho \"hello $1\"\n"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, start, nil)
			f := b.claim(gates(c.gate), c.work, nil)
			inputs := f.Observation.Inputs.Changed
			switch {
			case !c.isCheat && (len(inputs) > 0 || f.Verdict.NeedsChangedInputs):
				t.Errorf("%+v, inputs %q", f.Verdict, inputs)
			case c.isCheat && (f.Verdict.Evidence == gate.Proven || !f.Verdict.NeedsChangedInputs):
				t.Errorf("%+v, inputs %q", f.Verdict, inputs)
			}
		})
	}
}

// A script that names itself, as in cd "$(dirname "$0")", is named by no gate for that: a task may ask for
// its change.
func TestScriptThatNamesItselfIsWork(t *testing.T) {
	t.Parallel()
	start := files{
		"gen.sh":  "cd \"$(dirname \"$0\")\"\n{\n\techo a=1\n} >out.txt\n",
		"out.txt": "a=1\n",
		"test.sh": "cd \"$(dirname \"$0\")\"\ncp out.txt before\ntrap 'rm -f before' EXIT\nsh gen.sh\ncmp before out.txt || exit 1\ngrep -q a=1 out.txt\n",
	}
	work := files{
		"gen.sh":  "cd \"$(dirname \"$0\")\"\n{\n\techo a=1\n\techo b=2\n} >out.txt\n",
		"out.txt": "a=1\nb=2\n",
		"test.sh": start["test.sh"][:len(start["test.sh"])-1] + " && grep -q b=2 out.txt\n",
	}
	for _, c := range []struct {
		gate, asked string
		asks        bool
	}{
		{"sh test.sh", "gen.sh must also write b=2, regenerate out.txt", true},
		{"sh test.sh", "out.txt needs b=2", false},
		{"sh gen.sh && sh test.sh", "gen.sh must also write b=2, regenerate out.txt", false},
	} {
		b := newBench(t, start, nil)
		f := b.claim(gates(c.gate), work, func(r *verify.Request) { r.Asked = c.asked })
		if proven := f.Verdict.Evidence == gate.Proven; proven != c.asks {
			t.Errorf("%s: %s: %+v", c.gate, c.asked, f.Verdict)
		}
	}
}
