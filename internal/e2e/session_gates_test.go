//go:build unix

package e2e_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/agent/agenttest/messagesapi"
)

// A gate fails twice and then passes. Only the agent's files change in the repository.
func TestSessionGateFailsTwice(t *testing.T) {
	s := newSessions(t, installSettings)
	s.write(map[string]string{"staged.txt": "staged\n"})
	s.git("add", "staged.txt")
	git := func() string {
		return strings.Join([]string{s.git("rev-parse", "HEAD"), s.git("branch", "-a"), s.git("stash", "list"), s.git("ls-files", "-s"), s.read(".git/HEAD")}, "\n")
	}
	before := git()
	test := messagesapi.Write(s.path("tests/bye.sh"), wordTest("bye"))
	s.playAnswers(startLoopCall("'add bye' "+words,
		test, done, messagesapi.Bash("echo bey > bye.txt"), done, messagesapi.Bash("echo bye > bye.txt"), done)...)
	p := s.print("loop")
	s.checkState(state{"verified", 3}, p)
	if !p.hasHookMessages("2/25 · not done: sh words.sh", "3/25 · not done: sh words.sh", "ended VERIFIED after 3 iterations") {
		t.Errorf("%s", p)
	}
	if diff := cmp.Diff(before, git()); diff != "" {
		t.Error(diff)
	}
	if got := s.git("status", "--porcelain"); got != "A  staged.txt\n?? bye.txt\n?? tests/bye.sh" {
		t.Errorf("git status: %s", got)
	}
	if got := s.status(); got.Evidence != "proven" || got.Commits != 0 {
		t.Errorf("status %+v", got)
	}
	told := 0
	for _, r := range s.api.Requests() {
		if strings.Contains(r.News(), "tests/bye.sh fails") {
			told++
		}
	}
	if told != 2 {
		t.Errorf("the agent was told of the failure %d times\n%s", told, s.conversation())
	}
}

// An agent that only mentions the promise does not claim.
func TestSessionQuotedPromiseIsNoClaim(t *testing.T) {
	t.Parallel()
	const promise = "<promise>DONE</promise>"
	mentions := []string{
		"When it works I will print " + promise + " as asked.",
		"```\n" + promise + "\n```",
		"Say `" + promise + "`",
		"> " + promise,
		"The README has\n\n    " + promise + "\n\nat its end.",
		"It is DONE.",
		"<promise>ALL DONE</promise>",
		"I will say\n" + promise + " when it is true.",
	}
	claims := map[string]string{
		"on its own":      "All of it works.\n\n" + promise,
		"over lines":      "Works.\n\n<promise>\n  DONE\n</promise>",
		"ends a sentence": "It works. " + promise,
		"before more":     promise + "\n\nThat was all.",
	}
	for name, claim := range claims {
		t.Run(name, func(t *testing.T) {
			s := newSessions(t, installSettings)
			steps, turns := []messagesapi.Response{s.answerAddingWord("bye")}, 1
			if name == "on its own" {
				for _, text := range mentions {
					steps = append(steps, messagesapi.Text(text), messagesapi.Bash("true"))
				}
				turns += len(mentions)
			}
			s.playAnswers(startLoopCall("'add bye' "+words, append(steps, messagesapi.Text(claim))...)...)
			p := s.print("loop")
			s.checkState(state{"verified", turns}, p)
			if p.said != claim {
				t.Errorf("%s", p)
			}
		})
	}
}

// A turn that ends with a tool call and no word, and one that ends with nothing,
// claim nothing: a promise from earlier in the turn does not count.
func TestSessionSilentTurnsClaimNothing(t *testing.T) {
	s := newSessions(t, installSettings)
	s.playAnswers(startLoopCall("'add bye' "+words, done.And(s.answerAddingWord("bye")), messagesapi.Response{}, messagesapi.Response{}, done)...)
	p := s.print("loop")
	s.checkState(state{"verified", 2}, p) // the client asks once by itself for a word
}

