package runner_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/core/authorship"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/toolcall"
	"github.com/pawl-dev/pawl/internal/record"
)

const claimsAll = "-- 1/files/have.txt --\none\ntwo\n-- 1/reply --\n<promise>DONE</promise>\n-- 2/reply --\n<promise>DONE</promise>\n"

// What judges is held to by the next owner too: a change that the session's agent
// made, and no look was at, is not taken for the user's by the runner.
func TestARunnerKnowsWhatTheSessionDid(t *testing.T) {
	t.Parallel()
	change := map[string]func(*sitting){
		"in a turn that claimed nothing": func(st *sitting) {
			st.edits("check.sh", "exit 0\n")
			// The hook looks at no tree for it, and hands over.
			st.hook(loop.Event{Payload: loop.TurnEnded{Turn: loop.Turn{ToolCalls: 1, ContextPercent: 95}}})
			st.hook(loop.Event{Payload: loop.TreeInspected{Inspection: loop.Inspection{Shallow: true}}})
			st.runInSession()
		},
		"and was told of": func(st *sitting) {
			st.edits("check.sh", "exit 0\n")
			st.turn(loop.Turn{Claim: &loop.Claim{}, ContextPercent: 95})
		},
		"in a turn that nobody saw the end of": func(st *sitting) { st.edits("check.sh", "exit 0\n") },
	}
	for name, change := range change {
		t.Run(name, func(t *testing.T) {
			st := sit(t, words, handover(nil))
			change(st)
			violations := st.s.Violations
			st.runs(st.scripted(claimsAll), teller{t})
			if st.s.Outcome != loop.Verified || st.s.Violations <= violations {
				t.Fatalf("%s with %d violations: %s", st.s.Outcome, st.s.Violations, st.s.Reason)
			}
			if got := st.git("diff", "--name-only"); got != "have.txt" {
				t.Errorf("changed: %s", got)
			}
		})
	}
}

// And what the user changed there judges.
func TestARunnerKeepsWhatTheUserChanged(t *testing.T) {
	t.Parallel()
	st := sit(t, words, handover(nil))
	st.called(authorship.Call{Tool: "Bash", Kind: toolcall.Run, Command: "git status"})
	st.write("check.sh", "# looser\nexit 0\n")
	st.full()
	st.runs(st.scripted(claimsAll), teller{t})
	if st.s.Violations != 0 || st.s.Phase != loop.Ended {
		t.Fatalf("%s with %d violations: %s", st.s.Outcome, st.s.Violations, st.s.Reason)
	}
	if got := st.file("journal.jsonl"); !strings.Contains(got, "check.sh was changed, but not by the agent: kept") {
		t.Error("the user's change is not named")
	}
}

// A session that takes a loop in the middle of a runner's turn knows what that
// turn did, and takes nothing of it for the user's.
func TestASessionKnowsWhatTheRunnerDid(t *testing.T) {
	t.Parallel()
	for _, killed := range []bool{false, true} {
		st := sit(t, words, handover(nil))
		st.full()
		script := st.scripted(weakened + "-- 1/run --\nsleep 60\n")
		ctx, kill := context.WithCancel(t.Context())
		o := &onCommand{teller: teller{t}, only: "sleep", then: func() {
			if killed {
				kill()
				return
			}
			if err := st.loop.Post("take", record.Message{Kind: record.MessageToSession}); err != nil {
				t.Error(err)
			}
		}}
		if _, err := st.given(ctx, script, o); (err != nil) != killed {
			t.Fatal(err)
		}
		st.takes(teller{t})
		st.edits("have.txt", "one\ntwo\n")
		if st.claims(); st.s.Violations != 1 || st.s.Phase != loop.Turning {
			t.Fatalf("killed %v: %s with %d violations", killed, st.s.Phase, st.s.Violations)
		}
		kill()
	}
}

