package runner_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/record"
)

const wordByWord = `
-- 1/files/have.txt --
one
two
-- 1/reply --
<promise>DONE</promise>
-- 2/files/have.txt --
one
two
three
-- 2/reply --
<promise>DONE</promise>
-- 3/files/have.txt --
one
two
three
four
-- 3/reply --
<promise>DONE</promise>
`

var untestedCommit = withGate(map[string]any{"evidence": []string{"unproven"}})

// planEditor is a user who edits the plan in the first turn. The owner may be killed at a step.
type planEditor struct {
	logObserver
	b     *bench
	edits []plan.Edit
	kill  func()
	at    string // the kind of an event or an action, or "posted"
	made  []plan.Edit
}

func (w *planEditor) Stepped(s loop.State, e loop.Event, acts []loop.Action) {
	w.logObserver.Stepped(s, e, acts)
	if s.Phase == loop.Turning && w.edits != nil {
		for i, edit := range w.edits {
			if err := w.b.loop.Post("plan-"+string(rune('a'+i)), record.Message{Kind: record.MessagePlan, Edit: &edit}); err != nil {
				w.t.Error(err)
			}
		}
		w.edits = nil
		w.killAt("posted")
	}
	if p, ok := e.Payload.(loop.PlanEdited); ok {
		w.made = append(w.made, p.Edits...)
	}
	for _, a := range acts {
		w.killAt(string(a.Kind()))
	}
	w.killAt(string(e.Kind()))
}

func (w *planEditor) killAt(at string) {
	if w.kill != nil && at == w.at {
		w.kill()
	}
}

// If the owner dies at any step of an edit, the edit is neither lost nor applied twice.
func TestPlanEditSurvivesOwnerDeath(t *testing.T) {
	t.Parallel()
	for _, at := range []string{"posted", "plan_edit_requested", "edit_plan", "plan_edited", "committed"} {
		t.Run(at, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, filesWithPlan("- [ ] two\n- [ ] unwanted\n"))
			ctx, kill := context.WithCancel(t.Context())
			defer kill()
			d := b.begin(wordByWord, []string{"plan.md"}, untestedCommit)
			b.loop = d.Loop
			if s, err := b.drive(ctx, d, &planEditor{logObserver: logObserver{t}, b: b, kill: kill, at: at, edits: []plan.Edit{
				{Do: plan.Add, Title: "three"}, {Do: plan.Skip, Task: "2"}, {Do: plan.Retitle, Task: "1", Title: "both words"},
			}}); err == nil {
				t.Fatalf("not killed: %s %s", s.Outcome, s.Reason)
			}
			s := b.resume(logObserver{t})
			if s.Outcome != loop.Verified || len(s.Tasks) != 3 || !s.Tasks[1].LeftOut || s.Tasks[2].Commit == "" || len(s.Edits) != 0 {
				t.Fatalf("%s: %s, tasks %+v, waiting %+v", s.Outcome, s.Reason, s.Tasks, s.Edits)
			}
			if got := b.read("plan.md"); got != "- [x] both words\n- [ ] unwanted\n- [x] three\n" {
				t.Errorf("the plan: %q", got)
			}
		})
	}
}

// A task that the user skips is done before the next turn, when the edit is applied. The user is told.
func TestSkippedTaskIsDoneMeanwhile(t *testing.T) {
	t.Parallel()
	b := newBench(t, filesWithPlan("- [ ] two\n- [ ] three\n"))
	d := b.begin(wordByWord, []string{"plan.md"}, untestedCommit)
	b.loop = d.Loop
	w := &planEditor{logObserver: logObserver{t}, b: b, edits: []plan.Edit{{Do: plan.Skip, Task: "1"}}}
	s, err := b.drive(t.Context(), d, w)
	if err != nil || s.Outcome != loop.Verified || s.Tasks[0].LeftOut {
		t.Errorf("%s: %s, tasks %+v (%v)", s.Outcome, s.Reason, s.Tasks, err)
	}
	if len(w.made) != 1 || !strings.Contains(w.made[0].Failed, "task 1 was done before the edit could be applied") {
		t.Errorf("the edit: %+v", w.made)
	}
}

// The user writes to the file during an edit by command: both edits count. If they conflict, the
// command's edit is not applied, and the user is told.
func TestConcurrentPlanEditsAreMerged(t *testing.T) {
	t.Parallel()
	for edit, want := range map[string]string{
		"# Words\n\n- [ ] two\n": "# Words\n\n- [x] two\n- [x] three\n", "no tasks any more\n": "- [x] two\n- [x] three\n",
	} {
		b := newBench(t, filesWithPlan("- [ ] two\n"))
		d := b.begin(wordByWord, []string{"plan.md"}, untestedCommit)
		b.loop = d.Loop
		w := &planEditor{logObserver: logObserver{t}, b: b, edits: []plan.Edit{{Do: plan.Add, Title: "three"}}, at: "plan_edit_requested"}
		w.kill = func() { b.write("plan.md", edit) }
		s, err := b.drive(t.Context(), d, w)
		if err != nil || s.Outcome != loop.Verified || s.Violations != 0 {
			t.Fatalf("%q: %s: %s (%v)", edit, s.Outcome, s.Reason, err)
		}
		if got := b.read("plan.md"); got != want {
			t.Errorf("%q: the plan: %q", edit, got)
		}
	}
}

