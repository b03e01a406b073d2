package runner_test

import (
	"maps"
	"testing"

	"github.com/pawl-dev/pawl/internal/core/loop"
)

// A user who hides a tracked file from git (skip-worktree) keeps their version of it out of every
// commit, including the loop's.
func TestFileHiddenFromGitByUserIsNotCommitted(t *testing.T) {
	t.Parallel()
	files := map[string]string{"local.cfg": "shared\n"}
	maps.Copy(files, words)
	b := newBench(t, files)
	b.git("update-index", "--skip-worktree", "local.cfg")
	b.write("local.cfg", "the user's own password\n")
	s := b.run("-- 1/files/have.txt --\none\ntwo\n-- 1/reply --\n<promise>DONE</promise>\n", []string{"have every word"}, withGate(nil))
	if s.Tasks[0].Status != loop.Done {
		t.Fatalf("%s: %s", s.Outcome, s.Reason)
	}
	if got := b.git("show", "HEAD:local.cfg"); got != "shared" {
		t.Errorf("committed: %s", got)
	}
	if got := b.git("show", "HEAD:have.txt"); got != "one\ntwo" {
		t.Errorf("the work: %s", got)
	}
}

// If the agent hides a file from git, it is still gated, committed, and shown in the index.
func TestFileHiddenFromGitByAgentIsCommitted(t *testing.T) {
	t.Parallel()
	files := map[string]string{"notes.md": "old\n"}
	maps.Copy(files, words)
	b := newBench(t, files)
	const script = "-- 1/run --\ngit update-index --skip-worktree notes.md\ngit update-index --assume-unchanged have.txt\n" +
		"-- 1/files/notes.md --\nnew\n-- 1/files/have.txt --\none\ntwo\n-- 1/reply --\n<promise>DONE</promise>\n"
	s := b.run(script, []string{"have every word"}, withGate(nil))
	if s.Outcome != loop.Verified {
		t.Fatalf("%s: %s", s.Outcome, s.Reason)
	}
	if got := b.git("show", "HEAD:notes.md"); got != "new" {
		t.Errorf("committed: %s", got)
	}
	if got := b.git("status", "--porcelain"); got != "" {
		t.Errorf("the index is not in line: %s", got)
	}
}
