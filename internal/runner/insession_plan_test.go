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

// beginPlanInSession starts a loop over a plan in a session.
func beginPlanInSession(t *testing.T, plan string) *sessionLoop {
	t.Helper()
	q := requestWithGate(map[string]any{"evidence": []string{"unproven"}})
	q.Words = []string{"plan.md"}
	return beginInSession(t, filesWithPlan(plan), q)
}

// editPlanDuringCommand edits the plan while a command that names it runs.
func (st *sessionLoop) editPlanDuringCommand(plan string) {
	st.t.Helper()
	st.write("plan.md", plan)
	st.recordCalls(authorship.Call{Tool: "Bash", Kind: toolcall.Run, Command: "cat plan.md"})
}

// The user edits the plan of their session's loop while a command of the agent that names it runs.
// New tasks are adopted.
func TestTaskAddedToPlanInSessionIsAdopted(t *testing.T) {
	t.Parallel()
	st := beginPlanInSession(t, "- [ ] two\n")
	st.editPlanDuringCommand("- [ ] two\n- [ ] three\n")
	st.editAsAgent("have.txt", "one\ntwo\n")
	if st.endTurnWithClaim(); st.s.Violations != 0 || len(st.s.Tasks) != 2 || st.s.Phase != loop.Turning {
		t.Fatalf("%s: %s, %d violations, tasks %+v", st.s.Phase, st.s.Reason, st.s.Violations, st.s.Tasks)
	}
	if got := st.read("plan.md"); got != "- [x] two\n- [ ] three\n" {
		t.Errorf("the plan: %q", got)
	}
}

// Any other edit is not applied and is no violation. It stays in the file, in later turns and when a
// task is ticked, and is also kept in a separate file.
func TestUnattributedPlanEditInSessionIsNotApplied(t *testing.T) {
	t.Parallel()
	for _, edit := range []string{
		"# Mine\n\n- [ ] two\n", "- [ ] two\n- [ ] three <!-- pawl: evidence=reviewed -->\n", "- [ ] two\n- [ ] three <!-- pawl: scope=src/** -->\n",
	} {
		st := beginPlanInSession(t, "- [ ] two\n")
		st.editPlanDuringCommand(edit)
		st.endTurn(loop.Turn{})
		st.endTurn(loop.Turn{})
		if st.s.Violations != 0 || len(st.s.Tasks) != 1 || len(st.s.UnappliedEditFiles) != 1 {
			t.Fatalf("%q: %d violations, tasks %+v, kept in %q", edit, st.s.Violations, st.s.Tasks, st.s.UnappliedEditFiles)
		}
		if got := st.read("plan.md"); got != edit {
			t.Errorf("%q: the plan: %q", edit, got)
		}
		st.editAsAgent("have.txt", "one\ntwo\n")
		if st.endTurnWithClaim(); st.s.Phase != loop.Ended || st.s.Violations != 0 {
			t.Fatalf("%q: %s: %s, %d violations", edit, st.s.Phase, st.s.Reason, st.s.Violations)
		}
		if kept, err := os.ReadFile(st.s.UnappliedEditFiles[0]); err != nil || string(kept) != edit {
			t.Errorf("%q: kept %q, %v", edit, kept, err)
		}
		if got := st.read("plan.md"); got != tickFirstTask(edit) {
			t.Errorf("%q: the plan in the end: %q", edit, got)
		}
	}
}

// A plan edit during a pause, which no tool call explains, is applied when the loop continues.
func TestPlanEditDuringPauseInSessionIsAdopted(t *testing.T) {
	t.Parallel()
	for _, explained := range []bool{false, true} {
		st := beginPlanInSession(t, "- [ ] two\n")
		st.sendMessage(record.MessagePause, "")
		st.endTurn(loop.Turn{})
		const edit = "- [ ] both\n- [ ] three\n"
		if explained {
			st.editPlanDuringCommand(edit)
		} else {
			st.write("plan.md", edit)
		}
		st.sendMessage(record.MessageResume, "")
		st.runDriver()
		if adopted := st.s.Tasks[0].Title == "both" && len(st.s.Tasks) == 2; adopted == explained {
			t.Errorf("explained %v: %s, tasks %+v", explained, st.s.Phase, st.s.Tasks)
		}
	}
}

// A plan edit by the agent's editing tool is a violation.
func TestAgentPlanEditInSessionIsViolation(t *testing.T) {
	t.Parallel()
	st := beginPlanInSession(t, "- [ ] two\n")
	st.editAsAgent("plan.md", "# Easier\n\n- [ ] two\n")
	if st.endTurn(loop.Turn{}); st.s.Violations != 1 {
		t.Fatalf("%d violations", st.s.Violations)
	}
	if st.endTurn(loop.Turn{}); st.s.Violations != 2 {
		t.Fatalf("left as it is: %d violations", st.s.Violations)
	}
}

// tickFirstTask returns the plan with its first task done.
func tickFirstTask(plan string) string { return strings.Replace(plan, "- [ ] two", "- [x] two", 1) }
