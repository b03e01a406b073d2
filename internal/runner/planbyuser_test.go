package runner_test

import (
	"strings"
	"testing"
	"time"
)

// The user edits the plan or a protected file while the agent works, and a command runs later in the
// turn. The file times show that the command did not make the change.
func TestEditBeforeCommandIsUserEdit(t *testing.T) {
	t.Parallel()
	files := filesWithPlan("- [ ] two\n")
	files["keep.txt"] = "keep\n"
	b := newBench(t, files)
	w := inFirstTurn(b, func() {
		time.Sleep(10 * fileDoubt)
		b.write("plan.md", "- [ ] both words\n")
		b.write("keep.txt", "mine\n")
	})
	s := b.runObserved(slowCommand, []string{"plan.md"}, withGate(map[string]any{"evidence": []string{"unproven"}, "protect": []string{"keep.txt"}}), w)
	if s.Violations != 0 || len(s.UnappliedEditFiles) != 0 || len(s.Tasks) != 1 || s.Tasks[0].Title != "both words" {
		t.Errorf("%d violations, kept aside %q, tasks %+v; notes: %q", s.Violations, s.UnappliedEditFiles, s.Tasks, w.notes)
	}
	if got := b.read("keep.txt"); got != "mine\n" {
		t.Errorf("the user's text is undone: %q", got)
	}
}

// A plan that the user renamed is no violation of the agent. It is written again, because the loop
// needs it.
func TestPlanRenamedByUserIsNoViolation(t *testing.T) {
	t.Parallel()
	b := newBench(t, filesWithPlan("- [ ] two\n"))
	w := inFirstTurn(b, func() { b.sh("mv plan.md mine.md") })
	s := b.runObserved(slowCommand, []string{"plan.md"}, withGate(map[string]any{"evidence": []string{"unproven"}}), w)
	if s.Violations != 0 || !w.hasNote("plan.md was removed or renamed; restored") {
		t.Errorf("%d violations; notes: %q", s.Violations, w.notes)
	}
	if got := b.read("plan.md") + b.read("mine.md"); !strings.HasSuffix(got, "- [ ] two\n") || !strings.HasPrefix(got, "- [x] two\n") {
		t.Errorf("plan.md and mine.md: %q; %s: %s", got, s.Outcome, s.Reason)
	}
}

// slowCommand waits, runs a command, and does the work in the next turn.
const slowCommand = `
-- 1/sleep --
500ms
-- 1/run --
true
-- 1/reply --
thinking
-- 2+/files/have.txt --
one
two
-- 2+/reply --
<promise>DONE</promise>
`
