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

// tells fails where a prompt lacks one of the texts, or has one behind a "!".
func tells(t *testing.T, prompt string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		not, absent := strings.CutPrefix(text, "!")
		if strings.Contains(prompt, not) == absent {
			t.Errorf("want %q in the prompt:\n%s", text, prompt)
		}
	}
}

func TestATurnIsToldThatTheLoopHasMoved(t *testing.T) {
	t.Parallel()
	st := sit(t, words, handover(nil))
	tells(t, st.told(), "The user may type in between", "!The user is away")
	st.full()
	taken := &sender{teller: teller{t}, b: st.bench, at: loop.KindHandedOver, send: []record.Message{{Kind: record.MessageToSession}}}
	st.runs(st.scripted("-- 1/sleep --\n60s\n"), taken)
	tells(t, st.file("iterations", "0002", "prompt.md"),
		"began in a user's session", "(the context is 95 % full)", "The user is away", "commits nothing", "!fresh context")
	st.takes(teller{t})
	tells(t, st.told(), "ran outside of this session", "The user may type in between", "!fresh context", "!The user is away")
}

// What fails is told with the gate's output, from the first turn on; whoever knows
// the goal is not told it again.
func TestAVerifyLoopIsToldWhatFails(t *testing.T) {
	t.Parallel()
	for format, heading := range map[string]string{"": "Not done yet.", "verify-active": "## Shell Verification FAILED (Iteration 1/25)\n"} {
		st := spentWith(t, nil, func(s *record.Spec) { s.CompatFormat = format })
		prompt := func(turn int) string {
			return st.file("iterations", fmt.Sprintf("%04d", turn), filepath.Base(record.PromptPath(st.loop, memory.Memory{OwnerState: memory.OwnerState{TurnsBegun: turn}})))
		}
		tells(t, prompt(1), "# Goal", "# What fails now", "exit code 1", "\n\nmissing two\n")
		tells(t, prompt(2), heading, "exit code 1", "\n\nmissing two\n", "iteration 2 of at most 25", "!# Goal")
	}
}

func TestATryIsToldWhatTheOthersSaid(t *testing.T) {
	t.Parallel()
	st := spentWith(t, nil, func(s *record.Spec) { s.Policy.Tries = 4 })
	st.agent = st.scripted("-- 1/files/have.txt --\none\ntwo\n")
	st.runInSession()
	st.turn(loop.Turn{Text: "I looked at have.txt.\n\nIt wants a second word."})
	tells(t, st.file("iterations", "0005", "isolated.md"),
		"one isolated try", "It wants a second word", "!I looked at have.txt", "A notes.txt", "The user is away")
}

func TestAnExplorationIsNotToldItsGoalAgain(t *testing.T) {
	t.Parallel()
	st := sit(t, words, launch.SessionRequest{Request: launch.Request{Flags: map[string]any{"kind": "explore"}}})
	tells(t, st.told(), "# Goal", "pawl stop", "<blocked>")
	st.post(record.MessageNote, "look at want.txt")
	st.turn(loop.Turn{})
	tells(t, st.told(), "The exploration continues: have every word", "look at want.txt", "!# Goal")
	tells(t, st.file("full-prompt.md"), "# Goal", "iteration 1") // for a context that loses it
}

// Where agents are taught to mark what passes, they may: it is a claim.
func TestAFeatureListMayBeMarked(t *testing.T) {
	t.Parallel()
	files := maps.Clone(words)
	files["feature_list.json"] = `[{"id": 1, "description": "have two", "passes": false}]`
	q := gated(map[string]any{"plan": "feature_list.json"})
	q.Format = "feature-list"
	st := sit(t, files, q)
	tells(t, st.told(), `In feature_list.json you may set "passes" to true for this task`, "!Do not tick the plan")
}

// What a user says while nobody drives the loop is in the first prompt after.
func TestANoteToALoopThatNobodyDroveIsInItsFirstPrompt(t *testing.T) {
	t.Parallel()
	b := newBench(t, words)
	ctx, kill := context.WithCancel(t.Context())
	d := b.begin("-- 1/run --\nsleep 30\n", []string{"have every word"}, withGate(nil))
	if s, err := b.drive(ctx, d, &onCommand{teller: teller{t}, only: "sleep", then: kill}); err == nil || s.Phase != loop.Turning {
		t.Fatalf("killed while %s: %v", s.Phase, err)
	}
	if err := b.loop.Post("said-1", record.Message{Kind: record.MessageNote, Text: "look at want.txt"}); err != nil {
		t.Fatal(err)
	}
	b.rewrite(strings.ReplaceAll(haveAll, "1/", "1+/"))
	if s := b.resume(teller{t}); s.Outcome != loop.Verified {
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
