package runner_test

import (
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
)

const haveAll = "-- 1/files/have.txt --\none\ntwo\n-- 1/reply --\n<promise>DONE</promise>\n"

func TestUnneededUntrackedUserFileStaysOutOfCommit(t *testing.T) {
	t.Parallel()
	b := newBench(t, words)
	b.write("mine.txt", "mine\n")
	s := b.run(haveAll, []string{"have every word"}, withGate(nil))
	if s.Outcome != loop.Verified {
		t.Fatalf("%s: %s", s.Outcome, s.Reason)
	}
	if got := b.git("ls-tree", "--name-only", "HEAD"); strings.Contains(got, "mine.txt") {
		t.Errorf("committed: %s", got)
	}
}

func TestCommitNeedingUntrackedFileIsUnverified(t *testing.T) {
	t.Parallel()
	b := newBench(t, words)
	b.write("more.txt", "two\n")
	s := b.run("-- 1/files/have.txt --\none\ntwo\n-- 1/files/more.txt --\nthree\n-- 1/reply --\n<promise>DONE</promise>\n",
		[]string{"have every word"}, map[string]any{"gates": []string{"sh check.sh && grep -q three more.txt"}})
	if s.Outcome != loop.Unverified || s.Tasks[0].Evidence != gate.EvidenceUnknown || !strings.Contains(s.Tasks[0].Why, "more.txt") {
		t.Fatalf("%s: %s (%+v)", s.Outcome, s.Reason, s.Tasks)
	}
	if got := b.git("status", "--porcelain"); got != "?? more.txt" {
		t.Errorf("status: %s", got)
	}
}

func TestUntrackedUserFileDoesNotAffectWorktreeLoop(t *testing.T) {
	t.Parallel()
	b := newBench(t, words)
	b.write("more.txt", "mine\n")
	s := b.run("-- 1/files/have.txt --\none\ntwo\n-- 1/files/more.txt --\nthree\n-- 1/reply --\n<promise>DONE</promise>\n",
		[]string{"have every word"}, map[string]any{"gates": []string{"sh check.sh && grep -q three more.txt"}, "worktree": true})
	if s.Outcome != loop.Verified {
		t.Fatalf("%s: %s", s.Outcome, s.Reason)
	}
	if got := b.git("show", "pawl/"+b.loop.ID+":more.txt"); got != "three" {
		t.Errorf("more.txt in the commit: %q", got)
	}
}
