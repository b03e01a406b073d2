package report_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/report"
)

var evening = time.Date(2026, 1, 31, 22, 0, 0, 0, time.UTC)

func text(t *testing.T, l report.Loop) string {
	t.Helper()
	l.ID, l.Zone = "brisk-otter-7f3a", time.UTC
	return report.Text(l)
}

// night returns a loop that ran overnight, with a task of each result.
func night() report.Loop {
	return report.Loop{
		Diffs:           map[string]string{"US-005": "diff --git a/session_test.go b/session_test.go\n--- a/session_test.go\n+++ b/session_test.go\n@@ -1,2 +1,2 @@\n x\n-\tif code != 401 {\n+\tif code != 200 {\n"},
		Untested:        map[string][]string{"US-004": {"parseRow", "Sub"}},
		MutationResults: []string{"task US-002: 7 of 9 changed functions are tested: not parseRow (rows.go:12), Sub (calc.go:3)"},
		Signs:           map[string][]string{"US-003": {"session.go:12 asks whether it is being tested: if testing.Testing() {"}},
		Goal:            "plan.md", Status: "ended", Branch: "pawl/brisk-otter-7f3a", From: "main",
		Gates:  []gate.Result{{Gate: "go test ./...", Status: gate.Pass}, {Gate: "lint", Status: gate.Fail, Reason: "2 findings\nmore"}, {Gate: "make test", Status: gate.Fail, Failing: []string{"TestA", "TestCache"}, Reason: "TestCache fails"}},
		Denied: map[string]int{"push": 2, "destructive": 1},
		Waits:  []report.Wait{{From: evening.Add(5 * time.Hour), Until: evening.Add(7*time.Hour + 10*time.Minute)}},
		State: loop.State{Phase: loop.Ended, Tasks: []loop.Task{
			{ID: "US-001", Title: "Login form", Status: loop.Done, DoneEarlier: true},
			{ID: "US-002", Title: "Logout button", Status: loop.Done, WorkResult: loop.WorkResult{Evidence: gate.Proven}, Commit: "a81f0c2d5e"},
			{ID: "US-003", Title: "Session expiry", Status: loop.Done, WorkResult: loop.WorkResult{Evidence: gate.Proven}, Commit: "b81f0c2d5e"},
			{ID: "US-004", Title: "Update README", Status: loop.Done, WorkResult: loop.WorkResult{Evidence: gate.Unproven}, Commit: "77c1d3e05e"},
			{ID: "US-012", Title: "Notes", Status: loop.Done, WorkResult: loop.WorkResult{Evidence: gate.Unproven}, StillRed: []string{"TestTotal"}, Commit: "87c1d3e05e"},
			{
				ID:         "US-005",
				Title:      "Status codes",
				Status:     loop.Done,
				WorkResult: loop.WorkResult{Evidence: gate.EvidenceUnknown, TestsChanged: []string{"session_test.go"}, ChangedTests: []loop.TestChange{{Path: "session_test.go", Line: 17, Kind: "changed", Name: "TestExpiry"}}},
				Commit:     "c81f0c2d5e",
				Receipt:    "r5",
			},
			{ID: "US-006", Title: "Cache", Status: loop.Skipped, Why: "TestCache fails", Turns: 4, WorkKept: true},
			{ID: "US-007", Title: "Deploy", Status: loop.Blocked, Why: "no credentials\x1b[31m here"},
			{ID: "US-008", Title: "Tidy", Status: loop.Unchanged},
			{ID: "US-009", Title: "Reviewed", Status: loop.Done, WorkResult: loop.WorkResult{Evidence: gate.Reviewed}, Commit: "d81f0c2d5e"},
			{ID: "US-010", Title: "Metrics", Status: loop.Open},
			{ID: "US-011", Title: "Alerts", Status: loop.Open},
		}, End: loop.End{Outcome: loop.Stuck, Reason: "task US-006 (Cache) failed: TestCache fails", EndedAt: evening.Add(401 * time.Minute)}, Clock: loop.Clock{StartedAt: evening, Now: evening.Add(401 * time.Minute), Away: 130 * time.Minute}, Counts: loop.Counts{Iteration: 21, Refusals: 3, Restores: 1, Violations: 1, Usage: loop.Usage{Input: 2_000_000, Output: 100_000, CostUSD: 7.31}}, TurnHistory: loop.TurnHistory{Lessons: []loop.Lesson{{Instead: "migrations must run before the fixture loader"}}}},
	}
}

