package runner_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/launch"
	"github.com/pawl-dev/pawl/internal/record"
)

// inFirstTurn calls a function when the first turn begins.
func inFirstTurn(b *bench, then func()) *noteRecorder {
	done := false
	w := &noteRecorder{onStep: onStep{logObserver: logObserver{b.t}, at: loop.KindGatesFinished}}
	w.then = func() {
		if !done {
			done = true
			then()
		}
	}
	return w
}

// The user writes a file while the agent works: it is in no commit and is reported once. Files that
// the agent's commands make without naming them are the agent's.
func TestNewFileWithoutToolCallIsNotCommitted(t *testing.T) {
	t.Parallel()
	files := map[string]string{"gen.sh": "mkdir -p out && echo x > out/x.txt\n", "src/a.txt": "a\n"}
	maps.Copy(files, words)
	b := newBench(t, files)
	w := inFirstTurn(b, func() {
		b.write("notes.txt", "mine\n")
		b.write("drafts/one.txt", "mine\n")
	})
	s := b.runObserved(`
-- 1/sleep --
200ms
-- 1/files/have.txt --
one
two
-- 1/files/named.txt --
by an editing tool
-- 1/run --
sh gen.sh && git mv src lib
-- 1/reply --
<promise>DONE</promise>
-- 2/reply --
<promise>DONE</promise>
`, []string{"have every word"}, withGate(nil), w)
	if s.Outcome != loop.Verified {
		t.Fatalf("%s: %s", s.Outcome, s.Reason)
	}
	if got := b.git("diff", "--name-only", "--no-renames", "main", "HEAD"); got != "have.txt\nlib/a.txt\nnamed.txt\nout/x.txt\nsrc/a.txt" {
		t.Errorf("in the commit: %s", got)
	}
	if got := b.git("status", "--porcelain"); got != "?? drafts/\n?? notes.txt" {
		t.Errorf("status: %q", got)
	}
	if n := w.countNotes("left alone: drafts/one.txt, notes.txt, not made by a tool call"); n != 1 {
		t.Errorf("named %d times: %q", n, w.notes)
	}
	if !w.hasNote("new during the turn, treated as the agent's work: lib/a.txt, out/x.txt") {
		t.Errorf("notes: %q", w.notes)
	}
	if m, _, err := record.Load(b.loop); err != nil || !slices.Equal(m.ByUser, []string{"drafts/one.txt", "notes.txt"}) {
		t.Errorf("remembered: %q, %v", m.ByUser, err)
	}
}

// countNotes returns how many notes contain a text.
func (w *noteRecorder) countNotes(part string) (n int) {
	for _, note := range w.notes {
		if strings.Contains(note, part) {
			n++
		}
	}
	return n
}

// A restore of a failed task keeps the user's new file.
func TestRestoreKeepsNewUserFile(t *testing.T) {
	t.Parallel()
	b := newBench(t, words)
	w := inFirstTurn(b, func() { b.write("notes.txt", "mine\n") })
	s := b.runObserved(`
-- 1/sleep --
200ms
-- task/files/junk.txt --
half-work
-- task/reply --
<promise>DONE</promise>
`, []string{"have every word of this task"}, withGate(nil), w)
	if s.Outcome != loop.Stuck || s.Restores == 0 {
		t.Fatalf("%s, %d restores: %s", s.Outcome, s.Restores, s.Reason)
	}
	if got := b.git("status", "--porcelain"); got != "?? notes.txt" {
		t.Errorf("status: %q", got)
	}
}

// A user's file alone is not work: the claim of a turn that changed nothing is refused.
func TestNewUserFileAloneIsNoWork(t *testing.T) {
	t.Parallel()
	b := newBench(t, words)
	w := inFirstTurn(b, func() { b.write("notes.txt", "mine\n") })
	s := b.runObserved("-- 1/sleep --\n200ms\n-- 1/reply --\n<promise>DONE</promise>\n-- 2+/reply --\n<promise>DONE</promise>\n",
		[]string{"have every word"}, map[string]any{"gates": []string{"true"}}, w)
	if s.Outcome == loop.Verified || s.Tasks[0].Commit != "" {
		t.Fatalf("%s: %s (%+v)", s.Outcome, s.Reason, s.Tasks)
	}
}

