//go:build unix

package e2e_test

import (
	"encoding/json"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/agent/agenttest/messagesapi"
)

// asking is how a loop that has asked stands.
type asking struct {
	State    string
	Doing    string
	Turns    int
	Question struct{ Text string }
}

// question waits until the newest loop waits for an answer.
func (b *bench) question() (now asking) {
	b.t.Helper()
	for deadline := time.Now().Add(timeout); ; time.Sleep(100 * time.Millisecond) {
		r := b.pawl("status", ".", "--json")
		if json.Unmarshal([]byte(r.out), &now) == nil && strings.HasPrefix(now.Doing, "waiting for your answer") {
			return now
		}
		if time.Now().After(deadline) {
			b.t.Fatalf("no question: %s\n%s", r, b.pawl("log", ".").out)
		}
	}
}

// The agent asks by its tool and ends its turn. The loop waits without a turn, also after
// kill -9; what the agent itself says or runs answers nothing; the user's answer is in its
// next prompt.
func TestClientAsksTheUser(t *testing.T) {
	c := newClientBench(t, wordShop(nil))
	ask := tool("ask_user", map[string]any{"question": "bye or goodbye?", "choices": []string{"bye", "goodbye"}})
	c.playAnswers(
		ask, messagesapi.Bash(c.binary+" answer . goodbye"), messagesapi.Text("You asked: bye or goodbye?\nThe answer: goodbye\n<answer>goodbye</answer>"),
		c.answerAddingWord("bye"), done)
	run := c.start(append([]string{"run"}, c.goal("add bye")...)...)
	before := c.question()
	if before.Question.Text != "bye or goodbye?" || before.State != "waiting" {
		t.Errorf("%+v", before)
	}
	if err := syscall.Kill(run.cmd.Process.Pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	run.wait()
	run = c.start("resume", ".")
	time.Sleep(time.Second) // it takes no turn
	if now := c.question(); now.Turns != 1 {
		t.Errorf("%+v", now)
	}
	if r := c.pawl("answer", "."); !r.contains("bye or goodbye?", "2: goodbye") {
		t.Errorf("%s", r)
	}
	if r := c.pawl("answer", ".", "1"); r.code != 0 {
		t.Errorf("%s", r)
	}
	if r := run.wait(); r.code != 0 {
		t.Fatalf("%s\n%s", r, c.pawl("log", ".").out)
	}
	if prompts := strings.Join(c.prompts(), "\n"); !strings.Contains(prompts, "The answer: bye") || strings.Contains(prompts, "The answer: goodbye") {
		t.Errorf("the agent was told:\n%s", prompts)
	}
	c.checkJournalChain()
}

// In a user's session the next prompt is the answer, or pawl answer from elsewhere.
func TestTerminalQuestion(t *testing.T) {
	s := newSessions(t, installPlugin, liftStopCap)
	s.playAnswers(ownTool("ask_user", map[string]any{"question": "bye or goodbye?"}), messagesapi.Text("I asked."), s.answerAddingWord("bye"), done)
	c := s.open()
	c.loops("add bye " + words)
	c.Shows("the agent asks: bye or goodbye?", turnMost)
	if r := s.pawl("answer", ".", "bye"); r.code != 0 {
		t.Fatalf("%s", r)
	}
	c.ends(state{"verified", 2})
	if news := s.requestWith("The answer: bye").News(); !strings.Contains(news, "You asked: bye or goodbye?") {
		t.Errorf("the agent was told:\n%s", news)
	}
}

// A question in the last message of an agent without tools gets no answer.
func TestUnansweredQuestionOfTextAgent(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		flags   []string
		outcome string
	}{
		"as it proposed": {[]string{"--answer-within", "1s"}, "verified"},
		"no answer yet":  {nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, wordShop(nil))
			b.write(map[string]string{"../agent.sh": `#!/bin/sh
if grep -q 'continue with your proposal: bye' ; then
	printf 'bye\n' > bye.txt; printf '#!/bin/sh\ntest "$(cat bye.txt)" = bye\n' > tests/bye.sh
	echo '<promise>DONE</promise>'
else
	echo '<question proposed="bye">bye or goodbye?</question>'
fi
`})
			if err := os.Chmod(b.path("../agent.sh"), 0o755); err != nil {
				t.Fatal(err)
			}
			run := b.start(append([]string{"run", "add bye", "--gate", checkWords, "--agent", "command", "--agent-command", b.path("../agent.sh")}, tc.flags...)...)
			b.question()
			if tc.outcome == "" {
				b.pawl("stop", ".")
			}
			run.wait()
			if got := b.status(); got.Outcome != tc.outcome && tc.outcome != "" || got.Turns > 2 {
				t.Errorf("%+v\n%s", got, b.pawl("log", ".").out)
			}
		})
	}
}

// While a task waits for its answer, another is worked on. The first task's work is saved, and
// restored once the question is answered.
func TestOtherTasksContinueWhileOneAwaitsAnswer(t *testing.T) {
	t.Parallel()
	b := newBench(t, wordShop(map[string]string{"plan.md": "- [ ] add bye\n- [ ] add thanks\n"}))
	b.git("tag", "start")
	script := b.script("-- The answer: goodbye/run --\ntest \"$(cat draft.txt)\" = draft && mv draft.txt bye.txt && echo bye > bye.txt\n" +
		adding("The answer: goodbye", "bye") + claiming("The answer: goodbye") +
		"-- add bye/files/draft.txt --\ndraft\n-- add bye/reply --\n<question>bye or goodbye?</question>\n" +
		"-- add thanks/run --\ntest ! -e draft.txt\n" + part("thanks"))
	r := b.start("run", "plan.md", "--gate", checkWords, "--agent", "scripted", "--agent-command", script)
	b.question()
	if got := b.status(); got.Tasks.Done != 1 {
		t.Errorf("%+v\n%s", got, b.pawl("log", ".").out)
	}
	if exists(b.path("draft.txt")) {
		t.Error("the half work lies in the tree")
	}
	if res := b.pawl("answer", ".", "goodbye"); res.code != 0 {
		t.Error(res)
	}
	b.checkExitCode(r.wait(), 0)
	if exists(b.path("draft.txt")) || !exists(b.path("bye.txt")) || len(b.subjects()) != 2 {
		t.Errorf("%q\n%s", b.subjects(), b.pawl("log", ".").out)
	}
	b.checkJournalChain()
}
