package narrate

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/memory"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/store/journal"
)

// Each kind of event has words, also in a state where it makes no sense.
func TestEventsInWords(t *testing.T) {
	t.Parallel()
	at := loop.State{Phase: loop.Turning, Counts: loop.Counts{Iteration: 4}, Work: loop.Work{Current: "US-003"}}
	cases := []struct {
		event loop.Event
		want  string
	}{
		{loop.Event{Payload: loop.Started{}}, "the loop starts: 0 tasks, 0 open"},
		{loop.Event{Payload: loop.Checkpointed{Tree: "0123456789"}}, "checkpoint of the work tree made (0123456)"},
		{loop.Event{Payload: loop.WorkReapplied{Tree: "0123456789"}}, "the unfinished work on task US-003 is back in the work tree (0123456)"},
		{loop.Event{Payload: loop.Restored{Tree: "0123456789"}}, "the work tree was restored to where task US-003 started (0123456)"},
		{loop.Event{Payload: loop.TurnEnded{Turn: loop.Turn{ToolCalls: 1}}}, "iteration 4 ended without a claim (1 tool call)"},
		{
			loop.Event{Payload: loop.TurnEnded{Turn: loop.Turn{ToolCalls: 1, OtherPromise: &loop.OtherPromise{Said: "COMPLETE", Asked: "DONE"}}}},
			"iteration 4 ended with <promise>COMPLETE</promise>, which is no claim: this loop expects <promise>DONE</promise> (1 tool call)",
		},
		{loop.Event{Payload: loop.TurnEnded{Turn: loop.Turn{ByUser: true}}}, "iteration 4 was the user's own turn: not counted (0 tool calls)"},
		{
			loop.Event{Payload: loop.TurnEnded{Turn: loop.Turn{Claim: &loop.Claim{Blocked: true, Reason: "no key"}}}},
			"iteration 4 ended: the agent says that it is blocked: no key (0 tool calls)",
		},
		{
			loop.Event{Payload: loop.TurnEnded{Turn: loop.Turn{Claim: &loop.Claim{Tasks: []string{"A", "B"}}}}},
			"iteration 4 ended: the agent claims A, B done (0 tool calls)",
		},
		{
			loop.Event{Payload: loop.AgentFailed{Failure: loop.Failure{Class: loop.TimedOut, Message: "after 1h"}}},
			"the turn died: after 1h (timed out)",
		},
		{
			loop.Event{Payload: loop.GatesFinished{Gates: loop.Gates{Purpose: loop.ForLimit, Status: gate.Unknown, Reason: "killed"}}},
			"gates at the limit: unknown; killed",
		},
		{
			loop.Event{Payload: loop.GatesFinished{Gates: loop.Gates{Purpose: loop.ForLimit, Status: gate.Pass, Results: []gate.Result{{Gate: "x", Status: gate.Fail}}}}},
			"gates at the limit: fails as before the task",
		},
		{
			loop.Event{Payload: loop.GatesFinished{Gates: loop.Gates{
				Purpose: loop.ForClaim, Status: gate.Pass, WorkResult: loop.WorkResult{Evidence: gate.Proven, Flipped: []string{"a"}},
				Results: []gate.Result{{Gate: "x", Status: gate.Fail, Failing: []string{"b"}}},
			}}},
			"gates on the claim: fails less than before the task, evidence proven; failed before, passes now: a",
		},
		{loop.Event{Payload: loop.TreeInspected{Inspection: loop.Inspection{}}}, ""},
		{
			loop.Event{Payload: loop.TreeInspected{Inspection: loop.Inspection{Tampered: []string{"Makefile"}, TickedByAgent: []string{"A"}}}},
			"the agent ticked A: taken as a claim; the agent changed protected files: Makefile",
		},
		{loop.Event{Payload: loop.Committed{}}, "done: US-003"},
		{loop.Event{Payload: loop.TimerFired{}}, "the wait has ended"},
		{loop.Event{Payload: loop.Concluded{}}, "cleanup after the end is finished"},
		{loop.Event{Payload: loop.LimitHit{Limit: loop.Duration}}, "limit reached: duration"},
		{loop.Event{Payload: loop.MessageArrived{Text: "hello"}}, "message from a user: hello"},
		{loop.Event{Payload: loop.MessageArrived{Text: "hello", Now: true}}, "message from a user, for this turn: hello"},
		{loop.Event{Payload: loop.Delivered{MessageIDs: []string{"m1"}}}, "1 message delivered into the turn"},
		{loop.Event{Payload: loop.TestChangeRequested{Paths: []string{"a_test.go", "b_test.go"}, Why: "a field is gone"}}, "the agent asks to change tests: a_test.go, b_test.go: a field is gone"},
		{loop.Event{Payload: loop.Approved{}}, "pawl approve: the agent may change any test"},
		{loop.Event{Payload: loop.Rejected{Paths: []string{"a_test.go"}}}, "pawl reject: the agent may not change a_test.go"},
		{loop.Event{Payload: loop.LimitsChanged{}}, "the limits do not change"},
		{loop.Event{Payload: loop.LessonLearned{Lesson: "use the sandbox"}}, "lesson added: use the sandbox"},
		{loop.Event{Payload: loop.LessonForgotten{Lesson: "use the sandbox"}}, "lesson removed: use the sandbox"},
		{loop.Event{Payload: loop.PlanEditRequested{Edits: []plan.Edit{{Do: plan.Add, Title: "export", Before: "2"}}}}, `the user edits the plan: a new task, "export", is added before task 2`},
		{loop.Event{Payload: loop.PlanEdited{Edits: []plan.Edit{{Do: plan.Skip, Task: "3"}, {Do: plan.Move, Task: "4"}, {Do: plan.Retry, Failed: "no"}}}}, "the plan was edited: task 3 is left out; task 4 comes next"},
		{loop.Event{Payload: loop.PlanEdited{Edits: []plan.Edit{{Do: plan.Retry, Failed: "no"}}}}, "the plan does not change"},
		{loop.Event{Payload: loop.QuestionAsked{Question: loop.Question{Text: "which zone?"}}}, "the agent asks: which zone?"},
		{loop.Event{Payload: loop.Answered{Answer: "UTC"}}, "answer of a user: UTC"},
		{loop.Event{Payload: loop.MergeRequested{Summary: "all of it"}}, "the agent asks to merge its work: all of it"},
		{loop.Event{Payload: loop.CheckpointRestored{Summary: "you restored checkpoint 1"}}, "you restored checkpoint 1"},
		{loop.Event{Payload: loop.PauseRequested{}}, "pause requested"},
		{loop.Event{Payload: loop.Resumed{}}, "resumed"},
		{loop.Event{Payload: loop.Cancelled{Cause: "int"}}, "cancelled (int)"},
		{loop.Event{Payload: loop.OwnerChanged{}}, "a new process took over the loop"},
		{loop.Event{Payload: loop.Faulted{Error: "disk full"}}, "failed: disk full"},
		{loop.Event{Payload: loop.Reopened{}}, "reopened: unfinished tasks are open again"},
		{loop.Event{Payload: loop.HandoverRequested{To: loop.OwnerSession, Why: "a user takes it"}}, "asked to continue in a user's session: a user takes it"},
		{loop.Event{Payload: loop.HandedOver{To: loop.OwnerRunner, Why: "the context is 82 % full"}}, "continues in fresh sessions: the context is 82 % full"},
		{loop.Event{Payload: loop.HandedOver{To: loop.OwnerSession}}, "continues in a user's session"},
		{loop.Event{Payload: loop.Unrecognized{Name: "later"}}, "later"},
	}
	told1 := map[loop.EventKind]bool{}
	for _, c := range cases {
		told1[c.event.Kind()] = true
		after := at
		if c.event.Kind() == loop.KindCommitted {
			after.Tasks = []loop.Task{{ID: "US-003", Status: loop.Done}}
		}
		if got := (Step{Before: at, Event: c.event, After: after}).Sentence(); got != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", c.event.Kind(), got, c.want)
		}
	}
	for _, kind := range loop.EventKinds() {
		if !told1[kind] {
			t.Errorf("nothing is said of %s", kind)
		}
	}
}

