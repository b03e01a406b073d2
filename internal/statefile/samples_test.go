package statefile

import (
	"regexp"

	"github.com/pawl-dev/pawl/internal/record"
)

// sample is a project in which a format's loop is at work.
type sample struct {
	files  map[string]string // what is there, by its path in the project
	state  string            // the state file among them; "" where the format finds none by itself
	spec   record.Spec       // of a loop made of it
	place  Place             // beside the root
	values *regexp.Regexp    // matches those lines of the state file that may change; nil: it is not kept line by line
	fills  bool              // any text is read, lines that are missing are put in, and what others wrote in them is replaced
}

// samples has one for each format.
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