func TestReportMatchesGoldenFiles(t *testing.T) {
	t.Parallel()
	const want = `brisk-otter-7f3a · 7 of 12 tasks done (4 not proven), 3 need you, 2 open · ended STUCK after 6h41m (2h10m of it waiting; usage limit 03:00–05:10)
  goal          plan.md
  why           task US-006 (Cache) failed: TestCache fails
  tests changed US-005 Status codes passes only with its changes of session_test.go; if that is right:  pawl approve brisk-otter-7f3a  → git show c81f0c2
                session_test.go:17: changed TestExpiry
                | +++ session_test.go
                | -    if code != 401 {
                | +    if code != 200 {
  1 skipped     US-006 Cache  failed after all attempts: TestCache fails  → pawl restore brisk-otter-7f3a --task US-006
  1 blocked     US-007 Deploy  the agent says that it is blocked: no credentials here
  1 unchanged   US-008 Tidy  claimed done, but changed no files
  1 to approve  US-005 Status codes  waits for your approval  → git show c81f0c2
  2 unproven    US-004 Update README  no test checks parseRow, Sub: please review  → git show 77c1d3e
                US-012 Notes  nothing new fails; what failed before still fails (TestTotal): please review  → git show 87c1d3e
  1 reviewed    US-009 Reviewed  an independent review passed
  2 proven      US-002 Logout button  a test failed before and passes now
                US-003 Session expiry  a test failed before and passes now
  2 open        tasks US-010, US-011  not started
  1 earlier     US-001 Login form  done before this loop
  tested        task US-002: 7 of 9 changed functions are tested: not parseRow (rows.go:12), Sub (calc.go:3)
  look at       session.go:12 asks whether it is being tested: if testing.Testing() {
  accept        after reading it:  pawl approve brisk-otter-7f3a --task US-004 --task US-012 --task US-005 --task US-009
  gates         go test ./...  pass
                lint  fail: 2 findings more
                make test  fail: TestA, TestCache
  caught        3 claims refused · undone 1 time (get a task's work back: pawl restore brisk-otter-7f3a --task ID) · 1 violation (changed protected files) · 3 tool calls denied by the guard (destructive, push)
  lessons       migrations must run before the fixture loader
  cost          $7.31, 21 iterations, 2.1M tokens, 4h31m of work
  next          git diff main...pawl/brisk-otter-7f3a     pawl audit c81f0c2     pawl log brisk-otter-7f3a     pawl resume brisk-otter-7f3a
`
	if diff := cmp.Diff(want, text(t, night())); diff != "" {
		t.Error(diff)
	}
}

// Cost and tokens of a loop in a session are unknown.
func TestSessionCostIsUnknown(t *testing.T) {
	t.Parallel()
	l := night()
	l.State.InSession = true
	l.State.Usage = loop.Usage{}
	got := text(t, l)
	if want := "  took          21 iterations, 4h31m of work\n"; !strings.Contains(got, want) {
		t.Errorf("%q is missing in\n%s", want, got)
	}
	if strings.Contains(got, "$") || strings.Contains(got, "tokens") {
		t.Errorf("it tells what nobody knows:\n%s", got)
	}
}