// A file that the user made during an earlier run is not counted as work left by that run.
func TestUserFileOfEarlierRunIsNotLeftoverWork(t *testing.T) {
	t.Parallel()
	b := newBench(t, words)
	w := inFirstTurn(b, func() { b.write("notes.txt", "mine\n") })
	s := b.runObserved("-- 1/sleep --\n200ms\n-- 1/files/half.txt --\nhalf\n-- 1/reply --\nthinking\n",
		[]string{"have every word"}, withGate(map[string]any{"max_iterations": "1"}), w)
	if s.Outcome != loop.Iterations {
		t.Fatalf("%s: %s", s.Outcome, s.Reason)
	}
	if s = b.run(haveAll, []string{"have every word"}, withGate(nil)); s.Outcome != loop.Verified {
		t.Fatalf("%s: %s", s.Outcome, s.Reason)
	}
	if got := b.git("diff", "--name-only", "main", "HEAD"); got != "half.txt\nhave.txt" {
		t.Errorf("in the commit: %s", got)
	}
}

// If an agent's tool calls are hidden, new files and commits of its turn are part of the work, and
// reported first. A file that appears while the gates run is not.
func TestNewFilesOfAgentWithHiddenCallsAreReported(t *testing.T) {
	t.Parallel()
	b := newBench(t, words)
	agent := filepath.Join(t.TempDir(), "agent.sh")
	script := "#!/bin/sh\ncat > /dev/null\necho two >> have.txt\ngit commit -qam mine\necho new > new.txt\necho '<promise>DONE</promise>'\n"
	if err := os.WriteFile(agent, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	w := &noteRecorder{onStep: onStep{logObserver: logObserver{t}}}
	s := b.runObserved("", []string{"have every word"}, map[string]any{
		"agent": "command", "agent_command": agent, "gates": []string{"sh check.sh && if ! test -f late.txt; then sleep 0.2; echo late > late.txt; fi"},
	}, w)
	if s.Outcome != loop.Verified {
		t.Fatalf("%s: %s", s.Outcome, s.Reason)
	}
	if got := b.git("diff", "--name-only", "main", "HEAD"); got != "have.txt\nnew.txt" {
		t.Errorf("in the commit: %s", got)
	}
	if !w.hasNote("perhaps yours: commits made while the agent worked") || !w.hasNote("treated as the agent's work: new.txt") || !w.hasNote("left alone: late.txt") {
		t.Errorf("notes: %q", w.notes)
	}
	m, err := launch.LoadResumable(b.loop)
	if err != nil {
		t.Fatal(err)
	}
	if len(m.PossibleUserChanges) != 1 || !strings.Contains(m.PossibleUserChanges[0], "squashed/1") {
		t.Errorf("the report names as perhaps yours: %q", m.PossibleUserChanges)
	}
}

// A command that only mentions a user's file does not make it the agent's.
func TestCommandMentioningUserFileDoesNotOwnIt(t *testing.T) {
	t.Parallel()
	b := newBench(t, words)
	w := inFirstTurn(b, func() { b.write("notes.txt", "mine\n") })
	s := b.runObserved("-- 1/sleep --\n200ms\n-- 1/run --\ncat notes.txt\n"+haveAll, []string{"have every word"}, withGate(nil), w)
	if s.Outcome != loop.Verified {
		t.Fatalf("%s: %s", s.Outcome, s.Reason)
	}
	if got := b.git("diff", "--name-only", "main", "HEAD"); got != "have.txt" {
		t.Errorf("in the commit: %s", got)
	}
	if !w.hasNote("left alone: notes.txt") {
		t.Errorf("notes: %q", w.notes)
	}
}

// Files made by the agent's commands stay the agent's when the user stashes them and pops the stash
// between turns.
func TestStashedAgentFileStaysAgentFile(t *testing.T) {
	t.Parallel()
	files := map[string]string{"gen.sh": "mkdir -p out && echo x > out/x.txt\n"}
	maps.Copy(files, words)
	b := newBench(t, files)
	done := false
	w := &noteRecorder{onStep: onStep{logObserver: logObserver{t}, at: loop.KindTreeInspected}}
	w.then = func() {
		if done {
			return
		}
		done = true
		time.Sleep(10 * fileDoubt)
		b.git("stash", "-u")
		b.git("stash", "pop")
		time.Sleep(10 * fileDoubt)
	}
	s := b.runObserved("-- 1/run --\nsh gen.sh\n-- 1/reply --\nthinking\n-- 2/files/have.txt --\none\ntwo\n-- 2/reply --\n<promise>DONE</promise>\n",
		[]string{"have every word"}, withGate(nil), w)
	if s.Outcome != loop.Verified {
		t.Fatalf("%s: %s", s.Outcome, s.Reason)
	}
	if got := b.git("diff", "--name-only", "main", "HEAD"); got != "have.txt\nout/x.txt" {
		t.Errorf("in the commit: %s", got)
	}
	if m, _, err := record.Load(b.loop); err != nil || !slices.Contains(m.ByAgent, "out/x.txt") {
		t.Errorf("remembered: %q, %v", m.ByAgent, err)
	}
}

// A file that a gate writes is in no commit. It is also no reason to run the gates in a checkout
// without it, which may lack files that git ignores.
func TestFileWrittenByGateIsNeitherCommittedNorUserEdit(t *testing.T) {
	t.Parallel()
	files := map[string]string{".gitignore": ".env\n"}
	maps.Copy(files, words)
	b := newBench(t, files)
	b.write(".env", "secret\n")
	w := &noteRecorder{onStep: onStep{logObserver: logObserver{t}}}
	s := b.runObserved("-- 1/files/begun.txt --\nx\n-- 1/reply --\n<promise>DONE</promise>\n-- 2/files/have.txt --\none\ntwo\n-- 2/reply --\n<promise>DONE</promise>\n", []string{"have every word"}, map[string]any{
		"gates": []string{"sh check.sh", "test -f .env && if test -f begun.txt; then sleep 0.2; mkdir -p cover; date +%N > cover/coverage.out; fi"},
	}, w)
	if s.Outcome != loop.Verified || s.Tasks[0].Evidence != gate.Proven {
		t.Fatalf("%s: %s (%+v)", s.Outcome, s.Reason, s.Tasks)
	}
	if got := b.git("diff", "--name-only", "main", "HEAD"); got != "begun.txt\nhave.txt" {
		t.Errorf("in the commit: %s", got)
	}
	if m, _, err := record.Load(b.loop); err != nil || len(m.ByUser) > 0 {
		t.Errorf("remembered as the user's: %q, %v", m.ByUser, err)
	}
	if n := w.countNotes("left alone: cover/coverage.out, new while the gates ran"); n != 1 {
		t.Errorf("named %d times: %q", n, w.notes)
	}
}

// Work that passes its gates only with the user's new file is unverified: the commit lacks the file.
func TestCommitNeedingNewUserFileIsUnverified(t *testing.T) {
	t.Parallel()
	b := newBench(t, words)
	w := inFirstTurn(b, func() { b.write("notes.txt", "mine\n") })
	s := b.runObserved("-- 1/sleep --\n200ms\n"+haveAll, []string{"have every word"}, map[string]any{"gates": []string{"sh check.sh && test -f notes.txt"}}, w)
	if s.Outcome != loop.Unverified || s.Tasks[0].Evidence != gate.EvidenceUnknown || !strings.Contains(s.Tasks[0].Why, "notes.txt") {
		t.Fatalf("%s: %s (%+v)", s.Outcome, s.Reason, s.Tasks)
	}
}

// The user keeps writing to files of their own while the gates run. The work is the same, and its
// gates count.
func TestUserFileChangedDuringGatesDoesNotRestartThem(t *testing.T) {
	t.Parallel()
	b := newBench(t, words)
	b.write("log.txt", "mine\n")
	w := &noteRecorder{onStep: onStep{logObserver: logObserver{t}}}
	s := b.runObserved(haveAll, []string{"have every word"}, map[string]any{
		"gates": []string{"sh check.sh && sleep 0.2 && cd '" + b.root + "' && date +%N >> notes.txt && date +%N >> log.txt"},
	}, w)
	if s.Outcome != loop.Verified {
		t.Fatalf("%s: %s (%+v)", s.Outcome, s.Reason, s.Tasks)
	}
	if got := b.git("diff", "--name-only", "main", "HEAD"); got != "have.txt" {
		t.Errorf("in the commit: %s", got)
	}
	if n := w.countNotes("left alone: notes.txt"); n != 1 {
		t.Errorf("named %d times: %q", n, w.notes)
	}
}
