package runner_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/core/loop"
)

// commitsMine commits a file as the user does.
func (b *bench) commitsMine() {
	b.write("mine.txt", "mine\n")
	b.git("add", "mine.txt")
	b.git("commit", "-q", "--author=Ada <ada@example.com>", "-m", "my own work", "-m", "With a reason.")
}

const byAda = "Ada my own work With a reason."

// What the user commits while the agent thinks is theirs, though commands of the agent's
// run in the same turn.
func TestACommitOfTheUsersInATurnStaysTheirs(t *testing.T) {
	t.Parallel()
	b := newBench(t, words)
	w := inFirstTurn(b, b.commitsMine)
	s := b.watched("-- 1/sleep --\n200ms\n-- 1/run --\necho two >> have.txt && git commit -qam 'my way'\n-- 1/reply --\n<promise>DONE</promise>\n",
		[]string{"have every word"}, withGate(nil), w)
	if s.Outcome != loop.Verified {
		t.Fatalf("%s: %s", s.Outcome, s.Reason)
	}
	if got := b.git("log", "--format=%an %s %b", "main..HEAD^"); strings.TrimSpace(got) != byAda {
		t.Errorf("before the loop's commit: %q", got)
	}
	if got := b.git("diff", "--name-only", "HEAD^", "HEAD"); got != "have.txt" {
		t.Errorf("in the loop's commit: %s", got)
	}
	if !w.note("that are not the loop's; kept") {
		t.Errorf("notes: %q", w.notes)
	}
}

// It stays theirs if git packs it at once.
func TestAPackedCommitOfTheUsersStaysTheirs(t *testing.T) {
	t.Parallel()
	b := newBench(t, words)
	w := inFirstTurn(b, func() {
		b.commitsMine()
		b.git("gc", "-q")
	})
	s := b.watched("-- 1/sleep --\n3s\n-- 1/run --\necho two >> have.txt && git commit -qam 'my way'\n-- 1/reply --\n<promise>DONE</promise>\n",
		[]string{"have every word"}, withGate(nil), w)
	if got := b.git("log", "--format=%an %s %b", "main..HEAD^"); s.Outcome != loop.Verified || strings.TrimSpace(got) != byAda {
		t.Errorf("%s: %s; before the loop's commit: %q", s.Outcome, s.Reason, got)
	}
}

// A commit of the agent's does not become theirs by that, whatever time it claims.
func TestAPackedCommitOfTheAgentsIsTheAgents(t *testing.T) {
	t.Parallel()
	b := newBench(t, words)
	s := b.watched("-- 1/sleep --\n3s\n-- 1/run --\necho two >> have.txt && GIT_COMMITTER_DATE=\"@$(($(date +%s) - 2)) +0000\" git commit -qam 'my way' && git gc -q\n-- 1/reply --\n<promise>DONE</promise>\n",
		[]string{"have every word"}, withGate(nil), inFirstTurn(b, func() {}))
	if got := b.git("log", "--format=%s", "main..HEAD"); s.Outcome != loop.Verified || strings.Contains(got, "my way") {
		t.Errorf("%s: %s; commits: %q", s.Outcome, s.Reason, got)
	}
}

// Nor is a file that they commit a change of the claim's.
func TestAFileThatTheUserCommitsIsNoChangeOfTheClaim(t *testing.T) {
	t.Parallel()
	b := newBench(t, words)
	b.write("notes.txt", "notes\n")
	b.git("add", "notes.txt")
	b.git("commit", "-q", "-m", "notes")
	w := inFirstTurn(b, func() {
		b.write("notes.txt", "more notes\n")
		b.git("commit", "-q", "-m", "more notes", "notes.txt")
	})
	s := b.watched("-- 1/sleep --\n200ms\n-- 1/run --\necho two >> have.txt\n-- 1/reply --\n<promise>DONE</promise>\n",
		[]string{"have every word"}, withGate(nil), w)
	if s.Outcome != loop.Verified || len(s.Tasks[0].ChangedTests) > 0 {
		t.Errorf("%s: %s; changed by the task: %v", s.Outcome, s.Reason, s.Tasks[0].ChangedTests)
	}
}

