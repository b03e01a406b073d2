//go:build unix

package e2e_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/agent/agenttest/messagesapi"
)

// A gate that passed before proves nothing by passing after the work. Only a test that fails without
// the work does.
func TestClientGateThatPassedBeforeProvesNothing(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		work     map[string]string
		code     int
		evidence string // of the commit, "" = there is none
	}{
		"no work":                           {nil, 3, ""},
		"work without a test":               {map[string]string{"bye.txt": "bye\n"}, 3, "unproven"},
		"work with a test that cannot fail": {map[string]string{"bye.txt": "bye\n", "tests/bye.sh": "true\n"}, 3, "unproven"},
		"work with a test that can":         {map[string]string{"bye.txt": "bye\n", "tests/bye.sh": wordTest("bye")}, 0, "proven"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := newClientBench(t, wordShop(nil))
			var steps []messagesapi.Response
			for file, text := range tc.work {
				steps = append(steps, messagesapi.Write(c.path(file), text))
			}
			c.playAnswers(append(steps, done)...)
			c.run(tc.code, c.goal("add bye")...)
			if got := c.git("log", "--format=%(trailers:key=Pawl-Evidence,valueonly)", "start..HEAD"); got != tc.evidence {
				t.Errorf("evidence %q, want %q", got, tc.evidence)
			}
			prompts := len(c.prompts())
			if verified := tc.code == 0; verified != (prompts == 1) || prompts > 2 {
				t.Errorf("%d prompts: a claim without evidence is refused once", prompts)
			}
		})
	}
}

// A suite that was written first fails until the last task. Each task is proven by the tests that it
// turns green.
func TestClientTasksTurnFailingSuiteGreen(t *testing.T) {
	t.Parallel()
	words := []string{"bye", "thanks", "please"}
	files := map[string]string{"go.mod": "module example.com/words\n\ngo 1.26\n", "plan.md": threeWords}
	for _, word := range words {
		files[word+"/"+word+".go"] = goWord(word, "")
		files[word+"/"+word+"_test.go"] = fmt.Sprintf(
			"package %s\n\nimport \"testing\"\n\nfunc TestWord(t *testing.T) {\n\tif Word() != %[1]q {\n\t\tt.Fatal(Word())\n\t}\n}\n", word)
		files["tests/"+word+".sh"] = wordTest(word)
	}
	for name, gate := range map[string]string{"with test ids": "go test ./...", "without": checkWords} {
		t.Run(name, func(t *testing.T) {
			c := newClientBench(t, files)
			c.api.Play(func(r messagesapi.Request) messagesapi.Response {
				i := slices.IndexFunc(words, func(word string) bool { return strings.Contains(r.LastUserText(), "add "+word) })
				if i < 0 || exists(c.path(words[i]+".txt")) {
					return done
				}
				return messagesapi.Bash(fmt.Sprintf("cat > %s/%[1]s.go <<'X'\n%[2]sX\necho %[1]s > %[1]s.txt", words[i], goWord(words[i], words[i])))
			})
			c.run(0, "plan.md", "--gate", gate, "--agent-command", c.client)
			if diff := cmp.Diff([]string{"feat(1):_add_bye", "feat(2):_add_thanks", "feat(3):_add_please"}, c.subjects()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func goWord(name, says string) string {
	return fmt.Sprintf("package %s\n\nfunc Word() string { return %q }\n", name, says)
}

// If the overlay lacks a gate's dependencies, nothing is proven and the agent is not blamed. The
// project's setup command fixes that.
func TestClientMissingDependencies(t *testing.T) {
	t.Parallel()
	const gate = "test -e deps/lib || { echo 'no deps' >&2; exit 1; }; " + checkWords
	for name, tc := range map[string]struct {
		config, evidence string
		code             int
	}{
		"no set-up": {"", "unknown", 3},
		"set up":    {"[worktree]\nsetup = ['mkdir -p deps && touch deps/lib']\n", "proven", 0},
	} {
		t.Run(name, func(t *testing.T) {
			c := newClientBench(t, wordShop(map[string]string{".gitignore": "deps/\n", "pawl.toml": tc.config}))
			c.write(map[string]string{"deps/lib": ""})
			if r := c.pawl("trust", "--yes"); tc.config != "" && r.code != 0 {
				t.Fatal(r)
			}
			c.playAnswers(c.answerAddingWord("bye"), done)
			c.run(tc.code, "add bye", "--gate", gate, "--agent-command", c.client)
			if got := c.git("log", "--format=%(trailers:key=Pawl-Evidence,valueonly)", "start..HEAD"); strings.TrimSpace(got) != tc.evidence {
				t.Errorf("evidence %q, want %q", got, tc.evidence)
			}
			if n := len(c.prompts()); n != 1 {
				t.Errorf("%d prompts: nothing is to be refused", n)
			}
		})
	}
}
