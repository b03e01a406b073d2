package runner_test

import (
	"context"
	"errors"
	"strings"
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

// With core.fileMode = false git does not see that a new script may be executed. The result names the
// script, and so does a note with a commit of it. What sets its mode in git's index counts.
func TestUnrecordedModeIsNamed(t *testing.T) {
	t.Parallel()
	const tool = "-- 1/run --\nprintf '#!/bin/sh\\necho $(($1 - $2))\\n' > tool.sh; chmod +x tool.sh"
	const work = "\n-- 1/files/sub_test.sh --\ntest_sub() { [ $(./tool.sh 3 2) = 1 ]; }\n-- 1/reply --\n<promise>DONE</promise>\n"
	const again = "-- 2/reply --\n<promise>DONE</promise>\n"
	for name, tt := range map[string]struct {
		script  string
		outcome loop.Outcome
		named   bool
	}{
		"named":           {tool + work + again, loop.Unverified, true},
		"set by git":      {tool + "; git update-index --add --chmod=+x tool.sh" + work, loop.Verified, false},
		"set by git next": {tool + work + "-- 2/run --\ngit update-index --add --chmod=+x tool.sh\n" + again, loop.Verified, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, sumPackage())
			b.git("config", "core.fileMode", "false")
			w := &noteRecorder{onStep: onStep{logObserver: logObserver{t}}}
			s := b.runObserved(tt.script, []string{"subtract with ./tool.sh"}, withTestGate(map[string]any{"max_iterations": "2"}), w)
			if named := strings.Contains(s.Tasks[0].Why, "tool.sh (its mode: core.fileMode is false"); s.Outcome != tt.outcome || named != tt.named {
				t.Errorf("%s: %s; %s: %s", s.Outcome, s.Reason, s.Tasks[0].Evidence, s.Tasks[0].Why)
			}
			if w.hasNote("not executable in the commit, since core.fileMode is false: tool.sh") != tt.named {
				t.Errorf("notes: %q", w.notes)
			}
		})
	}
}