// A commit that the user amends is kept aside, and named as perhaps theirs.
func TestARewrittenBranchIsNamed(t *testing.T) {
	t.Parallel()
	b := newBench(t, words)
	w := inFirstTurn(b, func() { b.git("commit", "-q", "--amend", "-m", "amended") })
	s := b.watched("-- 1/sleep --\n200ms\n-- 1/run --\necho two >> have.txt\n-- 1/reply --\n<promise>DONE</promise>\n",
		[]string{"have every word"}, withGate(nil), w)
	if s.Outcome != loop.Verified || !w.note("the branch was rewritten (by an amend, a rebase or a reset)") {
		t.Errorf("%s: %s; notes: %q", s.Outcome, s.Reason, w.notes)
	}
	if got := b.git("log", "-1", "--format=%s", "refs/pawl/"+b.loop.ID+"/squashed/1"); got != "amended" {
		t.Errorf("kept aside: %q", got)
	}
}

// So is a merge, with the commits that it brings.
func TestAMergeOfTheUsersInATurnStaysAMerge(t *testing.T) {
	t.Parallel()
	b := newBench(t, words)
	b.git("switch", "-qc", "feature")
	b.commitsMine()
	feature := b.git("rev-parse", "HEAD")
	b.git("switch", "-q", "main")
	b.write("since.txt", "since\n")
	b.git("add", "since.txt")
	b.git("commit", "-qm", "since")
	w := inFirstTurn(b, func() { b.git("merge", "-q", "--no-edit", "feature") })
	s := b.watched("-- 1/sleep --\n200ms\n-- 1/run --\necho two >> have.txt && git commit -qam 'my way'\n-- 1/reply --\n<promise>DONE</promise>\n",
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

// Also on top of a commit that the agent made before: that one becomes changes again.
func TestACommitOfTheUsersOnTopOfTheAgentsStaysTheirs(t *testing.T) {
	t.Parallel()
	b := newBench(t, words)
	done := false
	w := &hears{onStep: onStep{teller: teller{t}, at: loop.KindTreeInspected}}
	w.then = func() {
		if !done {
			done = true
			time.Sleep(10 * fileDoubt) // longer than a commit's time is doubted
			b.commitsMine()
		}
	}
	s := b.watched("-- 1/run --\necho two >> have.txt && git commit -qam 'my way'\n-- 1/reply --\nthinking\n"+
		"-- 2/sleep --\n200ms\n-- 2/run --\necho more > more.txt && git add . && git commit -qm 'my way again'\n-- 2/reply --\n<promise>DONE</promise>\n",
		[]string{"have every word"}, withGate(nil), w)
	if s.Outcome != loop.Verified {
		t.Fatalf("%s: %s", s.Outcome, s.Reason)
	}
	if got := b.git("log", "--format=%an %s %b", "main..HEAD^"); strings.TrimSpace(got) != byAda {
		t.Errorf("before the loop's commit: %q", got)
	}
	if got := b.git("diff", "--name-only", "HEAD^", "HEAD"); got != "have.txt\nmore.txt" {
		t.Errorf("in the loop's commit: %s", got)
	}
	if got := b.git("status", "--porcelain"); got != "" {
		t.Errorf("status: %q", got)
	}
}

// A branch of the user's that a program of the agent's reset is named in the end.
func TestABranchThatLostCommitsIsNamed(t *testing.T) {
	t.Parallel()
	b := newBench(t, words)
	b.git("commit", "-q", "--allow-empty", "-m", "second")
	began := b.git("rev-parse", "HEAD")
	agent := filepath.Join(t.TempDir(), "agent.sh")
	script := "#!/bin/sh\ncat > /dev/null\necho two >> have.txt\ngit update-ref refs/heads/main main~1\necho '<promise>DONE</promise>'\n"
	if err := os.WriteFile(agent, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	w := &hears{onStep: onStep{teller: teller{t}}}
	s := b.watched("", []string{"have every word"}, withGate(map[string]any{"agent": "command", "agent_command": agent}), w)
	if s.Outcome != loop.Verified {
		t.Fatalf("%s: %s", s.Outcome, s.Reason)
	}
	if !w.note("branch main lost commit " + strings.TrimSpace(began)[:7] + ", where this loop began") {
		t.Errorf("notes: %q", w.notes)
	}
}
