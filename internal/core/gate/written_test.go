package gate

import (
	"strings"
	"testing"
)

// A run that writes test files proves nothing, unless the baseline's run does so too, or the run in
// the work tree leaves the same change.
func TestRunWritingTestFilesProvesNothing(t *testing.T) {
	t.Parallel()
	run := func(s Status, wrote map[string]bool) []Result {
		return []Result{{Gate: "sh", Status: s, WrittenTests: wrote}}
	}
	putBack, changed := map[string]bool{"a_test.py": true}, map[string]bool{"a_test.py": false}
	for name, c := range map[string]struct {
		before, now, clean map[string]bool
		want               Evidence
	}{
		"none":                       {nil, nil, nil, Proven},
		"put back":                   {nil, nil, putBack, Unproven},
		"put back here too":          {nil, putBack, putBack, Unproven},
		"changed there alone":        {nil, nil, changed, Unproven},
		"changed here too":           {nil, changed, changed, Proven},
		"the tree of before does so": {putBack, putBack, putBack, Proven},
	} {
		o := Observation{
			Changed: true, Baseline: run(Fail, c.before), Now: run(Pass, c.now),
			Runs: map[Probe]Run{RepeatBefore: {Results: run(Fail, c.before)}, RepeatClean: {Results: run(Pass, c.clean)}},
		}
		v := Decide(o)
		if v.Evidence != c.want || (c.want == Unproven) != strings.Contains(v.Reason, "a_test.py") {
			t.Errorf("%s: %s: %s", name, v.Evidence, v.Reason)
		}
	}
}
