//go:build unix

package e2e_test

import (
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/agent/agenttest"
	"github.com/pawl-dev/pawl/internal/agent/agenttest/messagesapi"
)

// The plan is edited in each way during the client's second task, then Pawl is killed. All edits are
// kept after a resume.
func TestClientPlanEditsSurviveKill(t *testing.T) {
	t.Parallel()
	const four = threeWords + "- [ ] add sorry\n"
	for name, tc := range agenttest.Some(map[string]struct {
		plan    string // "": threeWords
		edits   []string
		append  string   // what the user adds to the file itself
		words   []string // what the agent adds afterwards
		commits string
		after   string // the plan
	}{
		"add": {
			edits: []string{"add . add sorry"}, words: []string{"thanks", "please", "sorry"},
			commits: "feat(1):_add_bye; feat(2):_add_thanks; feat(3):_add_please; feat(4):_add_sorry", after: strings.ReplaceAll(four, "[ ]", "[x]"),
		},
		"edit": {
			edits: []string{"edit . 3 add please, too"}, words: []string{"thanks", "please"},
			commits: "feat(1):_add_bye; feat(2):_add_thanks; feat(3):_add_please,_too", after: "# Words\n\n- [x] add bye\n- [x] add thanks\n- [x] add please, too\n",
		},
		"skip": {
			edits: []string{"skip . 2"}, words: []string{"please"},
			commits: "feat(1):_add_bye; feat(3):_add_please", after: "# Words\n\n- [x] add bye\n- [ ] add thanks\n- [x] add please\n",
		},
		"retry": {
			edits: []string{"skip . 3", "retry . 3"}, words: []string{"thanks", "please"},
			commits: "feat(1):_add_bye; feat(2):_add_thanks; feat(3):_add_please", after: strings.ReplaceAll(threeWords, "[ ]", "[x]"),
		},
		"move": {
			plan: four, edits: []string{"move . 4"}, words: []string{"thanks", "sorry", "please"},
			commits: "feat(1):_add_bye; feat(2):_add_thanks; feat(4):_add_sorry; feat(3):_add_please", after: strings.ReplaceAll(four, "[ ]", "[x]"),
		},
		"reopen": {
			edits: []string{"reopen . 1"}, words: []string{"thanks", "again", "please"},
			commits: "feat(1):_add_bye; feat(2):_add_thanks; feat(1):_add_bye; feat(3):_add_please", after: strings.ReplaceAll(threeWords, "[ ]", "[x]"),
		},
		"the file itself": {
			append: "- [ ] add sorry\n", words: []string{"thanks", "please", "sorry"},
			commits: "feat(1):_add_bye; feat(2):_add_thanks; feat(3):_add_please; feat(4):_add_sorry", after: strings.ReplaceAll(four, "[ ]", "[x]"),
		},
	}, 3) {
		t.Run(name, func(t *testing.T) {
			if tc.plan == "" {
				tc.plan = threeWords
			}
			c := newClientBench(t, wordShop(map[string]string{"plan.md": tc.plan}))
			c.playAnswers(c.answerAddingWord("bye"), done, endless)
			r := c.startInTool("plan.md")
			for _, edit := range tc.edits {
				verb, rest, _ := strings.Cut(edit, " ")
				where, rest, _ := strings.Cut(rest, " ")
				id, rest, _ := strings.Cut(rest, " ")
				args := []string{"plan", verb, where, id}
				if rest != "" {
					args = append(args, rest)
				}
				c.checkExitCode(c.pawl(args...), 0)
			}
			if tc.append != "" {
				c.write(map[string]string{"plan.md": c.read("plan.md") + tc.append})
			}
			r.signal(syscall.SIGKILL)
			r.wait()
			c.play(tc.words)
			c.checkExitCode(c.pawl("resume"), 0)
			if diff := cmp.Diff(tc.commits, strings.Join(c.subjects(), "; ")); diff != "" {
				t.Errorf("commits %s\n%s", diff, c.pawl("log", ".").out)
			}
			if diff := cmp.Diff(tc.after, c.read("plan.md")); diff != "" {
				t.Errorf("the plan %s", diff)
			}
			c.checkProcessesGone("pids")
			c.checkJournalChain()
		})
	}
}

// play has the model add words, and claim each.
func (c *clientBench) play(words []string) {
	var steps []messagesapi.Response
	for _, w := range words {
		steps = append(steps, c.answerAddingWord(w), done)
	}
	c.playAnswers(steps...)
}
