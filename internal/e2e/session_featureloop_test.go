//go:build unix

package e2e_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/agent/agenttest/messagesapi"
)

// gated gives every loop of the user's the gate of the project.
func gated(s *sessions) { s.options(`gates = ["sh words.sh"]`) }

// options writes the user's own configuration.
func (s *sessions) options(text string) {
	s.t.Helper()
	file := filepath.Join(s.env["XDG_CONFIG_HOME"], "pawl", "config.toml")
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text+"\n"), 0o600)); err != nil {
		s.t.Fatal(err)
	}
}

// folder writes a folder of the feature-list controller.
func (s *sessions) folder(dir string, n, most int) {
	s.write(map[string]string{
		dir + "/feature_list.json": features(n), dir + "/RALPH_PROMPT.md": "Complete the words.\n",
		dir + "/progress.txt": fmt.Sprintf("# Progress\n\n- Iteration: 0\n- Max Iterations: %d\n- Status: NOT_STARTED\n\n## Log\n", most),
	})
}

// feature is the word that the model is told to add next, "" for none.
func feature(r messagesapi.Request) string {
	_, rest, _ := strings.Cut(r.News(), "add word")
	if rest == "" {
		return ""
	}
	return "word" + rest[:1]
}

// A folder that RALPH_LOOP_DIR names, to its end. In the middle the agent says of
// everything that it passes: that is four claims, and the gates judge each.
func TestSessionFeatureListByName(t *testing.T) {
	const dir = "loops/words"
	s := newSessions(t, installSettings, gated)
	s.env["RALPH_LOOP_DIR"] = dir
	lied := false
	s.api.Play(func(r messagesapi.Request) messagesapi.Response {
		word := feature(r)
		switch {
		case r.Number == 1:
			s.folder(dir, 4, 9)
			return more
		case len(r.ToolResults()) > 0 && lied:
			return done
		case len(r.ToolResults()) > 0:
			return more
		case word == "word2" && !lied:
			lied = true
			return messagesapi.Write(s.path("tests/word2.sh"), wordTest("word2")).
				And(messagesapi.Bash(`sed -i.bak 's/"passes": false/"passes": true/' ` + dir + "/feature_list.json && rm " + dir + "/*.bak"))
		case word != "":
			return s.answerAddingWord(word).And(messagesapi.Bash(fmt.Sprintf(`sed -i.bak '/"add %s"/s/false/true/' %s/feature_list.json && rm %[2]s/*.bak`, word, dir)))
		}
		return more
	})
	p := s.print("wait for the folder")
	s.checkState(state{"verified", 6}, p)
	if got := s.read(dir + "/feature_list.json"); got != strings.ReplaceAll(features(4), `"passes": false`, `"passes": true`) {
		t.Errorf("the list: %s", got)
	}
	if got := s.read(dir + "/progress.txt"); !strings.Contains(got, "- Iteration: 6\n- Max Iterations: 9\n- Status: COMPLETE\n") {
		t.Errorf("progress.txt: %s", got)
	}
	if !p.hasHookMessages("NEXT FEATURE (ID 2): add word2", "All 4 features verified. Loop complete.") {
		t.Errorf("%s", p)
	}
}

// The format promises a fresh session at 80 % of the context: the loop continues in one, with the
// same folder.
func TestSessionFeatureListHandover(t *testing.T) {
	s := newHandover(t, installSettings, gated)
	s.api.Play(func(r messagesapi.Request) messagesapi.Response {
		switch word := feature(r); {
		case r.Number == 1:
			s.folder(strings.TrimSuffix(featureDir, "/"), 3, 9)
			return more
		case len(r.ToolResults()) > 0:
			return done.Using(nearlyFull)
		case word != "":
			return s.answerAddingWord(word).Using(nearlyFull)
		}
		return more
	})
	p := s.print("wait for the folder")
	s.checkState(state{"verified", 4}, p)
	s.checkHandovers(1)
	if n := len(s.clients()); n < 2 {
		t.Errorf("%d sessions", n)
	}
	s.eventually("last word in progress.txt", func() bool { // the runner writes it after the loop's end
		return strings.Contains(s.read(featureProgress), "- Iteration: 4\n- Max Iterations: 9\n- Status: COMPLETE\n")
	})
	if got := s.read(featureList); got != strings.ReplaceAll(features(3), `"passes": false`, `"passes": true`) {
		t.Errorf("the list: %s", got)
	}
}

// The iteration limit ends the loop, and the report names the remaining features.
func TestSessionFeatureListLimit(t *testing.T) {
	s := newSessions(t, installSettings, gated)
	s.api.Play(func(r messagesapi.Request) messagesapi.Response {
		switch word := feature(r); {
		case r.Number == 1:
			s.folder(strings.TrimSuffix(featureDir, "/"), 5, 3)
		case len(r.ToolResults()) > 0:
			return done
		case word != "":
			return s.answerAddingWord(word)
		}
		return more
	})
	p := s.print("wait for the folder")
	s.checkState(state{"iterations", 3}, p)
	if !p.hasHookMessages("Max iterations (3) reached. 3 features remaining. remaining_features: 3, 4, 5") {
		t.Errorf("%s", p)
	}
	if got := s.read(featureProgress); !strings.Contains(got, "- Iteration: 3\n- Max Iterations: 3\n- Status: REACHED_LIMIT\n") {
		t.Errorf("progress.txt: %s", got)
	}
}
