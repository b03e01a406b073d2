package statefile

import (
	"regexp"

	"github.com/pawl-dev/pawl/internal/record"
)

// sample is a project in which a loop of a format is running.
type sample struct {
	files  map[string]string // the files by path in the project
	state  string            // the state file among them, "" if the format finds none
	spec   record.Spec       // of a loop made from it
	place  Place             // without the root
	values *regexp.Regexp    // matches the lines of the state file that may change; nil = not kept line by line
	fills  bool              // any text is read, missing lines are inserted, and edited lines are replaced
}

// samples returns one sample for each format.
func samples() map[string]sample {
	return map[string]sample{
		ralphLoop{}.Name():    ralphSample(),
		thLoop{}.Name():       thSample(),
		verifyActive{}.Name(): verifySample(),
		featureList{}.Name():  featureSample(),
		planLoop{}.Name():     planSample(),
	}
}

func ralphSample() sample {
	const path = ".claude/ralph-loop.local.md"
	return sample{
		files: map[string]string{path: "---\nactive: true\nmine: iteration: 3\niteration: 3 # so far\nsession_id: s1\nmax_iterations: 9\n" +
			"completion_promise: \"DONE\"\n---\n\nDo it.\n---\niteration: 3\n"},
		state:  path,
		spec:   record.Spec{Request: record.Request{Prompt: "Do it."}, TurnOptions: record.TurnOptions{Promise: "DONE"}, SessionOptions: record.SessionOptions{CompatFile: path}, Repository: record.Repository{NoCommit: true}},
		values: regexp.MustCompile(`^iteration:`),
	}
}

func featureSample() sample {
	const path = ".claude/data/ralph-loops/current/progress.txt"
	const list = ".claude/data/ralph-loops/current/feature_list.json"
	return sample{
		files: map[string]string{
			list: `[{"id":"US-001","description":"do it","passes":false}]`,
			path: "# Log\n\n- Iteration: 3 # so far\n- Max Iterations: 9\n- Status: IN_PROGRESS\n\n### Iteration: 2\n- Iteration: 2\nStatus: COMPLETE\n",
		},
		state:  path,
		spec:   record.Spec{Request: record.Request{Plan: list}, SessionOptions: record.SessionOptions{CompatFile: path}, Repository: record.Repository{NoCommit: true}},
		values: regexp.MustCompile(`(?i)^\W*(current\s+|overall\s+|loop\s+)?(iteration|max(imum)?\s+iterations?|status)\W*:`),
		fills:  true,
	}
}

func planSample() sample {
	return sample{
		files: map[string]string{".ralph/PRD-1/plan.md": "- [ ] US-001: do it\n"},
		spec:  record.Spec{Request: record.Request{Plan: ".ralph/PRD-1/plan.md"}, Repository: record.Repository{NoCommit: true}},
	}
}
