package runner_test

import (
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/core/authorship"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/toolcall"
	"github.com/pawl-dev/pawl/internal/launch"
	"github.com/pawl-dev/pawl/internal/record"
)

// filesWithPlanScopes returns a project with a plan and a passing gate.
func filesWithPlanScopes(plan string) map[string]string {
	return map[string]string{
		"plan.md": plan, "check.sh": gateScript, "want.txt": "one\n", "have.txt": "one\n", "other.txt": "", "copy.sh": "cp have.txt other.txt\n",
	}
}

// A task may change only the files of its scope in the plan.
func TestEditOutsideTaskScopeIsDenied(t *testing.T) {
	t.Parallel()
	b := newBench(t, filesWithPlanScopes("- [ ] two <!-- pawl: scope=have.txt -->\n- [ ] three\n"))
	s := b.run(`
-- 1/files/other.txt --
out of scope
-- 1/run --
echo x >> other.txt
-- 1/files/have.txt --
one
two
-- 1/reply --
<promise>DONE</promise>
-- 2/files/other.txt --
in no scope
-- 2/reply --
<promise>DONE</promise>
`, []string{"plan.md"}, withGate(map[string]any{"evidence": []string{"unproven"}}))
	if s.Outcome != loop.Verified || s.Iteration != 2 {
		t.Fatalf("%s after %d: %s", s.Outcome, s.Iteration, s.Reason)
	}
	if got := b.git("show", "HEAD~1:other.txt") + "|" + b.git("show", "HEAD:other.txt"); got != "|in no scope" {
		t.Errorf("other.txt: %s", got)
	}
	b.checkDenials(map[string]int{"scope": 2})
	if prompt := b.file("iterations", "0001", "prompt.md"); !strings.Contains(prompt, "files that it may change: have.txt") {
		t.Errorf("the prompt does not name the scope:\n%s", prompt)
	}
}

// The guard cannot see what a program writes. The gates of the claim find it: it is a failed attempt,
// no violation, and the agent can fix it.
func TestProgramWritingOutsideTaskScopeFailsClaim(t *testing.T) {
	t.Parallel()
	b := newBench(t, filesWithPlanScopes("- [ ] two <!-- pawl: scope=have.txt -->\n- [ ] three\n"))
	s := b.run(`
-- 1/files/have.txt --
one
two
-- 1/run --
sh copy.sh
-- 1/reply --
looking
-- 2/reply --
<promise>DONE</promise>
-- 3/run --
git checkout other.txt
-- 3/reply --
<promise>DONE</promise>
-- 4/run --
sh copy.sh
-- 4/reply --
<promise>DONE</promise>
`, []string{"plan.md"}, withGate(map[string]any{"evidence": []string{"unproven"}}))
	if s.Outcome != loop.Verified || s.Iteration != 4 || s.Violations != 0 || s.Refusals != 1 {
		t.Fatalf("%s after %d, %d violations, %d refusals: %s", s.Outcome, s.Iteration, s.Violations, s.Refusals, s.Reason)
	}
	if got := b.git("show", "--format=", "--name-only", "HEAD~1"); got != "have.txt\nplan.md" {
		t.Errorf("the first task committed %s", got)
	}
	told := b.file("iterations", "0003", "prompt.md")
	if !strings.Contains(told, "gate: scope\nresult: failed\nreason: changed outside the task's scope: other.txt\n\nThe task must not change these files: restore them") {
		t.Errorf("told:\n%s", told)
	}
	b.checkDenials(nil)
}

// The user's own changes are not part of the claim.
func TestTaskScopeDoesNotBindUser(t *testing.T) {
	t.Parallel()
	b := newBench(t, filesWithPlanScopes("- [ ] two <!-- pawl: scope=have.txt -->\n"))
	o := &onStep{logObserver: logObserver{t}, at: loop.KindTurnEnded, then: func() {
		b.write("other.txt", "committed\n")
		b.git("commit", "-qm", "mine", "other.txt")
		b.write("want.txt", "one\ntwo\n")
	}}
	s := b.runObserved("-- 1/files/have.txt --\none\ntwo\n-- 1/reply --\n<promise>DONE</promise>\n", []string{"plan.md"},
		withGate(map[string]any{"evidence": []string{"unproven"}}), o)
	if s.Outcome != loop.Verified || s.Iteration != 1 {
		t.Fatalf("%s after %d: %s", s.Outcome, s.Iteration, s.Reason)
	}
	if log := b.file("journal.jsonl"); !strings.Contains(log, "changed outside the task's scope, not by a known tool call; kept: want.txt\"") {
		t.Errorf("the log does not name it:\n%s", log)
	}
}

func TestTaskScopeHoldsInSession(t *testing.T) {
	t.Parallel()
	st := beginInSession(t, filesWithPlanScopes("- [ ] two <!-- pawl: scope=have.txt -->\n"), func() (q launch.SessionRequest) {
		q = requestWithGate(map[string]any{"evidence": []string{"unproven"}})
		q.Words = []string{"plan.md"}
		return q
	}())
	st.editAsAgent("have.txt", "one\ntwo\n")
	st.write("notes.txt", "the user's\n")
	st.write("other.txt", "by a program\n")
	st.recordCalls(authorship.Call{Tool: "Bash", Kind: toolcall.Run, Command: "sh copy.sh other.txt"})
	st.endTurn(loop.Turn{}) // the inspection attributes the edit
	if st.endTurnWithClaim(); st.s.Phase != loop.Turning || st.s.Violations != 0 || st.s.Ladder.Tries != 1 {
		t.Fatalf("%s with %d violations after %d tries: %s", st.s.Phase, st.s.Violations, st.s.Ladder.Tries, st.s.Reason)
	}
	if told := st.prompt(); !strings.Contains(told, "scope: other.txt\n\nThe task must not change these files: restore them") {
		t.Errorf("told:\n%s", told)
	}
	if got := st.git("status", "--porcelain", "other.txt"); got != "M other.txt" {
		t.Errorf("put back over the user's head: %q", got)
	}
	// A file that the user approves by name belongs to the task.
	if err := st.loop.Post("approve", record.Message{Kind: record.MessageApprove, Paths: []string{"other.txt"}}); err != nil {
		t.Fatal(err)
	}
	if st.endTurnWithClaim(); st.s.Outcome != loop.Verified {
		t.Fatalf("approved: %s %s: %s", st.s.Phase, st.s.Outcome, st.s.Reason)
	}
}
