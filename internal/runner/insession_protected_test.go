package runner_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/core/authorship"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/toolcall"
	"github.com/pawl-dev/pawl/internal/launch"
	"github.com/pawl-dev/pawl/internal/record"
)

func TestProtectedFilesAreNotRestoredInAUsersSession(t *testing.T) {
	t.Parallel()
	st := beginInSession(t, words, requestWithGate(nil))
	st.editAsAgent("check.sh", "exit 0\n")
	if st.endTurnWithClaim(); st.s.Phase != loop.Turning || st.s.Violations != 1 {
		t.Fatalf("%s with %d violations", st.s.Phase, st.s.Violations)
	}
	if got := st.git("diff", "--name-only"); got != "check.sh" {
		t.Errorf("changed: %s", got)
	}
	if told := st.prompt(); !strings.Contains(told, "restore them, or ask the user to change them: check.sh") ||
		strings.Contains(told, "Pawl restored it") {
		t.Errorf("told:\n%s", told)
	}
	// The same change again, though no tool call has made it since.
	if st.endTurnWithClaim(); st.s.Phase != loop.Turning || st.s.Violations != 2 {
		t.Fatalf("left as it is: %s with %d violations", st.s.Phase, st.s.Violations)
	}
	st.editAsAgent("check.sh", gateScript)
	st.editAsAgent("have.txt", "one\ntwo\n")
	if st.endTurnWithClaim(); st.s.Outcome != loop.Verified {
		t.Fatalf("put back: %s %s: %s", st.s.Phase, st.s.Outcome, st.s.Reason)
	}
}

func TestThirdViolationEndsLoopInSession(t *testing.T) {
	t.Parallel()
	st := beginInSession(t, words, requestWithGate(nil))
	st.editAsAgent("check.sh", "exit 0\n")
	for range 3 {
		st.endTurnWithClaim()
	}
	if st.s.Outcome != loop.Tampered {
		t.Fatalf("%s with %d violations", st.s.Phase, st.s.Violations)
	}
	if got := st.git("diff", "--name-only"); got != "check.sh" {
		t.Errorf("changed: %s", got)
	}
}

// The user's changes stay the user's, whatever the agent does meanwhile: commands that do not name
// the file, turns of the user, changes after the agent's.
func TestUserChangesOfProtectedFilesInSessionAreKept(t *testing.T) {
	t.Parallel()
	accepting := "# looser\nexit 0\n"
	cases := map[string]func(*sessionLoop){
		"beside commands": func(st *sessionLoop) {
			st.recordCalls(authorship.Call{Tool: "Bash", Kind: toolcall.Run, Command: "git status && go vet ./..."})
			st.write("check.sh", accepting)
		},
		"beside a call that is being written down": func(st *sessionLoop) {
			st.write("check.sh", accepting)
			st.appendTornLine(`{"tool":"Edit","path":"` + filepath.ToSlash(filepath.Join(st.root, "check.sh")) + `"}`)
		},
		"in a turn of their own": func(st *sessionLoop) {
			st.editAsAgent("notes.txt", "by the agent\n")
			from := st.toolCallsSize()
			st.editAsAgent("check.sh", accepting)
			st.recordCalls(authorship.Call{UserTurn: true, From: from})
			st.endTurn(loop.Turn{ByUser: true})
		},
		"after the agent was told": func(st *sessionLoop) {
			st.editAsAgent("check.sh", "exit 0\n")
			st.endTurnWithClaim()
			st.write("check.sh", accepting)
		},
	}
	for name, change := range cases {
		t.Run(name, func(t *testing.T) {
			st := beginInSession(t, words, requestWithGate(nil))
			change(st)
			violations := st.s.Violations
			st.editAsAgent("have.txt", "one\ntwo\n")
			if st.endTurnWithClaim(); st.s.Violations != violations || st.s.Phase != loop.Ended {
				t.Errorf("%s with %d violations: %s", st.s.Phase, st.s.Violations, st.s.Reason)
			}
			if got := st.git("diff", "--name-only", "--", "check.sh"); got == "" {
				t.Error("the user's change is gone")
			}
		})
	}
}