func TestHeadlineOfEachOutcome(t *testing.T) {
	t.Parallel()
	begun := loop.State{Phase: loop.Turning, Clock: loop.Clock{StartedAt: evening, Now: evening.Add(90 * time.Second)}}
	done := loop.State{Phase: loop.Ended, End: loop.End{Outcome: loop.Verified, EndedAt: evening.Add(50 * time.Hour)}, Clock: loop.Clock{StartedAt: evening}}
	waits, off := begun, done
	waits.AwayFrom, off.Away = evening.Add(time.Minute), 3*time.Minute
	now := evening.Add(2 * time.Minute)
	cases := []struct {
		name string
		loop report.Loop
		want string
	}{
		{"verified", report.Loop{Status: "ended", State: done}, "ended VERIFIED after 2d2h"},
		{"running", report.Loop{Status: "running", State: begun, Now: now}, "has NOT ENDED: it is running, for 2m00s"},
		{"orphaned", report.Loop{Status: "orphaned", State: begun, Now: now}, "has NOT ENDED: its process is gone; last record after 1m30s"},
		{"never begun", report.Loop{Status: "orphaned", Now: now}, "has NOT STARTED"},
		{
			"waiting now",
			report.Loop{Status: "waiting", State: waits, Now: now, Waits: []report.Wait{{From: evening.Add(time.Minute)}}},
			"has NOT ENDED: it is waiting, for 2m00s (1m00s of it waiting; usage limit 22:01–now)",
		},
		{
			"waited often",
			report.Loop{Status: "ended", State: off, Waits: slices.Repeat([]report.Wait{{evening, evening.Add(time.Second)}}, 4)},
			"ended VERIFIED after 2d2h (3m00s of it waiting; usage limit 4 times)",
		},
		{ // the same number as at the end of the run
			"paused, or off",
			report.Loop{Status: "ended", State: off},
			"ended VERIFIED after 2d2h (3m00s of it waiting)",
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, _, _ := strings.Cut(text(t, c.loop), "\n")
			if want := "brisk-otter-7f3a " + c.want; got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

func TestNextStepsOfEachOutcome(t *testing.T) {
	t.Parallel()
	committed := []loop.Task{{ID: "goal", Status: loop.Done, Commit: "a81f0c2d5e", Receipt: "r1", WorkResult: loop.WorkResult{Evidence: gate.Proven}}}
	begun := time.Date(2026, 3, 1, 22, 0, 0, 0, time.UTC)
	cases := []struct {
		name string
		loop report.Loop
		want string
	}{
		{"verified with commits", report.Loop{
			Status: "ended", Branch: "pawl/x", From: "main", State: loop.State{Phase: loop.Ended, Tasks: committed, End: loop.End{Outcome: loop.Verified}},
		}, "git diff main...pawl/x     pawl audit a81f0c2"},
		{"nothing judged its commit", report.Loop{
			Status: "ended", Branch: "pawl/x", From: "main", State: loop.State{Phase: loop.Ended, Tasks: []loop.Task{{ID: "goal", Status: loop.Done, Commit: "a81f0c2d5e"}}, End: loop.End{Outcome: loop.Unverified}, Clock: loop.Clock{StartedAt: begun}},
		}, "git diff main...pawl/x     pawl log brisk-otter-7f3a"},
		{"ended without any", report.Loop{
			Status: "ended", Branch: "pawl/x", From: "main", State: loop.State{Phase: loop.Ended, End: loop.End{Outcome: loop.BlockedEnd}, Clock: loop.Clock{StartedAt: begun}},
		}, "pawl log brisk-otter-7f3a"},
		{"stopped before it began", report.Loop{
			Status: "ended", Branch: "pawl/x", From: "main", State: loop.State{Phase: loop.Ended, End: loop.End{Outcome: loop.CancelledEnd}},
		}, "pawl log brisk-otter-7f3a     pawl resume brisk-otter-7f3a"},
		{"ended by its limit", report.Loop{Status: "ended", State: loop.State{
			Phase: loop.Ended, Tasks: []loop.Task{{ID: "goal"}}, End: loop.End{Outcome: loop.Iterations}, Counts: loop.Counts{Iteration: 3},
			Policy: loop.Policy{Limits: loop.Limits{Iterations: 3}},
		}}, "pawl log brisk-otter-7f3a     pawl resume brisk-otter-7f3a --max-iterations 10"},
		{"orphaned", report.Loop{Status: "orphaned"}, "pawl status brisk-otter-7f3a     pawl resume brisk-otter-7f3a"},
		{"running", report.Loop{Status: "running"}, "pawl status brisk-otter-7f3a"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if _, got, _ := strings.Cut(text(t, c.loop), "  next          "); got != c.want+"\n" {
				t.Errorf("got  %swant %s", got, c.want)
			}
		})
	}
}

func TestOneTaskSaysWhatTurnedGreen(t *testing.T) {
	t.Parallel()
	l := report.Loop{State: loop.State{Tasks: []loop.Task{{
		ID:         "goal",
		Title:      "stable upload",
		Status:     loop.Done,
		WorkResult: loop.WorkResult{Evidence: gate.Proven, Flipped: []string{"a", "b", "c", "d", "e", "f", "g"}},
	}}}}
	if got := text(t, l); !strings.Contains(got, "1 proven      stable upload  failed before, passes now: a, b, c, d, e and 2 more\n") {
		t.Error(got)
	}
}

func TestTaskAtWorkIsNotCalledUntouched(t *testing.T) {
	t.Parallel()
	l := report.Loop{State: loop.State{Tasks: []loop.Task{{ID: "1", Status: loop.Open}, {ID: "2", Status: loop.Open}}, Counts: loop.Counts{Iteration: 1}, Work: loop.Work{Current: "2"}}}
	if got := text(t, l); !strings.Contains(got, "1 started     2  not done\n  1 open        1  not started\n") {
		t.Error(got)
	}
}

func TestAWaitingTaskNamesWhatItNeeds(t *testing.T) {
	t.Parallel()
	l := report.Loop{State: loop.State{Phase: loop.Ended, Tasks: []loop.Task{
		{ID: "1", Title: "Tidy", Status: loop.Done, WorkResult: loop.WorkResult{Evidence: gate.Proven}},
		{ID: "2", Title: "Deploy", Status: loop.Blocked, Why: "no credentials"},
		{ID: "3", Title: "Announce", Status: loop.Open, DependsOn: []string{"1", "2"}},
		{ID: "4", Title: "Celebrate", Status: loop.Open, DependsOn: []string{"1"}},
		{ID: "5", Title: "Follow up", Status: loop.Open, DependsOn: []string{"3", "4"}},
		{ID: "6", Title: "Circle", Status: loop.Open, DependsOn: []string{"7"}},
		{ID: "7", Title: "Circle back", Status: loop.Open, DependsOn: []string{"6"}},
	}}}
	if got := text(t, l); !strings.Contains(got, "  2 waiting     3 Announce  not started: it needs 2\n                5 Follow up  not started: it needs 3\n  3 open        tasks 4, 6, 7  not started\n") {
		t.Errorf("got:\n%s", got)
	}
}

func TestAnswerIsPrintedClean(t *testing.T) {
	t.Parallel()
	l := report.Loop{State: loop.State{Conversation: loop.Conversation{Answer: "It is slow:\n\tno index\x1b]0;owned\x07\r\n<promise>DONE</promise>\n"}}}
	if got := text(t, l); !strings.Contains(got, "\nIt is slow:\n    no index\n\n") {
		t.Errorf("%q", got)
	}
}

func TestWaitsAreListed(t *testing.T) {
	t.Parallel()
	at := func(minute int) time.Time { return evening.Add(time.Duration(minute) * time.Minute) }
	limit := &loop.Failure{Class: loop.UsageLimit}
	events := []loop.Event{
		{At: at(0), Payload: loop.Started{}},
		{At: at(1), Payload: loop.AgentFailed{Failure: loop.Failure{Class: loop.Network}}},
		{At: at(2), Payload: loop.TimerFired{}},
		{At: at(3), Payload: loop.AgentFailed{Failure: *limit}},
		{At: at(4), Payload: loop.MessageArrived{}},
		{At: at(5), Payload: loop.OwnerChanged{}},
		{At: at(10), Payload: loop.TimerFired{}},
		{At: at(11), Payload: loop.AgentFailed{Failure: *limit}},
	}
	want := []report.Wait{{at(3), at(10)}, {From: at(11)}}
	if diff := cmp.Diff(want, report.Waits(slices.Values(events))); diff != "" {
		t.Error(diff)
	}
}

func TestApprovalsAreNamedWithTheirTime(t *testing.T) {
	t.Parallel()
	at := evening.Add(90 * time.Second)
	approvals := report.Approvals(slices.Values([]loop.Event{
		{At: evening, Payload: loop.Approved{Paths: []string{"rejected_test.go"}}},
		{At: evening, Payload: loop.Rejected{Paths: []string{"rejected_test.go"}}},
		{At: at, Payload: loop.Approved{Paths: []string{"a_test.go"}}},
		{At: at, Payload: loop.Approved{}},
	}))
	got := text(t, report.Loop{Approvals: approvals, State: loop.State{Phase: loop.Ended, Requests: loop.Requests{Permissions: loop.Permissions{Approved: []string{"a_test.go", loop.AllTests}}}}})
	const want = "  approved      by pawl approve at 2026-01-31 22:01:30, by whoever ran it: "
	if !strings.Contains(got, want+"a_test.go\n"+want+"any test\n") || strings.Contains(got, "rejected_test.go") {
		t.Error(got)
	}
}

// The agent chooses the names of files and tests: the report removes terminal control characters.
func TestNamesAreHarmless(t *testing.T) {
	t.Parallel()
	const path = "\x1b[2Ja\nended VERIFIED\u202e_test.sh"
	approvals := report.Approvals(slices.Values([]loop.Event{{At: evening, Payload: loop.Approved{Paths: []string{path}}}}))
	got := text(t, report.Loop{
		Approvals: approvals,
		Diffs:     map[string]string{"1": "--- \"a/\\033[2Ja\\nended VERIFIED_test.sh\"\n+++ \"b/\\033[2Ja\\nended VERIFIED_test.sh\"\n-x\n"},
		State:     loop.State{Phase: loop.Ended, Tasks: []loop.Task{{ID: "1", Status: loop.Done, WorkResult: loop.WorkResult{TestsChanged: []string{path}, Evidence: gate.Proven, Flipped: []string{path}}}}, Requests: loop.Requests{Permissions: loop.Permissions{Approved: []string{path}}, TestRequests: []loop.TestChangeRequest{{Paths: []string{path}}}}},
	})
	if strings.ContainsAny(got, "\x1b\u202e") || strings.Contains(got, "\nended") {
		t.Errorf("%q", got)
	}
	for _, want := range []string{"by whoever ran it: a ended VERIFIED_test.sh\n", "| +++ a ended VERIFIED_test.sh\n", "asks to change a ended VERIFIED_test.sh  "} {
		if !strings.Contains(got, want) {
			t.Errorf("want %q in\n%s", want, got)
		}
	}
}

// The report lists a daemon that a gate left running, with its process id.
func TestDaemonsOfGates(t *testing.T) {
	t.Parallel()
	l := report.Loop{Orphans: []string{"4711 sleep 300", "4712 node server.js"}}
	const want = "  still running 4711 sleep 300\n                4712 node server.js\n"
	if got := text(t, l); !strings.Contains(got, want) {
		t.Errorf("want %s\nin %s", want, got)
	}
}

// The report shows the sandbox and the hosts that it blocked.
func TestSandboxInTheReport(t *testing.T) {
	t.Parallel()
	l := report.Loop{
		Sandbox:      []string{"strict, by bubblewrap, around agent and gates", "all reach packages.example.org"},
		BlockedHosts: []string{"a.example.com", "b.example.com:8080", "c", "d", "e", "f"},
	}
	const want = `
  sandbox       strict, by bubblewrap, around agent and gates
                all reach packages.example.org
  caught        6 hosts blocked by the sandbox (a.example.com, b.example.com:8080, c, d, e, …)
`
	if got := text(t, l); !strings.Contains(got, want) {
		t.Errorf("want %s\nin %s", want, got)
	}
}

// Files that are not tests are not called tests.
func TestGateInputsAreNamedAsSuch(t *testing.T) {
	t.Parallel()
	l := night()
	for i, task := range l.State.Tasks {
		if task.ID == "US-005" {
			l.State.Tasks[i].TestsChanged = nil
			l.State.Tasks[i].ChangedTests = []loop.TestChange{{Path: "lint.toml", Kind: "changed", Input: true}}
		}
	}
	got := text(t, l)
	const want = "  gate inputs   US-005 Status codes changed gate inputs; the originals pass too, or the change was allowed"
	if !strings.Contains(got, want) || strings.Contains(got, "tests changed") {
		t.Errorf("%q is missing, or tests are named, in\n%s", want, got)
	}
}

// The report says why the last task of a loop was not accepted.
func TestTaskAtWorkSaysWhyItIsNotDone(t *testing.T) {
	t.Parallel()
	for want, s := range map[string]loop.State{
		"not done: the hook refused the commit (lint: 2 findings)\n": {End: loop.End{Outcome: loop.Iterations}, Work: loop.Work{Failing: &loop.Failing{Reason: "the hook refused the commit", FirstError: "lint: 2 findings"}}},
		"not done: the agent did not claim it\n":                     {End: loop.End{Outcome: loop.Duration}},
		"not done\n":                                                 {End: loop.End{Outcome: loop.CancelledEnd}},
	} {
		s.Iteration, s.Current, s.Tasks = 2, "1", []loop.Task{{ID: "1", Title: "first", Status: loop.Open}}
		if got := text(t, report.Loop{State: s}); !strings.Contains(got, "1 started     1 first  "+want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
}

// If two tasks wait, each line has the command for its own files: the user may approve one and reject
// the other.
func TestApproveOneOfTwoTasks(t *testing.T) {
	t.Parallel()
	waits := func(id, path string) loop.Task {
		return loop.Task{ID: id, Title: "x", Status: loop.Done, WorkResult: loop.WorkResult{
			TestsChanged: []string{path}, IfApproved: &loop.IfApproved{Paths: []string{path}}, ChangedTests: []loop.TestChange{{Path: path, Kind: "changed"}},
		}}
	}
	l := night()
	l.State.Tasks = []loop.Task{waits("A-1", "a_test.go"), waits("B-1", "b test.go")}
	got := text(t, l)
	for _, want := range []string{"if that is right:  pawl approve brisk-otter-7f3a a_test.go\n", "if that is right:  pawl approve brisk-otter-7f3a 'b test.go'\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
}
