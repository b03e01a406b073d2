package runner_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/core/loop"
)

// commitAsUser commits a file as the user does.
func (b *bench) commitAsUser() {
	b.write("mine.txt", "mine\n")
	b.git("add", "mine.txt")
	b.git("commit", "-q", "--author=Ada <ada@example.com>", "-m", "my own work", "-m", "With a reason.")
}

const userCommitLine = "Ada my own work With a reason."

// A user's commit during a turn stays theirs, even if commands of the agent run in the same turn.
func TestUserCommitDuringTurnStaysUserCommit(t *testing.T) {
	t.Parallel()
	b := newBench(t, words)
	w := inFirstTurn(b, b.commitAsUser)
	s := b.runObserved("-- 1/sleep --\n200ms\n-- 1/run --\necho two >> have.txt && git commit -qam 'my way'\n-- 1/reply --\n<promise>DONE</promise>\n",
		[]string{"have every word"}, withGate(nil), w)
	if s.Outcome != loop.Verified {
		t.Fatalf("%s: %s", s.Outcome, s.Reason)
	}
	if got := b.git("log", "--format=%an %s %b", "main..HEAD^"); strings.TrimSpace(got) != userCommitLine {
		t.Errorf("before the loop's commit: %q", got)
	}
	if got := b.git("diff", "--name-only", "HEAD^", "HEAD"); got != "have.txt" {
		t.Errorf("in the loop's commit: %s", got)
	}
	if !w.hasNote("that are not the loop's; kept") {
		t.Errorf("notes: %q", w.notes)
	}
}

// It stays theirs if git packs it at once.
func TestPackedUserCommitStaysUserCommit(t *testing.T) {
	t.Parallel()
	b := newBench(t, words)
	w := inFirstTurn(b, func() {
		b.commitAsUser()
		b.git("gc", "-q")
	})
	s := b.runObserved("-- 1/sleep --\n3s\n-- 1/run --\necho two >> have.txt && git commit -qam 'my way'\n-- 1/reply --\n<promise>DONE</promise>\n",
		[]string{"have every word"}, withGate(nil), w)
	if got := b.git("log", "--format=%an %s %b", "main..HEAD^"); s.Outcome != loop.Verified || strings.TrimSpace(got) != userCommitLine {
		t.Errorf("%s: %s; before the loop's commit: %q", s.Outcome, s.Reason, got)
	}
}

// Packing does not make an agent's commit the user's, whatever commit time it claims.
func TestPackedAgentCommitStaysAgentCommit(t *testing.T) {
	t.Parallel()
	b := newBench(t, words)
	s := b.runObserved("-- 1/sleep --\n3s\n-- 1/run --\necho two >> have.txt && GIT_COMMITTER_DATE=\"@$(($(date +%s) - 2)) +0000\" git commit -qam 'my way' && git gc -q\n-- 1/reply --\n<promise>DONE</promise>\n",
		[]string{"have every word"}, withGate(nil), inFirstTurn(b, func() {}))
	if got := b.git("log", "--format=%s", "main..HEAD"); s.Outcome != loop.Verified || strings.Contains(got, "my way") {
		t.Errorf("%s: %s; commits: %q", s.Outcome, s.Reason, got)
	}
}

// A file that the user commits is no change of the claim.
func TestFileCommittedByUserIsNoChangeOfClaim(t *testing.T) {
	t.Parallel()
	b := newBench(t, words)
	b.write("notes.txt", "notes\n")
	b.git("add", "notes.txt")
	b.git("commit", "-q", "-m", "notes")
	w := inFirstTurn(b, func() {
		b.write("notes.txt", "more notes\n")
		b.git("commit", "-q", "-m", "more notes", "notes.txt")
	})
	s := b.runObserved("-- 1/sleep --\n200ms\n-- 1/run --\necho two >> have.txt\n-- 1/reply --\n<promise>DONE</promise>\n",
		[]string{"have every word"}, withGate(nil), w)
	if s.Outcome != loop.Verified || len(s.Tasks[0].ChangedTests) > 0 {
		t.Errorf("%s: %s; changed by the task: %v", s.Outcome, s.Reason, s.Tasks[0].ChangedTests)
	}
}

