package runner_test

import (
	"os"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/core/authorship"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/toolcall"
	"github.com/pawl-dev/pawl/internal/record"
)

// sitPlanned begins a loop over a plan in a session.
func sitPlanned(t *testing.T, plan string) *sitting {
	t.Helper()
	q := gated(map[string]any{"evidence": []string{"unproven"}})
	q.Words = []string{"plan.md"}
	return sit(t, planned(plan), q)
}

// besideACommand edits the plan while a command that names it runs.
func (st *sitting) besideACommand(plan string) {
	st.t.Helper()
	st.write("plan.md", plan)
	st.called(authorship.Call{Tool: "Bash", Kind: toolcall.Run, Command: "cat plan.md"})
}

// The user edits the plan of their session's loop while a command of the agent's runs
// that names it. New tasks are taken up.
func TestATaskThatIsAddedInASessionIsTakenUp(t *testing.T) {
	t.Parallel()
	st := sitPlanned(t, "- [ ] two\n")
	st.besideACommand("- [ ] two\n- [ ] three\n")
	st.edits("have.txt", "one\ntwo\n")
	if st.claims(); st.s.Violations != 0 || len(st.s.Tasks) != 2 || st.s.Phase != loop.Turning {
		t.Fatalf("%s: %s, %d violations, tasks %+v", st.s.Phase, st.s.Reason, st.s.Violations, st.s.Tasks)
	}
	if got := st.read("plan.md"); got != "- [x] two\n- [ ] three\n" {
		t.Errorf("the plan: %q", got)
	}
}

// Any other edit is not applied, held against nobody, and stays in the file, also in the
// turns after and when a task is ticked; it is kept beside once more.
func TestAnotherEditInASessionIsNoViolation(t *testing.T) {
	t.Parallel()
	for _, edit := range []string{
		"# Mine\n\n- [ ] two\n", "- [ ] two\n- [ ] three <!-- pawl: evidence=reviewed -->\n", "- [ ] two\n- [ ] three <!-- pawl: scope=src/** -->\n",
	} {
		st := sitPlanned(t, "- [ ] two\n")
		st.besideACommand(edit)
		st.turn(loop.Turn{})
		st.turn(loop.Turn{})
		if st.s.Violations != 0 || len(st.s.Tasks) != 1 || len(st.s.UnappliedEditFiles) != 1 {
			t.Fatalf("%q: %d violations, tasks %+v, kept in %q", edit, st.s.Violations, st.s.Tasks, st.s.UnappliedEditFiles)
		}
		if got := st.read("plan.md"); got != edit {
			t.Errorf("%q: the plan: %q", edit, got)
		}
		st.edits("have.txt", "one\ntwo\n")
		if st.claims(); st.s.Phase != loop.Ended || st.s.Violations != 0 {
			t.Fatalf("%q: %s: %s, %d violations", edit, st.s.Phase, st.s.Reason, st.s.Violations)
		}
		if kept, err := os.ReadFile(st.s.UnappliedEditFiles[0]); err != nil || string(kept) != edit {
			t.Errorf("%q: kept %q, %v", edit, kept, err)
		}
		if got := st.read("plan.md"); got != ticked(edit) {
			t.Errorf("%q: the plan in the end: %q", edit, got)
		}
	}
}

// An edit while the loop of a session is paused, and that no tool call explains, is in the
// loop as soon as it continues.
func TestAnEditInASessionsPauseIsAdopted(t *testing.T) {
	t.Parallel()
	for _, explained := range []bool{false, true} {
		st := sitPlanned(t, "- [ ] two\n")
		st.post(record.MessagePause, "")
		st.turn(loop.Turn{})
		const edit = "- [ ] both\n- [ ] three\n"
		if explained {
			st.besideACommand(edit)
		} else {
			st.write("plan.md", edit)
		}
		st.post(record.MessageResume, "")
		st.runInSession()
		if adopted := st.s.Tasks[0].Title == "both" && len(st.s.Tasks) == 2; adopted == explained {
			t.Errorf("explained %v: %s, tasks %+v", explained, st.s.Phase, st.s.Tasks)
		}
	}
}

// What the agent does to the plan with an editing tool is its violation, as ever.
func TestTheAgentsEditInASessionIsAViolation(t *testing.T) {
	t.Parallel()
	st := sitPlanned(t, "- [ ] two\n")
	st.edits("plan.md", "# Easier\n\n- [ ] two\n")
	if st.turn(loop.Turn{}); st.s.Violations != 1 {
		t.Fatalf("%d violations", st.s.Violations)
	}
	if st.turn(loop.Turn{}); st.s.Violations != 2 {
		t.Fatalf("left as it is: %d violations", st.s.Violations)
	}
}

// ticked is a plan with its first task done.
func ticked(plan string) string { return strings.Replace(plan, "- [ ] two", "- [x] two", 1) }
