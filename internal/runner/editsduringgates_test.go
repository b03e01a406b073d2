package runner_test

import (
	"maps"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/agent/agenttest"
	"github.com/pawl-dev/pawl/internal/confine"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/verify"
)

// The user edits files while the gates run in a clean checkout. No gate reaches the work tree from
// there, so the edits are the user's.
func TestEditsDuringGatesInCheckoutAreUserEdits(t *testing.T) {
	t.Parallel()
	if n, problem := confine.FindNamespace(t.Context(), nil); !n.Works() {
		agenttest.Lacks(t, "there are no mount namespaces: %s", problem)
	}
	files := sumPackage()
	files["notes.txt"] = "one\n"
	b := newBench(t, files)
	w := &checkoutEditor{onStep: onStep{logObserver: logObserver{t}, at: loop.KindTurnEnded}}
	w.then = func() {
		w.then = nil
		w.edit = func() {
			w.edit = nil
			b.write("notes.txt", "two\n")
			b.write("mine.txt", "mine\n")
		}
	}
	flags := withTestGate(nil)
	flags["gates"] = []any{map[string]any{"name": "t", "command": "sh run.sh", "report": "tap"}}
	s := b.runObserved(`
-- 1/files/sub_test.sh --
test_sub() { [ $(sub 3 2) = 1 ]; }
-- 1/files/lib --
add() { echo $(($1 + $2)); }
sub() { echo $(($1 - $2)); }
-- 1/reply --
<promise>DONE</promise>
`, []string{"add sub, which subtracts"}, flags, w)
	if w.edit != nil || w.then != nil {
		t.Fatal("no gate ran in a checkout after the turn")
	}
	if s.Outcome != loop.Verified {
		t.Fatalf("%s: %s", s.Outcome, s.Reason)
	}
	if got := b.git("diff", "--name-only", "main", "HEAD"); got != "lib\nsub_test.sh" {
		t.Errorf("in the commit: %q", got)
	}
	if got := b.git("status", "--porcelain"); got != "M notes.txt\n?? mine.txt" {
		t.Errorf("status: %q", got)
	}
}

// checkoutEditor edits files when a gate starts in a checkout.
type checkoutEditor struct {
	onStep
	edit func()
}

func (w *checkoutEditor) Gate(p verify.Progress) {
	if p.Clean && p.Result == nil && w.edit != nil {
		time.Sleep(2 * fileDoubt) // real time: an edit close to a turn counts as the agent's
		w.edit()
	}
}

// The user edits and deletes files while the gates run in the work tree, where a gate formats the
// agent's file. What no gate changes in a checkout is the user's.
func TestEditsDuringGatesInWorkTreeAreUserEdits(t *testing.T) {
	t.Parallel()
	files := map[string]string{"lib.txt": "lib\n", "docs/old.txt": "old\n"}
	maps.Copy(files, words)
	files["check.sh"] = "sed 's/ *$//' have.txt > have.new && mv have.new have.txt\nsleep 0.3\n" + gateScript
	b := newBench(t, files)
	w := &workTreeEditor{noteRecorder: noteRecorder{onStep: onStep{logObserver: logObserver{t}}}}
	w.edit = func() {
		b.sh("rm docs/old.txt")
		b.write("lib.txt", "mine\n")
	}
	s := b.runObserved("-- 1/run --\necho 'two  ' >> have.txt\n-- 1/reply --\n<promise>DONE</promise>\n",
		[]string{"have every word"}, withGate(map[string]any{"max_iterations": "1"}), w)
	if w.edit != nil {
		t.Fatal("no gate ran in the work tree after the turn")
	}
	if got := b.git("diff", "--name-only", "main", "HEAD"); s.Outcome != loop.Verified || got != "have.txt" {
		t.Errorf("%s: %s; in the commit: %q", s.Outcome, s.Reason, got)
	}
	if got := b.git("status", "--porcelain"); got != "D docs/old.txt\n M lib.txt" {
		t.Errorf("status: %q", got)
	}
	if !w.hasNote("your edit of docs/old.txt, lib.txt") {
		t.Errorf("notes: %q", w.notes)
	}
}

// workTreeEditor edits files when a gate starts in the work tree after a turn.
type workTreeEditor struct {
	noteRecorder
	turned bool
	edit   func()
}

func (w *workTreeEditor) Stepped(s loop.State, e loop.Event, acts []loop.Action) {
	w.noteRecorder.Stepped(s, e, acts)
	w.turned = w.turned || e.Kind() == loop.KindTurnEnded
}

func (w *workTreeEditor) Gate(p verify.Progress) {
	if w.turned && !p.Clean && p.Result == nil && w.edit != nil {
		time.Sleep(2 * fileDoubt)
		w.edit()
		w.edit = nil
	}
}