// A commit that the user amends is kept under its own ref, and reported as perhaps theirs.
func TestAmendedCommitIsReported(t *testing.T) {
	t.Parallel()
	b := newBench(t, words)
	w := inFirstTurn(b, func() { b.git("commit", "-q", "--amend", "-m", "amended") })
	s := b.runObserved("-- 1/sleep --\n200ms\n-- 1/run --\necho two >> have.txt\n-- 1/reply --\n<promise>DONE</promise>\n",
		[]string{"have every word"}, withGate(nil), w)
	if s.Outcome != loop.Verified || !w.hasNote("the branch was rewritten (by an amend, a rebase or a reset)") {
		t.Errorf("%s: %s; notes: %q", s.Outcome, s.Reason, w.notes)
	}
	if got := b.git("log", "-1", "--format=%s", "refs/pawl/"+b.loop.ID+"/squashed/1"); got != "amended" {
		t.Errorf("kept aside: %q", got)
	}
}

// A user's merge during a turn stays a merge, with the commits that it brings.
func TestUserMergeDuringTurnStaysMerge(t *testing.T) {
	t.Parallel()
	b := newBench(t, words)
	b.git("switch", "-qc", "feature")
	b.commitAsUser()
	feature := b.git("rev-parse", "HEAD")
	b.git("switch", "-q", "main")
	b.write("since.txt", "since\n")
	b.git("add", "since.txt")
	b.git("commit", "-qm", "since")
	w := inFirstTurn(b, func() { b.git("merge", "-q", "--no-edit", "feature") })
	s := b.runObserved("-- 1/sleep --\n200ms\n-- 1/run --\necho two >> have.txt && git commit -qam 'my way'\n-- 1/reply --\n<promise>DONE</promise>\n",
		[]string{"have every word"}, withGate(nil), w)
	if s.Outcome != loop.Verified {
		t.Fatalf("%s: %s", s.Outcome, s.Reason)
	}
	if got := b.git("log", "-1", "--format=%P", "HEAD^"); got != b.git("rev-parse", "main")+" "+feature {
		t.Errorf("parents of the commit before the loop's: %s", got)
	}
	if got := b.git("diff", "--name-only", "HEAD^", "HEAD"); got != "have.txt" {
		t.Errorf("in the loop's commit: %s", got)
	}
}

// So does a user's commit on top of an agent's commit. The agent's commit becomes uncommitted changes
// again.
func TestUserCommitOnAgentCommitStaysUserCommit(t *testing.T) {
	t.Parallel()
	b := newBench(t, words)
	done := false
	w := &noteRecorder{onStep: onStep{logObserver: logObserver{t}, at: loop.KindTreeInspected}}
	w.then = func() {
		if !done {
			done = true
			time.Sleep(10 * fileDoubt) // longer than the tolerance of a commit's time
			b.commitAsUser()
		}
	}
	s := b.runObserved("-- 1/run --\necho two >> have.txt && git commit -qam 'my way'\n-- 1/reply --\nthinking\n"+
		"-- 2/sleep --\n200ms\n-- 2/run --\necho more > more.txt && git add . && git commit -qm 'my way again'\n-- 2/reply --\n<promise>DONE</promise>\n",
		[]string{"have every word"}, withGate(nil), w)
	if s.Outcome != loop.Verified {
		t.Fatalf("%s: %s", s.Outcome, s.Reason)
	}
	if got := b.git("log", "--format=%an %s %b", "main..HEAD^"); strings.TrimSpace(got) != userCommitLine {
		t.Errorf("before the loop's commit: %q", got)
	}
	if got := b.git("diff", "--name-only", "HEAD^", "HEAD"); got != "have.txt\nmore.txt" {
		t.Errorf("in the loop's commit: %s", got)
	}
	if got := b.git("status", "--porcelain"); got != "" {
		t.Errorf("status: %q", got)
	}
}

// A user's branch that the agent's program reset is reported at the end.
func TestResetBranchIsReported(t *testing.T) {
	t.Parallel()
	b := newBench(t, words)
	b.git("commit", "-q", "--allow-empty", "-m", "second")
	began := b.git("rev-parse", "HEAD")
	agent := filepath.Join(t.TempDir(), "agent.sh")
	script := "#!/bin/sh\ncat > /dev/null\necho two >> have.txt\ngit update-ref refs/heads/main main~1\necho '<promise>DONE</promise>'\n"
	if err := os.WriteFile(agent, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	w := &noteRecorder{onStep: onStep{logObserver: logObserver{t}}}
	s := b.runObserved("", []string{"have every word"}, withGate(map[string]any{"agent": "command", "agent_command": agent}), w)
	if s.Outcome != loop.Verified {
		t.Fatalf("%s: %s", s.Outcome, s.Reason)
	}
	if !w.hasNote("branch main lost commit " + strings.TrimSpace(began)[:7] + ", where this loop started") {
		t.Errorf("notes: %q", w.notes)
	}
}
