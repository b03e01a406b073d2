//go:build unix

package e2e_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/agent/agenttest/messagesapi"
)

const (
	prd         = ".ralph/PRD-1/"
	userStories = "# Plan\n\n- [ ] US-001: add bye\n- [ ] US-002: add thanks\n- [ ] US-003: add please\n"
)

// newPlanLoop is a project with a plan of ralph-cli's, and a model that does its
// stories, the second only when it was told what is missing. Each turn notes which
// story the files say is at work, and from which commit.
func newPlanLoop(t *testing.T, how ...installation) *sessions {
	t.Helper()
	s := newSessions(t, how...)
	s.write(map[string]string{prd + "plan.md": userStories, ".gitignore": "/seen\n"})
	s.git("add", "-A")
	s.git("commit", "-q", "-m", "plan")
	s.git("tag", "-f", "start")
	return s
}

// storyTurns returns the model's turns.
func (s *sessions) storyTurns() []messagesapi.Response {
	look := messagesapi.Bash("echo $(cat .ralph/current-story " + prd + "current-story) $(git log -1 --format=%s $(cat .ralph/.checkpoint)) >> seen")
	untested := messagesapi.Write(s.path("tests/thanks.sh"), wordTest("thanks"))
	return []messagesapi.Response{
		look.And(s.answerAddingWord("bye")), done,
		look.And(untested), done,
		look.And(s.answerAddingWord("thanks")), done,
		look.And(s.answerAddingWord("please")), done,
	}
}

// checkStoryFiles checks the files when all stories are done. base is the subject that each but the
// first began with.
func (s *sessions) checkStoryFiles(bases ...string) {
	s.t.Helper()
	want := ""
	for i, id := range []string{"US-001", "US-002", "US-002", "US-003"} {
		want += id + " " + id + " " + bases[min(i, len(bases)-1)] + "\n"
	}
	if got := s.read("seen"); got != want {
		s.t.Errorf("seen:\n%swant:\n%s", got, want)
	}
	if got := s.read(prd + "plan.md"); got != strings.ReplaceAll(userStories, "[ ]", "[x]") {
		s.t.Errorf("the plan:\n%s", got)
	}
	for _, name := range []string{".ralph/current-story", ".ralph/.checkpoint", prd + "current-story", prd + ".checkpoint", ".ralph/sessions.log"} {
		if exists(s.path(name)) {
			s.t.Errorf("%s is left over: %s", name, s.read(name))
		}
	}
	for _, name := range []string{".ralph/failure-context.log", prd + "failure-context.log"} {
		if got := s.read(name); strings.Count(got, "Story: US-002, iteration 2 of ") != 1 || !strings.Contains(got, "tests/thanks.sh fails") || strings.Contains(got, "US-003") {
			s.t.Errorf("%s:\n%s", name, got)
		}
	}
	progress := regexp.MustCompile(`(?s)## Iteration 1 - US-001\n- Status: SUCCESS.*## Iteration 2 - US-002\n- Status: FAILED .*## Iteration 3 - US-002\n- Status: SUCCESS.*## Iteration 4 - US-003\n- Status: SUCCESS`)
	if got := s.read(prd + "progress.md"); !progress.MatchString(got) {
		s.t.Errorf("progress.md:\n%s", got)
	}
}

// A plan in .ralph/PRD-1 in a user's session: the plan loop's files stay readable for its tools.
func TestSessionPlanLoop(t *testing.T) {
	s := newPlanLoop(t, installSettings)
	s.playAnswers(startLoopCall(prd+"plan.md "+words, s.storyTurns()...)...)
	p := s.print("loop")
	s.checkState(state{"verified", 4}, p)
	s.checkStoryFiles("plan")
	if !p.hasHookMessages("All stories complete!") || s.git("log", "--oneline", "start..") != "" {
		t.Errorf("%s", p)
	}
}

// The same in sessions that Pawl starts, with commits that do not contain the files.
func TestClientPlanLoop(t *testing.T) {
	s := newPlanLoop(t)
	s.playAnswers(s.storyTurns()...)
	r := s.run(0, s.goal("--plan", prd+"plan.md", "--branch", "current")...)
	if got := s.status(); got.Outcome != "verified" || got.Iteration != 4 || got.Commits != 3 {
		t.Errorf("%+v: %s", got, r)
	}
	s.checkStoryFiles("plan", "feat(US-001): add bye", "feat(US-001): add bye", "feat(US-002): add thanks")
	if got := s.git("log", "--format=", "--name-only", "start.."); strings.Contains(got, "progress.md") || strings.Contains(got, ".log") {
		t.Errorf("committed: %s", got)
	}
}

// A user who leaves with an open story finds it in sessions.log, and resumes both.
func TestTerminalPlanLoopIsResumed(t *testing.T) {
	s := newPlanLoop(t, installPlugin, liftStopCap)
	s.playAnswers(append([]messagesapi.Response{waitForFileCall("never"), messagesapi.Text("Here I am.")}, s.storyTurns()...)...)
	c := s.open()
	c.loops(prd + "plan.md " + words)
	c.Shows("until [", turnMost)
	c.Keys("Escape")
	c.Shows("Interrupted", turnMost)
	id := s.api.Requests()[0].Session
	c.Type("/exit")
	c.Gone(turnMost)
	left := regexp.MustCompile(`^incomplete:US-001:\d+:prompt_input_exit\n$`)
	for _, name := range []string{".ralph/sessions.log", prd + "sessions.log"} {
		if got := s.read(name); !left.MatchString(got) || exists(s.path(".ralph/current-story")) {
			t.Errorf("%s: %q", name, got)
		}
	}
	c = s.open("--resume", id)
	c.typeLine("are you there")
	c.ends(state{"verified", 4})
	if got := s.read(prd + "plan.md"); got != strings.ReplaceAll(userStories, "[ ]", "[x]") {
		t.Errorf("the plan:\n%s", got)
	}
}
