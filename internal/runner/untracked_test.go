package runner_test

import (
	"context"
	"errors"
	"testing"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/runner"
)

// busy cannot make a clean checkout the first time.
type busy struct {
	runner.Verifier
	asked *int
}

func (v busy) RunInCheckout(ctx context.Context, tree string, gates []gate.Gate, dir string) ([]gate.Result, error) {
	if *v.asked++; *v.asked == 1 {
		return nil, errors.New("fork/exec git: resource temporarily unavailable")
	}
	return v.Verifier.RunInCheckout(ctx, tree, gates, dir)
}

// That a checkout could not be made once says nothing of the work.
func TestWorkIsGatedAloneInSpiteOfAFault(t *testing.T) {
	t.Parallel()
	b := newBench(t, words)
	b.write("mine.txt", "of the user\n")
	d := b.begin(haveAll, []string{"have every word"}, withGate(nil))
	b.loop = d.Loop
	asked := 0
	d.Verify, d.Observer = busy{d.Verify, &asked}, teller{t}
	s, err := d.Run(t.Context())
	if err := errors.Join(err, d.Close()); err != nil {
		t.Fatal(err)
	}
	if s.Outcome != loop.Verified || asked != 2 {
		t.Errorf("%s: %s; the gates were run there %d times", s.Outcome, s.Reason, asked)
	}
}

// A file of the user's that git does not track and that they change meanwhile is in no commit: the report
// charges no task with it.
func TestTheUsersUntrackedFileIsNoChangeOfATask(t *testing.T) {
	t.Parallel()
	b := newBench(t, words)
	b.write("run.txt", "begun\n")
	w := inFirstTurn(b, func() { b.write("run.txt", "begun\ngoes on\n") })
	s := b.watched(haveAll, []string{"have every word"}, withGate(nil), w)
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
