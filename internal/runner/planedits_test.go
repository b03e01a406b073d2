package runner_test

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/record"
)

// editOnce edits the plan once, at the first event of a kind.
func editOnce(b *bench, at loop.EventKind, plan string) *noteRecorder {
	w, done := &noteRecorder{onStep: onStep{logObserver: logObserver{b.t}, at: at}}, false
	w.then = func() {
		if !done {
			done = true
			b.write("plan.md", plan)
		}
	}
	return w
}

// editedByScript returns files with a script that edits the plan, which stands for an edit during a
// command.
func editedByScript(plan, edit string) map[string]string {
	files := filesWithPlan(plan)
	files["edited.txt"], files["edit.sh"] = edit, "cp edited.txt pla*.md\n"
	return files
}

func filesWithPlan(plan string) map[string]string {
	return map[string]string{"plan.md": plan, "check.sh": gateScript, "want.txt": "one\n", "have.txt": "one\n"}
}

// The user edits the plan while a command of the agent runs, which may have changed anything. New
// tasks are adopted, whoever wrote them.
func TestTaskAddedDuringCommandIsAdopted(t *testing.T) {
	t.Parallel()
	b := newBench(t, filesWithPlan("- [ ] two\n"))
	w := editOnce(b, loop.KindTurnEnded, "- [ ] two\n- [ ] three\n")
	s := b.runObserved(`
-- 1/files/have.txt --
one
two
-- 1/run --
true
-- 1/reply --
<promise>DONE</promise>
-- 2/files/have.txt --
one
two
three
-- 2/reply --
<promise>DONE</promise>
`, []string{"plan.md"}, withGate(map[string]any{"evidence": []string{"unproven"}}), w)
	if s.Outcome != loop.Verified || s.Violations != 0 || len(s.Tasks) != 2 {
		t.Fatalf("%s: %s, %d violations, tasks %+v", s.Outcome, s.Reason, s.Violations, s.Tasks)
	}
	if got := b.git("log", "--format=%s", "main..HEAD"); got != "feat(2): three\nfeat(1): two" {
		t.Errorf("commits: %s", got)
	}
	if !w.hasNote("task 2 (three) was added to the plan and is now part of the loop") {
		t.Errorf("notes: %q", w.notes)
	}
}

// A task that is added while the last work is committed is adopted, too: the loop does not end
// verified with an open task.
func TestTaskAddedDuringLastCommitIsAdopted(t *testing.T) {
	t.Parallel()
	for _, at := range []loop.EventKind{loop.KindTreeInspected, loop.KindCommitted} {
		t.Run(string(at), func(t *testing.T) {
			t.Parallel()
			b := newBench(t, filesWithPlan("- [ ] two\n"))
			s := b.runObserved(twoWords, []string{"plan.md"}, withGate(map[string]any{"evidence": []string{"unproven"}}),
				editOnce(b, at, map[loop.EventKind]string{
					loop.KindTreeInspected: "- [ ] two\n- [ ] three\n", loop.KindCommitted: "- [x] two\n- [ ] three\n",
				}[at]))
			if s.Outcome != loop.Verified || len(s.Tasks) != 2 || s.Tasks[1].Commit == "" {
				t.Fatalf("%s: %s, tasks %+v", s.Outcome, s.Reason, s.Tasks)
			}
		})
	}
}

// Any other edit during a command may be the agent's. It is not applied and no violation, but kept in
// full.
func TestUnattributedPlanEditDuringCommandIsKeptAside(t *testing.T) {
	t.Parallel()
	for _, edit := range []string{
		"- [ ] both words\n", "- [ ] two\n- [ ] three <!-- pawl: evidence=unproven -->\n", "- [ ] three\n- [ ] two\n", "no tasks any more\n",
	} {
		b := newBench(t, editedByScript("- [ ] two\n", edit))
		w := &noteRecorder{onStep: onStep{logObserver: logObserver{t}}}
		s := b.runObserved(`
-- 1/run --
sh edit.sh
-- 1/reply --
thinking
-- 2/files/have.txt --
one
two
-- 2/reply --
<promise>DONE</promise>
`, []string{"plan.md"}, withGate(map[string]any{"evidence": []string{"unproven"}}), w)
		if s.Outcome != loop.Verified || s.Violations != 0 || len(s.Tasks) != 1 {
			t.Fatalf("%q: %s: %s, %d violations, tasks %+v", edit, s.Outcome, s.Reason, s.Violations, s.Tasks)
		}
		if len(s.UnappliedEditFiles) != 1 || filepath.Dir(s.UnappliedEditFiles[0]) != b.loop.Dir {
			t.Fatalf("%q: kept in %q", edit, s.UnappliedEditFiles)
		}
		if kept, err := os.ReadFile(s.UnappliedEditFiles[0]); err != nil || string(kept) != edit {
			t.Errorf("%q: kept %q, %v", edit, kept, err)
		}
		if got := b.read("plan.md"); got != "- [x] two\n" {
			t.Errorf("%q: the plan: %q", edit, got)
		}
		if !w.hasNote("plan.md was edited while an agent's command ran") || !w.hasNote(s.UnappliedEditFiles[0]) {
			t.Errorf("%q: notes: %q", edit, w.notes)
		}
	}
}

