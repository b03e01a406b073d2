package runner_test

import (
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/core/loop"
)

// prune deletes every object that no ref and no index has, as a user's git gc does in the end.
func (b *bench) prune() { b.sh("git reflog expire --expire=now --all && git gc -q --prune=now") }

// pruner prunes at each step of a loop, between two actions.
type pruner struct {
	*noteRecorder
	b     *bench
	extra func(e loop.Event)
}

func (w *pruner) Stepped(s loop.State, e loop.Event, acts []loop.Action) {
	w.noteRecorder.Stepped(s, e, acts)
	if w.extra != nil {
		w.extra(e)
	}
	w.b.prune()
}

const haveBoth = "-- 1/sleep --\n300ms\n-- 1/run --\necho two >> have.txt\n-- 1/reply --\n<promise>DONE</promise>\n-- 2+/run --\necho three >> have.txt\n-- 2+/reply --\n<promise>DONE</promise>\n"

// The user's git gc takes nothing that the loop still needs, also if the user has edited files.
func TestUserMayPruneAtAnyTime(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"plan.md": twoTasks, "check.sh": gateScript, "want.txt": "one\n", "have.txt": "one\n", "lib.txt": "lib\n"})
	w := &pruner{b: b, noteRecorder: inFirstTurn(b, func() {
		b.write("lib.txt", "mine\n")
		time.Sleep(3 * fileDoubt)
	})}
	s := b.runObserved(haveBoth, []string{"plan.md"}, withGate(map[string]any{"evidence": []string{"unproven"}}), w)
	if s.Outcome != loop.Verified {
		t.Errorf("%s: %s (%s)", s.Outcome, s.Reason, s.Hint)
	}
	if got := b.git("status", "--porcelain"); got != "M lib.txt" {
		t.Errorf("status: %q", got)
	}
	b.git("fsck", "--strict")
}

// If git has lost the tree that was checked, and the work tree is another, the work is checked anew.
func TestLostWorkIsCheckedAnew(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"plan.md": twoTasks, "check.sh": gateScript, "want.txt": "one\n", "have.txt": "one\n", "lib.txt": "lib\n"})
	w := &pruner{b: b, noteRecorder: inFirstTurn(b, func() {})}
	w.extra = func(e loop.Event) {
		if p, ok := e.Payload.(loop.GatesFinished); ok && p.Gates.Purpose == loop.ForClaim {
			b.write("lib.txt", "mine\n")
		}
	}
	s := b.runObserved(haveBoth, []string{"plan.md"}, withGate(map[string]any{"evidence": []string{"unproven"}}), w)
	t.Logf("%s: %s (%s)", s.Outcome, s.Reason, s.Hint)
	s = b.resume(logObserver{t})
	if s.Outcome != loop.Verified {
		t.Errorf("%s: %s (%s)", s.Outcome, s.Reason, s.Hint)
	}
}
