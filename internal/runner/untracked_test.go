package runner_test

import (
	"context"
	"errors"
	"testing"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/runner"
)

// busyCheckout fails to make the first clean checkout.
type busyCheckout struct {
	runner.Verifier
	asked *int
}

func (v busyCheckout) RunInCheckout(ctx context.Context, tree string, gates []gate.Gate, dir string) ([]gate.Result, error) {
	if *v.asked++; *v.asked == 1 {
		return nil, errors.New("fork/exec git: resource temporarily unavailable")
	}
	return v.Verifier.RunInCheckout(ctx, tree, gates, dir)
}

// A single failed checkout says nothing about the work.
func TestCheckoutIsRetriedAfterFault(t *testing.T) {
	t.Parallel()
	b := newBench(t, words)
	b.write("mine.txt", "of the user\n")
	d := b.begin(haveAll, []string{"have every word"}, withGate(nil))
	b.loop = d.Loop
	asked := 0
	d.Verify, d.Observer = busyCheckout{d.Verify, &asked}, logObserver{t}
	s, err := d.Run(t.Context())
	if err := errors.Join(err, d.Close()); err != nil {
		t.Fatal(err)
	}
	if s.Outcome != loop.Verified || asked != 2 {
		t.Errorf("%s: %s; the gates were run there %d times", s.Outcome, s.Reason, asked)
	}
}

// An untracked user file that changes during the loop is in no commit, and the report attributes it
// to no task.
func TestUntrackedUserFileIsNotAttributedToTask(t *testing.T) {
	t.Parallel()
	b := newBench(t, words)
	b.write("run.txt", "begun\n")
	w := inFirstTurn(b, func() { b.write("run.txt", "begun\ngoes on\n") })
	s := b.runObserved(haveAll, []string{"have every word"}, withGate(nil), w)
	if s.Outcome != loop.Verified {
		t.Fatalf("%s: %s", s.Outcome, s.Reason)
	}
	if changed := s.Tasks[0].ChangedTests; len(changed) > 0 {
		t.Errorf("the task is charged with %+v", changed)
	}
	if got := b.git("ls-files", "run.txt"); got != "" {
		t.Errorf("committed: %s", got)
	}
}
