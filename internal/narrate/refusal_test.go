package narrate

import (
	"testing"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
)

// The reason for a refused claim is clear without the documentation.
func TestRefusalSaysWhy(t *testing.T) {
	t.Parallel()
	state := loop.State{Tasks: []loop.Task{{ID: "1", Status: loop.Done, WorkResult: loop.WorkResult{Flipped: []string{"TestTotal", "TestSum"}}}}}
	red := []gate.Result{{Gate: "test", Status: gate.Fail, Failing: []string{"TestLogout"}}}
	state.Tasks = append(state.Tasks, loop.Task{ID: "2", Status: loop.Done, WorkResult: loop.WorkResult{Flipped: []string{"test"}}})
	tests := []struct {
		name  string
		gates loop.Gates
		want  string
	}{
		{
			"a finished task broken, each named once",
			loop.Gates{Status: gate.Fail, Failures: loop.Failures{Failing: []string{"TestOther", "TestSum", "TestTotal"}}},
			"it breaks finished work: task 1 (TestSum)",
		},
		{
			"a new test, or one that passed before",
			loop.Gates{Status: gate.Fail, Reason: "test: fails, but passed when the task started: TestA", Failures: loop.Failures{Failing: []string{"TestA"}}},
			"test: fails, but passed when the task started: TestA",
		},
		{"a hook", loop.Gates{Status: gate.Fail, Reason: "the pre-commit hook refused the commit"}, "the pre-commit hook refused the commit"},
		{"red before and after", loop.Gates{Status: gate.Pass, Results: red, Failures: loop.Failures{Failing: []string{"TestLogout"}}}, "TestLogout failed before this work and still fails"},
		{
			"a gate without ids that a finished task turned green",
			loop.Gates{Status: gate.Fail, Results: red, Reason: "test: fails, but passed when the task started: exit 1: FAIL t03", Failures: loop.Failures{Failing: []string{"test"}}},
			"test: fails, but passed when the task started: exit 1: FAIL t03",
		},
		{
			"a gate without ids, red before and after by other tests",
			loop.Gates{Status: gate.Pass, Results: red, Reason: "test still fails: 91 failed", Failures: loop.Failures{StillRed: []string{"test"}, Failing: []string{"test"}}},
			"test still fails: 91 failed",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := Refusal(state, tt.gates); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

// A claim that is refused for want of evidence says what the agent is told, whatever the gates say.
func TestRefusalSaysWhatTheAgentIsTold(t *testing.T) {
	t.Parallel()
	for want, f := range map[string]loop.Failing{
		"everything passes, as before. Add a test that fails without the change": {Reason: "everything passes, as before"},
		"no gate runs the new tests; what would be enough: another gate":         {Reason: "no gate runs the new tests", Remedy: "another gate"},
		"only documents changed":                     {Reason: "only documents changed", OnlyText: true},
		"the gates pass only with the changed tests": {Reason: "the gates pass only with the changed tests", NeededInputs: []string{"a_test.go"}},
	} {
		state := loop.State{Next: loop.NextTurn{Situation: loop.ClaimRefused}, Work: loop.Work{Failing: &f}}
		if got := Refusal(state, loop.Gates{Status: gate.Pass, Reason: "another reason", Proof: loop.Proof{Remedy: "another remedy"}}); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

// What still fails is shown to the agent, so a test that fails without the change is not what would be
// enough.
func TestRefusalNamesWhatStillFails(t *testing.T) {
	t.Parallel()
	state := loop.State{Next: loop.NextTurn{Situation: loop.ClaimRefused}, Work: loop.Work{Failing: &loop.Failing{Reason: "nothing new fails; what failed before still fails: TestLogout"}}}
	g := loop.Gates{Status: gate.Pass, Reason: "nothing new fails; what failed before still fails: TestLogout", Failures: loop.Failures{Failing: []string{"TestLogout"}}}
	if got, want := Refusal(state, g), "TestLogout failed before this work and still fails"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	g.StillRed = []string{"test"}
	if got := Refusal(state, g); got != g.Reason {
		t.Error(got)
	}
}

// A gate that failed before and still fails is not called passing, neither for the task nor in the
// summary.
func TestGateThatStillFailsIsNotPassing(t *testing.T) {
	t.Parallel()
	const said = "nothing new fails; what failed before still fails (TestA): please review"
	task := loop.Task{ID: "1", Status: loop.Done, WorkResult: loop.WorkResult{Evidence: gate.Unproven}, StillRed: []string{"TestA"}}
	if got := Evidence(task); got != said {
		t.Errorf("got %q", got)
	}
}

// The result's word and its explanation do not repeat each other.
func TestResultAndExplanationDoNotRepeat(t *testing.T) {
	t.Parallel()
	lost := loop.Task{Status: loop.Done, WorkResult: loop.WorkResult{TestsChanged: []string{"a_test.go"}, TestsRemoved: true}}
	if got, want := Result(lost)+": "+Evidence(lost), "to approve: old tests are gone: a_test.go"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	task := loop.Task{Status: loop.Unchanged, Why: "claimed done, but changed no files"}
	if got, want := Result(task)+": "+Evidence(task), "unchanged: claimed done, but changed no files"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// The agent chooses the names of tests, and a user reads them at a terminal.
func TestTestNamesAreCleaned(t *testing.T) {
	t.Parallel()
	if got, want := TestFiles([]string{"a b_test.sh", "\x1b[2Jc\nd_test.sh"}), "a b_test.sh, c d_test.sh"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