// The cost of a turn in a session is unknown.
func TestATurnInASession(t *testing.T) {
	t.Parallel()
	after := loop.State{Counts: loop.Counts{Iteration: 4}, Ownership: loop.Ownership{InSession: true}}
	got := Step{Before: after, Event: loop.Event{Payload: loop.TurnEnded{Turn: loop.Turn{ToolCalls: 2}}}, After: after}.Sentence()
	if want := "iteration 4 ended without a claim (2 tool calls)"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	spent := loop.Turn{ToolCalls: 3, Usage: loop.Usage{Input: 1000, CostUSD: 0.25}}
	after.Usage = spent.Usage
	try := Step{Before: loop.State{Counts: loop.Counts{Iteration: 4}, Ownership: loop.Ownership{InSession: true}}, Event: loop.Event{Payload: loop.TurnEnded{Isolated: true, Turn: spent}}, After: after}.Sentence()
	if want := "iteration 4 in an isolated session ended without a claim (3 tool calls, $0.25, 1.0k tokens)"; try != want {
		t.Errorf("got  %s\nwant %s", try, want)
	}
}

// An exploration has nothing to claim; the messages of its turns are the result.
func TestATurnOfAnExploration(t *testing.T) {
	t.Parallel()
	before := loop.State{Policy: loop.Policy{Kind: loop.Explore}, Counts: loop.Counts{Iteration: 4}, Ownership: loop.Ownership{InSession: true}}
	after := before
	after.LastAgentLine = "Next: b.go."
	got := Step{Before: before, Event: loop.Event{Payload: loop.TurnEnded{Turn: loop.Turn{ToolCalls: 1}}}, After: after}.Sentence()
	if want := "iteration 4 ended (1 tool call): Next: b.go."; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// A verify loop has no claims: its gates fail or pass.
func TestGatesOfAVerifyLoop(t *testing.T) {
	t.Parallel()
	before := loop.State{Policy: loop.Policy{Verify: true}}
	cases := []struct {
		gates loop.Gates
		want  string
	}{
		{
			loop.Gates{Status: gate.Pass, Reason: "sh check.sh still fails: exit 1", WorkResult: loop.WorkResult{Evidence: gate.Unproven}},
			"gates after the turn: fail; sh check.sh still fails: exit 1",
		},
		{
			loop.Gates{Status: gate.Fail, Results: []gate.Result{{Gate: "sh check.sh", Status: gate.Fail}}},
			"gates after the turn: fail; sh check.sh",
		},
		{loop.Gates{Status: gate.Pass, Green: true, WorkResult: loop.WorkResult{Flipped: []string{"sh check.sh"}}}, "gates after the turn: pass; failed before: sh check.sh"},
		{loop.Gates{Status: gate.Pass, Green: true, Reason: "nothing failed before"}, "gates after the turn: pass"},
		{loop.Gates{Status: gate.Unknown, Reason: "killed"}, "gates after the turn: unknown; killed"},
	}
	for _, c := range cases {
		c.gates.Purpose = loop.ForClaim
		if got := (Step{Before: before, Event: loop.Event{Payload: loop.GatesFinished{Gates: c.gates}}}).Sentence(); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}

func TestFailedHandoverInWords(t *testing.T) {
	t.Parallel()
	inSession := loop.State{Ownership: loop.Ownership{InSession: true}}
	got := Step{Before: inSession, Event: loop.Event{Payload: loop.HandedOver{To: loop.OwnerSession, Failed: true, Why: "there is no client"}}, After: inSession}.Sentence()
	if want := "stays in its session: there is no client"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestDecisionsInWords(t *testing.T) {
	t.Parallel()
	told := Step{
		After: loop.State{Counts: loop.Counts{Refusals: 1, Violations: 2}, Work: loop.Work{Failing: &loop.Failing{Reason: "nothing changed"}}, End: loop.End{Outcome: loop.Stuck, Reason: "no way was found"}},
		Actions: []loop.Action{
			{Payload: loop.RestoreFiles{Paths: []string{"Makefile"}}},
			{Payload: loop.Note{Text: "switched back"}},
			{Payload: loop.BeginTurn{Iteration: 5, Task: "A", Situation: loop.GatesFailed}},
			{Payload: loop.HandOver{To: loop.OwnerRunner, Why: "a fresh session is due"}},
			{Payload: loop.Wait{Until: time.Date(2026, 1, 31, 9, 30, 0, 0, time.Local), Why: "overloaded"}},
			{Payload: loop.Finish{}},
		},
	}
	want := []string{
		"claim refused: nothing changed", "violation 2 of 3: Pawl restored the files",
		"iteration 5 starts: task A, the same session (gates failed)", "will continue in fresh sessions: a fresh session is due", "waits until 09:30:00: overloaded",
		"the loop ends stuck: no way was found",
	}
	if diff := cmp.Diff(want, told.consequences()); diff != "" {
		t.Error(diff)
	}
}

// In a user's session, Pawl restores nothing by itself.
func TestViolationsInWords(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		inSession bool
		outcome   loop.Outcome
		want      string
	}{
		{false, "", "violation 1 of 3: Pawl restored the files"},
		{true, "", "violation 1 of 3: Pawl told the agent to restore them"},
		{true, loop.Stuck, "violation 1 of 3: in your session, Pawl restores no files itself"},
	} {
		told := Step{Before: loop.State{Ownership: loop.Ownership{InSession: c.inSession}}, After: loop.State{Counts: loop.Counts{Violations: 1}, End: loop.End{Outcome: c.outcome}}}
		if diff := cmp.Diff([]string{c.want}, told.consequences()); diff != "" {
			t.Error(diff)
		}
	}
}

func TestOtherRecordsInWords(t *testing.T) {
	t.Parallel()
	cases := []struct {
		kind string
		data any
		want []string
	}{
		{store.TypeOwnerTaken, store.Holder{PID: 7, Host: "anvil"}, []string{"process 7 on anvil runs the loop"}},
		{journal.TornType, journal.TornData{Bytes: 12, File: "x.torn"}, []string{"a crash left 12 bytes of a record; they are kept in x.torn"}},
		{memory.TypeNote, memory.Note{Level: loop.Warning, Text: "left"}, []string{"warning: left"}},
		{memory.TypeSession, memory.Session{ID: "s"}, nil},
		{memory.TypeNote, "no note", nil},
	}
	for _, c := range cases {
		data, err := json.Marshal(c.data)
		if err != nil {
			t.Fatal(err)
		}
		got := Step{}.Lines(journal.Record{Type: c.kind, Data: data, Epoch: 3})
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", c.kind, diff)
		}
	}
}

// The clock shows the date if it is another day.
func TestClockShowsAnotherDay(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 31, 22, 0, 0, 0, time.Local)
	for after, want := range map[time.Duration]string{time.Hour: "23:00:00", 24 * time.Hour: "2026-02-01 22:00"} {
		if got := clock(now.Add(after), now); got != want {
			t.Errorf("in %s: %s, not %s", after, got, want)
		}
	}
}
