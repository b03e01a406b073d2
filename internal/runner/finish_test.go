package runner_test

import (
	"runtime"
	"testing"

	"github.com/pawl-dev/pawl/internal/core/loop"
)

// crashAtEnd ends the goroutine that drives the loop once it has its outcome, before the work of the
// end.
type crashAtEnd struct{ logObserver }

func (w crashAtEnd) Stepped(s loop.State, e loop.Event, acts []loop.Action) {
	w.logObserver.Stepped(s, e, acts)
	if s.Outcome != "" {
		runtime.Goexit()
	}
}

// An owner that is killed while the loop ends leaves the agent's commits on the branch. They are not
// the user's, and the loop does not continue from them.
func TestFinishKilledMidwayIsRepeated(t *testing.T) {
	t.Parallel()
	b := newBench(t, words)
	d := b.begin("-- 1/run --\necho half > half.txt && git add . && git commit -qm 'not done'\n-- 1/reply --\nthinking\n",
		[]string{"have every word"}, withGate(map[string]any{"max_iterations": "1"}))
	b.loop = d.Loop
	d.Observer = crashAtEnd{logObserver{t}}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = d.Run(t.Context())
	}()
	<-done
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if got := b.git("log", "--format=%s", "main..HEAD"); got != "not done" {
		t.Fatalf("the end was not cut off: %q", got)
	}
	if s := b.resume(logObserver{t}); s.Phase != loop.Ended || s.Outcome != loop.Iterations || s.Turns != 1 {
		t.Fatalf("%s %s after %d turns", s.Phase, s.Outcome, s.Turns)
	}
	if got := b.git("log", "--format=%s", "main..HEAD"); got != "" {
		t.Errorf("commits: %s", got)
	}
	if got := b.git("status", "--porcelain"); got != "?? half.txt" {
		t.Errorf("work: %q", got)
	}
	b.rewrite(haveAll2)
	if s := b.resume(logObserver{t}, loop.Limits{Iterations: 1}); s.Outcome != loop.Verified {
		t.Errorf("reopened, it ends %s: %s", s.Outcome, s.Reason)
	}
	if got := b.git("log", "--format=%s", "main..HEAD"); got != "feat: have every word" {
		t.Errorf("commits: %s", got)
	}
}

const haveAll2 = "-- 2/files/have.txt --\none\ntwo\n-- 2/reply --\n<promise>DONE</promise>\n"