// During a pause only the user is active, so each edit counts.
func TestPlanEditDuringPauseIsAdopted(t *testing.T) {
	t.Parallel()
	b := newBench(t, maps.Clone(filesWithPlan("- [ ] two\n")))
	d := b.begin(`
-- 1/run --
true
-- 1/reply --
thinking
-- 2/files/have.txt --
one
two
-- 2/run --
true
-- 2/reply --
<promise>DONE</promise>
`, []string{"plan.md"}, withGate(map[string]any{"evidence": []string{"unproven"}}))
	w := &pauseRequester{logObserver: logObserver{t}, post: func(kind string) {
		if err := d.Loop.Post("test-"+kind, record.Message{Kind: kind}); err != nil {
			t.Error(err)
		}
	}, held: func() { b.write("plan.md", "# Words\n\n- [ ] both words\n\nTake them from want.txt.\n") }}
	s, err := b.drive(t.Context(), d, w)
	if err != nil || s.Outcome != loop.Verified || s.Violations != 0 || len(s.UnappliedEditFiles) != 0 {
		t.Fatalf("%s: %s, %d violations, aside %q (%v)", s.Outcome, s.Reason, s.Violations, s.UnappliedEditFiles, err)
	}
	if got := b.read("plan.md"); !strings.HasPrefix(got, "# Words\n\n- [x] both words\n") {
		t.Errorf("the plan: %q", got)
	}
	if w.title != "both words" {
		t.Errorf("the task is %q when the loop continues", w.title)
	}
}

// Settings that the user adds to a task, such as its scope and its evidence, count like the task.
func TestTaskSettingsEditedDuringPauseCount(t *testing.T) {
	t.Parallel()
	b := newBench(t, filesWithPlan("- [ ] two\n"))
	d := b.begin(`
-- 1/run --
true
-- 1/reply --
thinking
-- 2/files/have.txt --
one
two
-- 2/reply --
<promise>DONE</promise>
-- 3/files/other.txt --
other
-- 3/run --
true
-- 3/reply --
<promise>DONE</promise>
`, []string{"plan.md"}, withGate(map[string]any{"max_iterations": "3"}))
	w := &pauseRequester{logObserver: logObserver{t}, post: func(kind string) {
		if err := d.Loop.Post("test-"+kind, record.Message{Kind: kind}); err != nil {
			t.Error(err)
		}
	}, held: func() {
		b.write("plan.md", "- [ ] two <!-- pawl: evidence=unproven -->\n- [ ] three <!-- pawl: evidence=unproven scope=have.txt -->\n")
	}}
	s, err := b.drive(t.Context(), d, w)
	if err != nil || len(s.Tasks) != 2 {
		t.Fatalf("%s: %s, tasks %+v (%v)", s.Outcome, s.Reason, s.Tasks, err)
	}
	for _, task := range s.Tasks {
		if task.Wanted != gate.Unproven {
			t.Errorf("task %s wants %s", task.ID, task.Wanted)
		}
	}
	if _, err := os.Stat(filepath.Join(b.root, "other.txt")); err == nil {
		t.Error("a file outside of the task's scope was written")
	}
}

// pauseRequester pauses the loop in its first turn, and then resumes it.
type pauseRequester struct {
	logObserver
	post func(kind string)
	held func()
	done bool

	title string // of the first task once the loop continues
}

func (w *pauseRequester) Stepped(s loop.State, e loop.Event, acts []loop.Action) {
	w.logObserver.Stepped(s, e, acts)
	switch {
	case s.Phase == loop.Turning && e.Kind() != loop.KindPauseRequested && !w.done:
		w.done = true
		w.post(record.MessagePause)
	case e.Kind() == loop.KindResumed:
		w.title = s.Tasks[0].Title
	case s.Phase == loop.Paused:
		w.held()
		w.post(record.MessageResume)
	}
}
