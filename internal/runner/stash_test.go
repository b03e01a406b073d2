package runner_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/verify"
)

// The user stashes their edits between a commit and the next task's turn, and takes them back later.
func TestUserStashBetweenTasks(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		at      loop.EventKind
		inGates bool
	}{{loop.KindCommitted, false}, {loop.KindCommitted, true}} {
		t.Run(fmt.Sprint(tt.at, " ", tt.inGates), func(t *testing.T) {
			t.Parallel()
			b := newBench(t, map[string]string{"plan.md": twoTasks, "check.sh": "sleep 0.3\n" + gateScript, "want.txt": "one\n", "have.txt": "one\n", "lib.txt": "lib\n"})
			first := inFirstTurn(b, func() { b.write("lib.txt", "mine\n"); time.Sleep(3 * fileDoubt) })
			w := &stasher{noteRecorder: first, b: b, at: tt.at, inGates: tt.inGates}
			s := b.runObserved("-- 1/sleep --\n300ms\n-- 1/run --\necho two >> have.txt\n-- 1/reply --\n<promise>DONE</promise>\n-- 2/sleep --\n500ms\n-- 2/run --\necho three >> have.txt\n-- 2/reply --\n<promise>DONE</promise>\n",
				[]string{"plan.md"}, withGate(map[string]any{"evidence": []string{"unproven"}, "max_iterations": "3"}), w)
			t.Logf("%s: %s\n%q", s.Outcome, s.Reason, w.notes)
			if s.Outcome != loop.Verified {
				t.Errorf("%s: %s", s.Outcome, s.Reason)
			}
			if got := b.git("status", "--porcelain") + b.git("stash", "list"); got != "M lib.txt" {
				t.Errorf("status: %q", got)
			}
			if got := b.git("diff", "--name-only", "main", "HEAD"); got != "have.txt\nplan.md" {
				t.Errorf("committed: %q", got)
			}
		})
	}
}

// stasher stashes at the first event of a kind after the first commit, and takes the stash back in the
// turn after that.
type stasher struct {
	*noteRecorder
	b         *bench
	at        loop.EventKind
	committed bool
	stashed   bool
	popped    bool
	inGates   bool // take it back while gates run
}

func (w *stasher) pop() {
	w.popped = true
	time.Sleep(2 * fileDoubt)
	w.b.git("stash", "pop", "-q")
}

func (w *stasher) Gate(p verify.Progress) {
	if w.inGates && w.stashed && !w.popped && p.Result == nil && !p.Clean {
		w.pop()
	}
}

func (w *stasher) Stepped(s loop.State, e loop.Event, acts []loop.Action) {
	w.noteRecorder.Stepped(s, e, acts)
	w.committed = w.committed || e.Kind() == loop.KindCommitted
	if w.committed && !w.stashed && e.Kind() == w.at {
		w.stashed = true
		w.b.git("stash", "-q")
	}
	if _, begins := loop.FindAction[loop.BeginTurn](acts); begins && w.stashed && !w.popped {
		w.pop()
		time.Sleep(3 * fileDoubt)
	}
}
