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

// Protected files keep their protection for the next owner. A runner does not attribute a change by
// the session's agent, which no inspection has seen yet, to the user.
func TestRunnerAttributesEarlierSessionEditsToAgent(t *testing.T) {
	t.Parallel()
	change := map[string]func(*sessionLoop){
		"in a turn that claimed nothing": func(st *sessionLoop) {
			st.editAsAgent("check.sh", "exit 0\n")
			// The hook does not inspect the tree before the handover.
			st.journalEvent(loop.Event{Payload: loop.TurnEnded{Turn: loop.Turn{ToolCalls: 1, ContextPercent: 95}}})
			st.journalEvent(loop.Event{Payload: loop.TreeInspected{Inspection: loop.Inspection{Shallow: true}}})
			st.runDriver()
		},
		"and was told of": func(st *sessionLoop) {
			st.editAsAgent("check.sh", "exit 0\n")
			st.endTurn(loop.Turn{Claim: &loop.Claim{}, ContextPercent: 95})
		},
		"in a turn that nobody saw the end of": func(st *sessionLoop) { st.editAsAgent("check.sh", "exit 0\n") },
	}
	for name, change := range change {
		t.Run(name, func(t *testing.T) {
			st := beginInSession(t, words, requestWithHandover(nil))
			change(st)
			violations := st.s.Violations
			st.runAfterHandover(st.scriptedAgent(claimsAll), logObserver{t})
			if st.s.Outcome != loop.Verified || st.s.Violations <= violations {
				t.Fatalf("%s with %d violations: %s", st.s.Outcome, st.s.Violations, st.s.Reason)
			}
			if got := st.git("diff", "--name-only"); got != "have.txt" {
				t.Errorf("changed: %s", got)
			}
		})
	}
}

// A user's change of a protected file in the session applies under the runner as well.
func TestRunnerKeepsEarlierUserChangesOfProtectedFiles(t *testing.T) {
	t.Parallel()
	st := beginInSession(t, words, requestWithHandover(nil))
	st.recordCalls(authorship.Call{Tool: "Bash", Kind: toolcall.Run, Command: "git status"})
	st.write("check.sh", "# looser\nexit 0\n")
	st.fillContext()
	st.runAfterHandover(st.scriptedAgent(claimsAll), logObserver{t})
	if st.s.Violations != 0 || st.s.Phase != loop.Ended {
		t.Fatalf("%s with %d violations: %s", st.s.Outcome, st.s.Violations, st.s.Reason)
	}
	if got := st.file("journal.jsonl"); !strings.Contains(got, "check.sh was changed, but not by the agent: kept") {
		t.Error("the user's change is not named")
	}
}

// A session that takes a loop in the middle of a runner's turn attributes the changes of that turn to
// the agent, not to the user.
func TestTakingSessionAttributesRunnerTurnToAgent(t *testing.T) {
	t.Parallel()
	for _, killed := range []bool{false, true} {
		st := beginInSession(t, words, requestWithHandover(nil))
		st.fillContext()
		script := st.scriptedAgent(weakened + "-- 1/run --\nsleep 60\n")
		ctx, kill := context.WithCancel(t.Context())
		o := &onCommand{logObserver: logObserver{t}, only: "sleep", then: func() {
			if killed {
				kill()
				return
			}
			if err := st.loop.Post("take", record.Message{Kind: record.MessageToSession}); err != nil {
				t.Error(err)
			}
		}}
		if _, err := st.runAfterHandoverWith(ctx, script, o); (err != nil) != killed {
			t.Fatal(err)
		}
		st.takeIntoAnotherSession(logObserver{t})
		st.editAsAgent("have.txt", "one\ntwo\n")
		if st.endTurnWithClaim(); st.s.Violations != 1 || st.s.Phase != loop.Turning {
			t.Fatalf("killed %v: %s with %d violations", killed, st.s.Phase, st.s.Violations)
		}
		kill()
	}
}