// A loop that began under a runner continues in a session as it does there: nothing
// is put back or committed elsewhere than where the user stands.
func TestASessionTakesALoopThatARunnerBegan(t *testing.T) {
	t.Parallel()
	b := newBench(t, words)
	taken := &sender{teller: teller{t}, b: b, at: loop.KindGatesFinished, send: []record.Message{{Kind: record.MessageToSession}}}
	s := b.watched("-- 1/sleep --\n60s\n", []string{"have every word"}, withGate(nil), taken)
	if s.Phase != loop.HandingOver {
		t.Fatalf("%s", s.Phase)
	}
	st := &sitting{bench: b}
	st.takes(teller{t})
	if st.s.Iteration != 1 || !st.s.InSession {
		t.Fatalf("iteration %d", st.s.Iteration)
	}
	st.edits("have.txt", "one\ntwo\n")
	if st.claims(); st.s.Outcome != loop.Verified || st.s.Tasks[0].Commit == "" {
		t.Fatalf("%s %s: %s", st.s.Phase, st.s.Outcome, st.s.Reason)
	}
	if got := st.git("log", "--format=%s", "main..HEAD"); got != "feat: have every word" {
		t.Errorf("commits: %s", got)
	}
}

// ralphFile is a loop that came out of the official plugin's state file.
func ralphFile(t *testing.T, text string) *sitting {
	t.Helper()
	b := newBench(t, words)
	b.write(".claude/ralph-loop.local.md", text)
	q := handover(nil)
	q.File, q.Format = filepath.Join(b.root, ".claude/ralph-loop.local.md"), "ralph-loop"
	return b.sit(q)
}

const ralphText = "---\nactive: true\niteration: 1\nmax_iterations: 9\ncompletion_promise: \"DONE\"\n---\n\nhave every word\n"

func TestARunnerKeepsAnotherToolsFileUpToDate(t *testing.T) {
	t.Parallel()
	st := ralphFile(t, ralphText)
	st.full()
	file := filepath.Join(st.root, ".claude/ralph-loop.local.md")
	seen := ""
	o := &onCommand{teller: teller{t}, then: func() {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Error(err)
		}
		seen = string(data)
	}}
	st.runs(st.scripted("-- 1/run --\ntrue\n"+claimsAll), o)
	if st.s.Outcome != loop.Verified || seen != strings.Replace(ralphText, "iteration: 1", "iteration: 2", 1) {
		t.Fatalf("%s: %s\n%s", st.s.Outcome, st.s.Reason, seen)
	}
	if _, err := os.Lstat(file); err == nil {
		t.Error("it is there after the end")
	}
}

// rests does something when the loop is paused.
type rests struct {
	onCommand
	then  func()
	times int
}

func (w *rests) Stepped(s loop.State, e loop.Event, acts []loop.Action) {
	w.teller.Stepped(s, e, acts)
	if s.Phase == loop.Paused {
		w.times++
		w.then()
	}
}

func TestARunnerHearsAnotherToolsFile(t *testing.T) {
	t.Parallel()
	st := ralphFile(t, ralphText)
	st.full()
	const file = ".claude/ralph-loop.local.md"
	holds := func() { st.write(file, strings.Replace(ralphText, "true", "false", 1)) }
	rests := &rests{onCommand: onCommand{teller: teller{t}, then: holds}, then: func() { st.write(file, ralphText) }}
	st.runs(st.scripted("-- 1/run --\ntrue\n"+strings.ReplaceAll(claimsAll, "1/", "2/")), rests)
	if st.s.Outcome != loop.Verified || rests.times != 1 {
		t.Fatalf("%s, held %d times: %s", st.s.Outcome, rests.times, st.s.Reason)
	}

	st = ralphFile(t, ralphText)
	st.full()
	o := &onCommand{teller: teller{t}, then: func() {
		if err := os.Remove(filepath.Join(st.root, file)); err != nil {
			t.Error(err)
		}
	}}
	st.runs(st.scripted("-- 1/run --\nsleep 60\n"), o)
	if st.s.Outcome != loop.CancelledEnd {
		t.Fatalf("%s: %s", st.s.Outcome, st.s.Reason)
	}
}
