//go:build unix

package e2e_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/agent/agenttest/messagesapi"
)

// The folder of the feature-list controller, as a script of its owner makes it.
const (
	featureDir      = ".claude/data/ralph-loops/current/"
	featureProgress = featureDir + "progress.txt"
	featureList     = featureDir + "feature_list.json"
)

// features is a list of n of them, as that controller's documents show it.
func features(n int) string {
	var list []string
	for i := range n {
		list = append(list, fmt.Sprintf(`    {"id": %d, "description": "add word%d", "steps": ["write it", "run words.sh"], "passes": false}`, i+1, i+1))
	}
	return fmt.Sprintf("{\n  \"features\": [\n%s\n  ],\n  \"total_features\": %d\n}\n", strings.Join(list, ",\n"), n)
}

// A folder that is made in a session is followed from its own files alone, to its
// end: each feature in turn, claimed by its mark or by word, the counters kept.
func TestSessionFeatureList(t *testing.T) {
	s := newSessions(t, installSettings)
	list := features(3)
	var told, counted []string
	var marked bool
	s.api.Play(func(r messagesapi.Request) messagesapi.Response {
		if r.Number == 1 {
			s.write(map[string]string{
				featureList: list, featureDir + "RALPH_PROMPT.md": "Complete the words.\n",
				featureProgress: "# Progress\n\n- Iteration: 0\n- Max Iterations: 9\n- Status: NOT_STARTED\n\n## Log\n",
			})
			return more
		}
		if sentOn(r) {
			told = append(told, r.News())
			counted = append(counted, strings.TrimSpace(s.read(featureProgress)))
		}
		switch {
		case len(r.ToolResults()) == 0:
			return s.answerAddingWord(fmt.Sprintf("word%d", len(told)))
		case len(told) != 2:
			return messagesapi.Text("It is there.\n\n<promise>DONE</promise>")
		case !marked: // as the controller wants it
			marked = true
			return messagesapi.Bash("sed -i.bak '4s/false/true/' " + featureList + " && sed -i.bak 's/Status: .*/Status: COMPLETE/; s/Max Iterations: .*/Max Iterations: 99/' " + featureProgress)
		}
		return messagesapi.Text("Feature 2 passes.")
	})
	p := s.print("wait for the folder")
	s.checkState(state{"unverified", 4}, p) // there is no gate
	if len(told) != 3 {
		t.Fatalf("sent on %d times\n%s\n%s", len(told), p, s.conversation())
	}
	for i, text := range told {
		for _, want := range []string{fmt.Sprintf("id: %d\n", i+1), fmt.Sprintf("title: add word%d", i+1), "- run words.sh"} {
			if !strings.Contains(text, want) {
				t.Errorf("at feature %d the agent was not told %q, but:\n%s", i+1, want, text)
			}
		}
		if want := fmt.Sprintf("# Progress\n\n- Iteration: %d\n- Max Iterations: 9\n- Status: IN_PROGRESS\n\n## Log", i+2); !strings.HasPrefix(counted[i], want) {
			t.Errorf("at feature %d the file says:\n%s", i+1, counted[i])
		}
	}
	if got, want := s.read(featureList), strings.ReplaceAll(list, `"passes": false`, `"passes": true`); got != want {
		t.Errorf("the list: %s", got)
	}
	log := s.read(featureProgress)
	for _, want := range []string{"- Iteration: 4\n- Max Iterations: 9\n- Status: UNVERIFIED\n", "Feature 3 now passes: add word3"} {
		if !strings.Contains(log, want) {
			t.Errorf("%q is not in progress.txt:\n%s", want, log)
		}
	}
	if !p.hasHookMessages("Ralph Loop iteration 2/9 | NEXT FEATURE (ID 1): add word1", "Ralph Loop iteration 4/9 | NEXT FEATURE (ID 3): add word3") {
		t.Errorf("%s", p)
	}
}

// A deleted feature list completes nothing.
func TestSessionDeletedFeatureListCompletesNothing(t *testing.T) {
	s := newSessions(t, installSettings)
	s.api.Play(func(r messagesapi.Request) messagesapi.Response {
		switch r.Number {
		case 1:
			s.write(map[string]string{featureList: features(2), featureProgress: "- Iteration: 1\n- Max Iterations: 3\n"})
		case 2:
			if err := os.Remove(s.path(featureList)); err != nil {
				t.Error(err)
			}
		}
		return more
	})
	p := s.print("wait for the folder")
	s.checkState(state{"iterations", 3}, p)
	if !p.hasHookMessages("feature_list.json was deleted", "Max iterations (3) reached. 2 features remaining. remaining_features: 1, 2") {
		t.Errorf("%s", p)
	}
	if got := s.read(featureProgress); got != "- Iteration: 3\n- Max Iterations: 3\n- Status: REACHED_LIMIT\n" {
		t.Errorf("the file says %s", got)
	}
}

// With the project's gates, in a folder that RALPH_LOOP_DIR names, verified work ends as COMPLETE.
func TestSessionFeatureListVerified(t *testing.T) {
	s := newSessions(t, installSettings)
	s.write(map[string]string{"pawl.toml": "gates = ['sh words.sh']\n", "work/feature_list.json": features(1)})
	s.env["RALPH_LOOP_DIR"] = "work"
	if r := s.pawl("trust", "--yes"); r.code != 0 {
		t.Fatal(r)
	}
	s.playAnswers(more, s.answerAddingWord("bye"), done)
	p := s.print("work")
	s.checkState(state{"verified", 2}, p)
	if !p.hasHookMessages("All 1 features verified. Loop complete.") {
		t.Errorf("%s", p)
	}
	if got, want := s.read("work/progress.txt"), "# Ralph Loop Progress\n\n- Iteration: 2\n- Max Iterations: 15\n- Status: COMPLETE\n"; !strings.HasPrefix(got, want) {
		t.Errorf("progress.txt: %s", got)
	}
}