// A loop that began under a runner continues in a session like any session's loop: files are not
// restored, and commits go to the user's branch.
func TestTakingSessionChangesNoBranchOrFiles(t *testing.T) {
	t.Parallel()
	b := newBench(t, words)
	taken := &messageSender{logObserver: logObserver{t}, b: b, at: loop.KindGatesFinished, send: []record.Message{{Kind: record.MessageToSession}}}
	s := b.runObserved("-- 1/sleep --\n60s\n", []string{"have every word"}, withGate(nil), taken)
	if s.Phase != loop.HandingOver {
		t.Fatalf("%s", s.Phase)
	}
	st := &sessionLoop{bench: b}
	st.takeIntoAnotherSession(logObserver{t})
	if st.s.Iteration != 1 || !st.s.InSession {
		t.Fatalf("iteration %d", st.s.Iteration)
	}
	st.editAsAgent("have.txt", "one\ntwo\n")
	if st.endTurnWithClaim(); st.s.Outcome != loop.Verified || st.s.Tasks[0].Commit == "" {
		t.Fatalf("%s %s: %s", st.s.Phase, st.s.Outcome, st.s.Reason)
	}
	if got := st.git("log", "--format=%s", "main..HEAD"); got != "feat: have every word" {
		t.Errorf("commits: %s", got)
	}
}

// ralphFile returns a loop that was begun from the official plugin's state file.
func ralphFile(t *testing.T, text string) *sessionLoop {
	t.Helper()
	b := newBench(t, words)
	b.write(".claude/ralph-loop.local.md", text)
	q := requestWithHandover(nil)
	q.File, q.Format = filepath.Join(b.root, ".claude/ralph-loop.local.md"), "ralph-loop"
	return b.beginInSession(q)
}

const ralphText = "---\nactive: true\niteration: 1\nmax_iterations: 9\ncompletion_promise: \"DONE\"\n---\n\nhave every word\n"

func TestRunnerUpdatesRalphStateFile(t *testing.T) {
	t.Parallel()
	st := ralphFile(t, ralphText)
	st.fillContext()
	file := filepath.Join(st.root, ".claude/ralph-loop.local.md")
	seen := ""
	o := &onCommand{logObserver: logObserver{t}, then: func() {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Error(err)
		}
		seen = string(data)
	}}
	st.runAfterHandover(st.scriptedAgent("-- 1/run --\ntrue\n"+claimsAll), o)
	if st.s.Outcome != loop.Verified || seen != strings.Replace(ralphText, "iteration: 1", "iteration: 2", 1) {
		t.Fatalf("%s: %s\n%s", st.s.Outcome, st.s.Reason, seen)
	}
	if _, err := os.Lstat(file); err == nil {
		t.Error("it is there after the end")
	}
}

// onPause calls a function when the loop is paused.
type onPause struct {
	onCommand
	then  func()
	times int
}

func (w *onPause) Stepped(s loop.State, e loop.Event, acts []loop.Action) {
	w.logObserver.Stepped(s, e, acts)
	if s.Phase == loop.Paused {
		w.times++
		w.then()
	}
}

func TestRunnerFollowsChangesOfRalphStateFile(t *testing.T) {
	t.Parallel()
	st := ralphFile(t, ralphText)
	st.fillContext()
	const file = ".claude/ralph-loop.local.md"
	holds := func() { st.write(file, strings.Replace(ralphText, "true", "false", 1)) }
	rests := &onPause{onCommand: onCommand{logObserver: logObserver{t}, then: holds}, then: func() { st.write(file, ralphText) }}
	st.runAfterHandover(st.scriptedAgent("-- 1/run --\ntrue\n"+strings.ReplaceAll(claimsAll, "1/", "2/")), rests)
	if st.s.Outcome != loop.Verified || rests.times != 1 {
		t.Fatalf("%s, held %d times: %s", st.s.Outcome, rests.times, st.s.Reason)
	}

	st = ralphFile(t, ralphText)
	st.fillContext()
	o := &onCommand{logObserver: logObserver{t}, then: func() {
		if err := os.Remove(filepath.Join(st.root, file)); err != nil {
			t.Error(err)
		}
	}}
	st.runAfterHandover(st.scriptedAgent("-- 1/run --\nsleep 60\n"), o)
	if st.s.Outcome != loop.CancelledEnd {
		t.Fatalf("%s: %s", st.s.Outcome, st.s.Reason)
	}
}