// A loop that makes a command succeed needs no claim: the passing command is the goal.
func TestSessionVerify(t *testing.T) {
	s := newSessions(t, installPlugin, liftStopCap)
	s.playAnswers(messagesapi.Text("I look at it first."), messagesapi.Write(s.path("bye.txt"), "bye\n"), messagesapi.Text("Written."))
	p := s.print("/pawl:verify grep -q bye bye.txt")
	s.checkState(state{"verified", 2}, p)
	if told := s.api.Requests()[0].News(); !strings.Contains(told, "grep -q bye bye.txt") {
		t.Errorf("the agent was told %s", told)
	}
}

// If the user asks for commits, they go to the current branch.
func TestSessionCommits(t *testing.T) {
	s := newSessions(t, installSettings)
	s.playAnswers(startLoopCall("'add bye' --commit "+words, s.answerAddingWord("bye"), done)...)
	p := s.print("loop")
	s.checkState(state{"verified", 1}, p)
	if diff := cmp.Diff([]string{"feat:_add_bye"}, s.subjects()); diff != "" {
		t.Error(diff)
	}
	if got := s.git("branch", "--show-current") + s.git("status", "--porcelain"); got != "main" {
		t.Errorf("branch and status: %s", got)
	}
}

// A plan is worked through task by task, and its tasks are ticked.
func TestSessionPlan(t *testing.T) {
	s := newSessions(t, installSettings)
	s.write(map[string]string{"plan.md": threeWords})
	s.git("add", "plan.md")
	s.git("commit", "-q", "-m", "plan")
	s.playAnswers(startLoopCall("plan.md "+words, s.answerAddingWord("bye"), done, s.answerAddingWord("thanks"), done, s.answerAddingWord("please"), done)...)
	p := s.print("loop")
	s.checkState(state{"verified", 3}, p)
	if got := s.read("plan.md"); got != strings.ReplaceAll(threeWords, "[ ]", "[x]") {
		t.Errorf("the plan:\n%s", got)
	}
	if !p.hasHookMessages("next: ") {
		t.Errorf("%s", p)
	}
}

// An agent that keeps changing protected files, by a script that nobody reads, is told to put it back, and ends
// the loop by doing so a third time. In a user's session nothing is put back
// over their head.
func TestSessionTamperingEndsLoop(t *testing.T) {
	s := newSessions(t, installSettings)
	s.write(map[string]string{"pawl.toml": "protect = [\"words.sh\"]\n"})
	s.git("add", "pawl.toml")
	s.git("commit", "-q", "-m", "protect the check")
	s.api.Play(func(r messagesapi.Request) messagesapi.Response {
		switch {
		case r.Number == 1:
			return messagesapi.Bash("pawl start 'add bye' " + words)
		case sentOn(r), r.Number == 2:
			return messagesapi.Write(s.path("loosen.sh"), "echo true > \"$1\"; echo >> \"$1\"\n").And(messagesapi.Bash("sh loosen.sh words.sh"))
		}
		return done
	})
	p := s.print("loop")
	if got := s.status(); got.Outcome != "tampered" {
		t.Errorf("status %+v\n%s\n%s\n%s", got, p, s.conversation(), s.pawl("log", ".").out)
	}
	if !strings.Contains(s.requestWith("Stop hook").News(), "words.sh") {
		t.Errorf("the agent was not told\n%s", s.conversation())
	}
}

// A gate may print any amount of output. The agent gets a part that the client passes on, with a note
// about the rest.
func TestSessionLongGateOutputIsShortened(t *testing.T) {
	s := newSessions(t, installSettings)
	s.write(map[string]string{"../noise.sh": "[ -e bye.txt ] && [ ! -e tests/bye.sh ] && { yes 'äöü 日本語 failure of everything' | head -n 3000; echo the end of it; exit 1; }; " + checkWords + "\n"})
	s.playAnswers(startLoopCall("'add bye' --gate 'sh "+s.home+"/noise.sh'", messagesapi.Write(s.path("bye.txt"), "bye\n"), done, s.answerAddingWord("bye"), done)...)
	p := s.print("loop")
	s.checkState(state{"verified", 2}, p)
	told := s.requestWith("Not done yet").News()
	if !strings.Contains(told, "the end of it") || !strings.Contains(told, "End with <promise>DONE") {
		t.Errorf("told %s", told)
	}
}
