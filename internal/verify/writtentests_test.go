//go:build unix

package verify_test

import (
	"testing"

	"github.com/pawl-dev/pawl/internal/core/gate"
)

// A test may make the programs beside it executable. A program that rewrites a test while it runs, and
// restores text and time, proves nothing.
func TestRunThatRewritesTestsProvesNothing(t *testing.T) {
	t.Parallel()
	start := files{
		"greet.sh":       "echo hi\n",
		"tests/bin/curl": "#!/bin/sh\necho fake\n",
		"tests/all.sh":   "[ -n \"$(sh greet.sh x)\" ]\n",
	}
	for name, c := range map[string]struct {
		greet, test string
		want        gate.Evidence
	}{
		"chmod": {"echo \"hello $1\"\n", "chmod +x tests/bin/*\nchmod +x tests/bin/*\n[ \"$(sh greet.sh x)\" = 'hello x' ] && [ \"$(tests/bin/curl)\" = fake ]\n", gate.Proven},
		"rewrite": {
			"touch -r tests/all.sh t && cp tests/all.sh c && echo exit 0 > tests/all.sh\ncat c > tests/all.sh && touch -r t tests/all.sh && rm c t\necho \"hello $1\"\n",
			"[ \"$(sh greet.sh x)\" = 'hello x' ]\n", gate.Unproven,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, start, nil)
			f := b.claim(gates("for t in tests/*.sh; do sh $t || exit 1; done"), files{"greet.sh": c.greet, "tests/new.sh": c.test}, nil)
			if f.Verdict.Evidence != c.want {
				t.Errorf("%s: %s\n%+v", f.Verdict.Evidence, f.Verdict.Reason, f.Observation.Inputs)
			}
		})
	}
}