// An edit that was not applied becomes the plan when the user accepts it.
func TestAcceptedUnappliedEditBecomesPlan(t *testing.T) {
	t.Parallel()
	b := newBench(t, editedByScript("- [ ] two\n- [ ] four\n", "- [ ] two\n- [ ] three\n"))
	d := b.begin(strings.Replace(wordByWord, "-- 1/files/have.txt --\none\ntwo\n-- 1/reply --\n<promise>DONE</promise>", "-- 1/run --\nsh edit.sh\n-- 1/reply --\nthinking", 1),
		[]string{"plan.md"}, untestedCommit)
	b.loop = d.Loop
	w := &planAccepter{logObserver: logObserver{t}, b: b}
	s, err := b.drive(t.Context(), d, w)
	if err != nil || s.Outcome != loop.Verified || len(s.Tasks) != 2 || s.Tasks[0].Title != "two" || s.Tasks[1].Title != "three" || len(s.UnappliedEditFiles) != 0 {
		t.Fatalf("%s: %s, tasks %+v, aside %q (%v)", s.Outcome, s.Reason, s.Tasks, s.UnappliedEditFiles, err)
	}
	if got := b.read("plan.md"); got != "- [x] two\n- [x] three\n" {
		t.Errorf("the plan: %q", got)
	}
	kept, err := filepath.Glob(filepath.Join(b.loop.Dir, "plan.edited-*"))
	if err != nil || len(kept) != 2 { // the edit, and the plan before it
		t.Errorf("kept: %q", kept)
	}
}

// A task that a command adds after an unapplied edit stays when that edit is accepted.
func TestTaskAddedAfterUnappliedEditStays(t *testing.T) {
	t.Parallel()
	b := newBench(t, editedByScript("- [ ] two\n- [ ] four\n", "- [ ] two\n- [ ] three\n"))
	d := b.begin(`
-- 1/run --
sh edit.sh
-- 1/reply --
thinking
`+strings.NewReplacer("-- 3/", "-- 4/", "-- 2/", "-- 3/", "-- 1/", "-- 2/").Replace(wordByWord), []string{"plan.md"}, untestedCommit)
	b.loop = d.Loop
	w := &planAccepter{logObserver: logObserver{t}, b: b, first: &plan.Edit{Do: plan.Add, Title: "five"}}
	s, err := b.drive(t.Context(), d, w)
	if err != nil || s.Outcome != loop.Verified || len(s.Tasks) != 3 {
		t.Fatalf("%s: %s, tasks %+v (%v)", s.Outcome, s.Reason, s.Tasks, err)
	}
	if got := b.read("plan.md"); got != "- [x] two\n- [x] three\n- [x] five\n" {
		t.Errorf("the plan: %q", got)
	}
}

// planAccepter accepts a plan edit that was made while a command of the agent ran.
type planAccepter struct {
	logObserver
	b      *bench
	first  *plan.Edit // made before the edit is accepted
	posted bool
}

func (w *planAccepter) Stepped(s loop.State, e loop.Event, acts []loop.Action) {
	w.logObserver.Stepped(s, e, acts)
	if len(s.UnappliedEditFiles) == 1 && !w.posted {
		w.posted = true
		if w.first != nil {
			if err := w.b.loop.Post("first", record.Message{Kind: record.MessagePlan, Edit: w.first}); err != nil {
				w.t.Error(err)
			}
		}
		for id, file := range map[string]string{"no": filepath.Join(w.b.loop.Dir, "spec.json"), "yes": s.UnappliedEditFiles[0]} {
			if err := w.b.loop.Post(id, record.Message{Kind: record.MessagePlan, Edit: &plan.Edit{Do: plan.Accept, File: file}}); err != nil {
				w.t.Error(err)
			}
		}
		if got, err := os.ReadFile(filepath.Join(w.b.loop.Dir, "plan.frozen")); err != nil || string(got) != "- [ ] two\n- [ ] four\n" {
			w.t.Errorf("frozen before it is accepted: %q (%v)", got, err)
		}
	}
}

// A loop in a user's session applies the edit at the end of the turn.
func TestPlanEditInSessionIsAppliedAtTurnEnd(t *testing.T) {
	t.Parallel()
	st := beginPlanInSession(t, "- [ ] two\n")
	if err := st.loop.Post("plan-a", record.Message{Kind: record.MessagePlan, Edit: &plan.Edit{Do: plan.Add, Title: "three"}}); err != nil {
		t.Fatal(err)
	}
	st.editAsAgent("have.txt", "one\ntwo\n")
	if st.endTurnWithClaim(); st.s.Violations != 0 || len(st.s.Tasks) != 2 || st.s.Phase != loop.Turning || st.s.Current != "2" {
		t.Fatalf("%s: %s, %d violations, tasks %+v", st.s.Phase, st.s.Reason, st.s.Violations, st.s.Tasks)
	}
	if got := st.read("plan.md"); got != "- [x] two\n- [ ] three\n" {
		t.Errorf("the plan: %q", got)
	}
}