// appendTornLine appends an incomplete line to the recorded tool calls.
func (st *sessionLoop) appendTornLine(text string) {
	st.t.Helper()
	f, err := os.OpenFile(record.ToolCallsPath(st.loop), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = f.WriteString(text)
	}
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		st.t.Fatal(err)
	}
}

func (st *sessionLoop) toolCallsSize() int64 {
	st.t.Helper()
	info, err := os.Stat(record.ToolCallsPath(st.loop))
	if err != nil {
		st.t.Fatal(err)
	}
	return info.Size()
}

func TestVerifyLoopInSession(t *testing.T) {
	t.Parallel()
	q := launch.SessionRequest{Verify: "sh check.sh"}
	st := beginInSession(t, words, q)
	if st.endTurn(loop.Turn{}); st.s.Phase != loop.Turning || !strings.Contains(st.prompt(), "missing two") || strings.Contains(st.prompt(), "fresh") {
		t.Fatalf("%s, told\n%s", st.s.Phase, st.prompt())
	}
	st.editAsAgent("have.txt", "one\ntwo\n")
	if st.endTurn(loop.Turn{}); st.s.Outcome != loop.Verified {
		t.Fatalf("%s %s: %s", st.s.Phase, st.s.Outcome, st.s.Reason)
	}
	st.checkHistoryUnchanged()
}

func TestCommitsInSessionGoToUserBranch(t *testing.T) {
	t.Parallel()
	q := requestWithGate(nil)
	q.Commit = true
	st := beginInSession(t, words, q)
	st.git("switch", "-qc", "elsewhere")
	st.write("mine.txt", "mine\n")
	st.git("add", "mine.txt")
	st.git("commit", "-qm", "my own work")
	st.editAsAgent("have.txt", "one\n\n")
	st.git("commit", "-qam", "the agent's own")
	st.editAsAgent("have.txt", "one\ntwo\n")
	st.recordCalls(authorship.Call{Tool: "Bash", Kind: toolcall.Run, Command: "git commit -qam \"the agent's own\""})
	if st.endTurnWithClaim(); st.s.Outcome != loop.Verified {
		t.Fatalf("%s %s: %s", st.s.Phase, st.s.Outcome, st.s.Reason)
	}
	if got := st.git("log", "--format=%s"); got != "feat: have every word\nthe agent's own\nmy own work\nstart" {
		t.Errorf("commits: %s", got)
	}
	if got := st.git("branch", "--show-current"); got != "elsewhere" {
		t.Errorf("on %s", got)
	}
	if got := st.git("status", "--porcelain"); got != "" {
		t.Errorf("the tree: %s", got)
	}
}

// Nothing is committed during a merge. The agent finishes a merge that it began, and nobody else's.
func TestNothingIsCommittedDuringMerge(t *testing.T) {
	t.Parallel()
	start := func(t *testing.T) (st *sessionLoop, merge func()) {
		q := requestWithGate(nil)
		q.Commit = true
		st = beginInSession(t, words, q)
		return st, func() {
			st.git("switch", "-qc", "side")
			st.write("side.txt", "side\n")
			st.git("add", "side.txt")
			st.git("commit", "-qm", "side")
			st.git("switch", "-q", "main")
			st.git("merge", "--no-commit", "--no-ff", "side")
		}
	}
	t.Run("of the agent", func(t *testing.T) {
		t.Parallel()
		st, merge := start(t)
		runAgentCommand(t, st, "merge", "git merge side", merge)
		st.editAsAgent("have.txt", "one\ntwo\n")
		if st.endTurnWithClaim(); st.s.Phase != loop.Turning || !strings.Contains(st.prompt(), "a git merge is unfinished") {
			t.Fatalf("%s %s, told\n%s", st.s.Phase, st.s.Reason, st.prompt())
		}
	})
	t.Run("of the user", func(t *testing.T) {
		t.Parallel()
		st, merge := start(t)
		time.Sleep(10 * fileDoubt)
		merge()
		time.Sleep(10 * fileDoubt)
		runAgentCommand(t, st, "work", "sh gen.sh", func() { st.write("have.txt", "one\ntwo\n") })
		if s := st.endTurnWithClaim(); s.Phase != loop.Paused || !strings.Contains(s.Trouble.HoldReason, "your git merge is unfinished") {
			t.Fatalf("%s %s %s", s.Phase, s.Outcome, s.Reason)
		}
	})
}

