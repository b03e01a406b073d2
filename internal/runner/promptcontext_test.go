package runner_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/launch"
	"github.com/pawl-dev/pawl/internal/record"
)

// checkPrompt fails if a prompt lacks one of the texts, or contains one that is marked with "!".
func checkPrompt(t *testing.T, prompt string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		not, absent := strings.CutPrefix(text, "!")
		if strings.Contains(prompt, not) == absent {
			t.Errorf("want %q in the prompt:\n%s", text, prompt)
		}
	}
}

func TestPromptMentionsHandover(t *testing.T) {
	t.Parallel()
	st := beginInSession(t, words, requestWithHandover(nil))
	checkPrompt(t, st.prompt(), "The user may type in between", "!The user is away")
	st.fillContext()
	taken := &messageSender{logObserver: logObserver{t}, b: st.bench, at: loop.KindHandedOver, send: []record.Message{{Kind: record.MessageToSession}}}
	st.runAfterHandover(st.scriptedAgent("-- 1/sleep --\n60s\n"), taken)
	checkPrompt(t, st.file("iterations", "0002", "prompt.md"),
		"began in a user's session", "(the context is 95 % full)", "The user is away", "commits nothing", "!fresh context")
	st.takeIntoAnotherSession(logObserver{t})
	checkPrompt(t, st.prompt(), "ran outside of this session", "The user may type in between", "!fresh context", "!The user is away")
}

// The prompt contains the output of the failing gate from the first turn on. An agent that knows the
// goal does not get it again.
func TestVerifyLoopPromptContainsGateOutput(t *testing.T) {
	t.Parallel()
	for format, heading := range map[string]string{"": "Not done yet.", "verify-active": "## Shell Verification FAILED (Iteration 1/25)\n"} {
		st := beginIsolatedLoopWith(t, nil, func(s *record.Spec) { s.CompatFormat = format })
		prompt := func(turn int) string {
			return st.file("iterations", fmt.Sprintf("%04d", turn), filepath.Base(record.PromptPath(st.loop, memory.Memory{OwnerState: memory.OwnerState{TurnsBegun: turn}})))
		}
		checkPrompt(t, prompt(1), "# Goal", "# What fails now", "exit code 1", "\n\nmissing two\n")
		checkPrompt(t, prompt(2), heading, "exit code 1", "\n\nmissing two\n", "iteration 2 of at most 25", "!# Goal")
	}
}

func TestIsolatedAttemptPromptContainsEarlierAttempts(t *testing.T) {
	t.Parallel()
	st := beginIsolatedLoopWith(t, nil, func(s *record.Spec) { s.Policy.Tries = 4 })
	st.agent = st.scriptedAgent("-- 1/files/have.txt --\none\ntwo\n")
	st.runDriver()
	st.endTurn(loop.Turn{Text: "I looked at have.txt.\n\nIt wants a second word."})
	checkPrompt(t, st.file("iterations", "0005", "isolated.md"),
		"one isolated try", "It wants a second word", "!I looked at have.txt", "A notes.txt", "The user is away")
}

func TestExplorePromptDoesNotRepeatGoal(t *testing.T) {
	t.Parallel()
	st := beginInSession(t, words, launch.SessionRequest{Request: launch.Request{Flags: map[string]any{"kind": "explore"}}})
	checkPrompt(t, st.prompt(), "# Goal", "pawl stop", "<blocked>")
	st.sendMessage(record.MessageNote, "look at want.txt")
	st.endTurn(loop.Turn{})
	checkPrompt(t, st.prompt(), "The exploration continues: have every word", "look at want.txt", "!# Goal")
	checkPrompt(t, st.file("full-prompt.md"), "# Goal", "iteration 1") // for a context that forgets the goal
}

// In a feature list, the agent is told to mark what passes. A mark is a claim.
func TestFeatureMarkedByAgentIsClaim(t *testing.T) {
	t.Parallel()
	files := maps.Clone(words)
	files["feature_list.json"] = `[{"id": 1, "description": "have two", "passes": false}]`
	q := requestWithGate(map[string]any{"plan": "feature_list.json"})
	q.Format = "feature-list"
	st := beginInSession(t, files, q)
	checkPrompt(t, st.prompt(), `In feature_list.json you may set "passes" to true for this task`, "!Do not tick the plan")
}

// A message that arrives while no driver runs is in the next prompt.
func TestMessageWithoutDriverIsInNextPrompt(t *testing.T) {
	t.Parallel()
	b := newBench(t, words)
	ctx, kill := context.WithCancel(t.Context())
	d := b.begin("-- 1/run --\nsleep 30\n", []string{"have every word"}, withGate(nil))
	if s, err := b.drive(ctx, d, &onCommand{logObserver: logObserver{t}, only: "sleep", then: kill}); err == nil || s.Phase != loop.Turning {
		t.Fatalf("killed while %s: %v", s.Phase, err)
	}
	if err := b.loop.Post("said-1", record.Message{Kind: record.MessageNote, Text: "look at want.txt"}); err != nil {
		t.Fatal(err)
	}
	b.rewrite(strings.ReplaceAll(haveAll, "1/", "1+/"))
	if s := b.resume(logObserver{t}); s.Outcome != loop.Verified {
		t.Fatalf("%s: %s", s.Outcome, s.Reason)
	}
	prompts, err := filepath.Glob(filepath.Join(b.loop.Dir, "iterations", "*", "*prompt*"))
	if err != nil || len(prompts) == 0 {
		t.Fatal("no prompts", err)
	}
	last, err := os.ReadFile(prompts[len(prompts)-1])
	if err != nil || !strings.Contains(string(last), "look at want.txt") {
		t.Errorf("%s does not say so: %v\n%s", prompts[len(prompts)-1], err, last)
	}
}
