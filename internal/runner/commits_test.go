package runner_test

import (
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
)

// noteRecorder keeps all notes.
type noteRecorder struct {
	onStep
	notes []string
}

func (w *noteRecorder) Note(n memory.Note) {
	w.logObserver.Note(n)
	w.notes = append(w.notes, n.Text)
}

func (w *noteRecorder) hasNote(part string) bool {
	return strings.Contains(strings.Join(w.notes, "\n"), part)
}

func TestUserCommitStaysSeparateFromLoopCommit(t *testing.T) {
	t.Parallel()
	b := newBench(t, words)
	done := false
	w := &noteRecorder{onStep: onStep{logObserver: logObserver{t}, at: loop.KindTurnEnded}}
	w.then = func() {
		if !done {
			b.write("mine.txt", "mine\n")
			b.git("add", "mine.txt")
			b.git("commit", "-q", "-m", "my own work")
			done = true
		}
	}
	s := b.runObserved("-- 1/reply --\nthinking\n-- 2/run --\necho two >> have.txt\n-- 2/reply --\n<promise>DONE</promise>\n",
		[]string{"have every word"}, withGate(nil), w)
	if s.Outcome != loop.Verified {
		t.Fatalf("%s: %s", s.Outcome, s.Reason)
	}
	if got := b.git("log", "--format=%s", "main..HEAD"); got != "feat: have every word\nmy own work" {
		t.Errorf("commits: %s", got)
	}
	if got := b.git("diff", "--name-only", "HEAD~1", "HEAD"); got != "have.txt" {
		t.Errorf("in the loop's commit: %s", got)
	}
}

func TestRestoreKeepsUserCommits(t *testing.T) {
	t.Parallel()
	b := newBench(t, words)
	done := false
	w := &noteRecorder{onStep: onStep{logObserver: logObserver{t}, at: loop.KindTurnEnded}}
	w.then = func() {
		if !done {
			b.write("mine.txt", "mine\n")
			b.git("add", "mine.txt")
			b.git("commit", "-q", "-m", "my own work")
			done = true
		}
	}
	s := b.runObserved("-- task/files/junk.txt --\nhalf-work\n-- task/reply --\n<promise>DONE</promise>\n",
		[]string{"have every word of this task"}, withGate(nil), w)
	if s.Outcome != loop.Stuck || s.Restores != 2 {
		t.Fatalf("%s, %d restores: %s", s.Outcome, s.Restores, s.Reason)
	}
	if got := b.git("status", "--porcelain"); got != "" {
		t.Errorf("left over: %s", got)
	}
	if got := b.git("log", "-1", "--format=%s"); got != "my own work" {
		t.Errorf("on top: %s", got)
	}
}

func TestSquashedCommitsAreReported(t *testing.T) {
	t.Parallel()
	b := newBench(t, words)
	w := &noteRecorder{onStep: onStep{logObserver: logObserver{t}}}
	s := b.runObserved("-- 1/run --\necho two >> have.txt && git commit -qam 'my own way'\n-- 1/reply --\n<promise>DONE</promise>\n",
		[]string{"have every word"}, withGate(nil), w)
	if s.Outcome != loop.Verified || !w.hasNote("refs/pawl/"+b.loop.ID+"/squashed/") {
		t.Fatalf("%s: %s; notes %q", s.Outcome, s.Reason, w.notes)
	}
}

func TestBranchEndsWithVerifiedCommitsOnly(t *testing.T) {
	t.Parallel()
	b := newBench(t, words)
	w := &noteRecorder{onStep: onStep{logObserver: logObserver{t}}}
	s := b.runObserved("-- 1/run --\ngit switch -qc away; echo half > half.txt && git add . && git commit -qm 'not done'\n-- 1/reply --\nthinking\n",
		[]string{"have every word"}, withGate(map[string]any{"max_iterations": "1"}), w)
	if s.Outcome != loop.Iterations {
		t.Fatalf("%s: %s", s.Outcome, s.Reason)
	}
	if got := b.git("branch", "--show-current") + "\n" + b.git("branch", "--list", "pawl/*"); got != "main\n" { // nothing was committed
		t.Errorf("on %s", got)
	}
	if got := b.git("log", "--format=%s", "main..HEAD"); got != "" {
		t.Errorf("commits: %s", got)
	}
	if got := b.git("status", "--porcelain"); got != "?? half.txt" {
		t.Errorf("work: %q", got)
	}

	b.write("mine.txt", "mine\n")
	b.git("add", "mine.txt")
	b.git("commit", "-q", "-m", "my own work")
	b.rewrite(strings.ReplaceAll(haveAll, "1/", "2/"))
	if s = b.resume(w, loop.Limits{Iterations: 1}); s.Outcome != loop.Verified {
		t.Fatalf("%s: %s", s.Outcome, s.Reason)
	}
	if got := b.git("log", "-2", "--format=%s %D", "pawl/"+b.loop.ID); got != "feat: have every word HEAD -> pawl/"+b.loop.ID+"\nmy own work main" {
		t.Errorf("commits: %s", got)
	}
}

func TestBranchOfInterruptedTurnEndsWithVerifiedCommitsOnly(t *testing.T) {
	t.Parallel()
	b := newBench(t, words)
	causes := make(chan string, 2)
	w := &noteRecorder{onStep: onStep{logObserver: logObserver{t}}}
	d := b.begin("-- 1/run --\necho half > half.txt && git add . && git commit -qm 'not done'; touch ready; sleep 30\n",
		[]string{"have every word"}, withGate(nil))
	d.Cancellations = causes
	go func() {
		for exec.Command("test", "-f", b.root+"/ready").Run() != nil && t.Context().Err() == nil {
			time.Sleep(20 * time.Millisecond)
		}
		causes <- loop.ByInterrupt
	}()
	s, err := b.drive(t.Context(), d, w)
	if err != nil || s.Outcome != loop.CancelledEnd {
		t.Fatalf("%s: %v", s.Outcome, err)
	}
	if got := b.git("log", "--format=%s", "main..HEAD"); got != "" || !w.hasNote("squashed/") {
		t.Errorf("commits: %s; notes %q", got, w.notes)
	}
}