const plannedTask = "- [ ] two\n"

func TestTickingTaskKeepsConcurrentUserEdit(t *testing.T) {
	t.Parallel()
	files := map[string]string{"plan.md": plannedTask, "check.sh": gateScript, "want.txt": "one\ntwo\n", "have.txt": "one\n"}
	q := requestWithGate(nil)
	q.Words = []string{"plan.md"}
	st := beginInSession(t, files, q)
	st.editAsAgent("have.txt", "one\ntwo\n")
	st.journalEvent(loop.Event{Payload: loop.TurnEnded{Turn: loop.Turn{ToolCalls: 1, Claim: &loop.Claim{}}}})
	w := &onStep{logObserver: logObserver{t}, at: loop.KindTreeInspected, then: func() { st.write("plan.md", "# Mine\n\n"+plannedTask) }}
	if _, err := st.runDriverWith(t.Context(), w); err != nil || st.s.Outcome != loop.Verified {
		t.Fatalf("%s %s: %s (%v)", st.s.Phase, st.s.Outcome, st.s.Reason, err)
	}
	if got, err := os.ReadFile(filepath.Join(st.root, "plan.md")); err != nil || string(got) != "# Mine\n\n- [x] two\n" {
		t.Errorf("the plan: %q, %v", got, err)
	}
}

// The user detaches HEAD in a session that commits, or goes to another branch while the gates run: the
// loop waits, says what to do, and then commits the work without another turn.
func TestLoopInSessionWaitsForBranch(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ before, after, reason string }{
		"detached":       {"git switch -q --detach", "", "HEAD is detached: nothing can be committed (switch to a branch, then  pawl resume "},
		"another branch": {"", "git switch -q side", "of the work: nothing can be committed (git switch main, then  pawl resume "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, words)
			b.sh("git switch -qc side && git commit -qm side --allow-empty && git switch -q main && git commit -qm main --allow-empty")
			q := requestWithGate(nil)
			q.Commit = true
			st := b.beginInSession(q)
			st.editAsAgent("have.txt", "one\ntwo\n")
			st.sh(tt.before)
			st.journalEvent(loop.Event{Payload: loop.TurnEnded{Turn: loop.Turn{ToolCalls: 1, Claim: &loop.Claim{}}}})
			if _, err := st.runDriverWith(t.Context(), &onStep{logObserver: logObserver{t}, at: loop.KindGatesFinished, then: func() { st.sh(tt.after) }}); err != nil {
				t.Fatal(err)
			}
			if held := st.s.Trouble.HoldReason; st.s.Phase != loop.Paused || !strings.Contains(held, tt.reason+st.loop.ID) {
				t.Fatalf("%s %s: %s, held: %q", st.s.Phase, st.s.Outcome, st.s.Reason, held)
			}
			st.git("switch", "-q", "main")
			st.sendMessage(record.MessageResume, "")
			if st.runDriver(); st.s.Outcome != loop.Verified || st.git("log", "-1", "--format=%s", "main") != "feat: have every word" {
				t.Errorf("%s %s: %s", st.s.Phase, st.s.Outcome, st.s.Reason)
			}
			if got := st.git("log", "-1", "--format=%s", "side"); got != "side" {
				t.Errorf("side is at %q", got)
			}
		})
	}
}
