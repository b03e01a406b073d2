package loop_test

import (
	"fmt"
	"testing"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
)

// inLastTurn returns a loop in the turn of its last task, to which the user sends a message.
func inLastTurn(t *testing.T, p loop.Policy) *scenario {
	t.Helper()
	p.Gates = true
	sc := begin(t, p, loop.Task{ID: "a", Title: "first", Status: loop.Open})
	sc.checkpointed("gates baseline")
	sc.gates(green, "turn 1 fresh first")
	sc.feed(loop.Event{ID: "m1", Payload: loop.MessageArrived{Text: "use v2"}}, "")
	sc.turn("done", "gates claim")
	sc.gates(proven, "commit a")
	return sc
}

// A message in the last turn gets another turn. If that turn changes nothing, the loop ends as it
// would have without it.
func TestMessageInLastTurnGetsAnotherTurn(t *testing.T) {
	t.Parallel()
	for _, claim := range []string{"", "done"} {
		t.Run("claim "+claim, func(t *testing.T) {
			t.Parallel()
			sc := inLastTurn(t, loop.Policy{})
			sc.committed("checkpoint")
			sc.checkpointed("gates baseline")
			sc.gates(green, "turn 2 fresh next_task")
			sc.checkNotes("(sent while a was worked on) use v2")
			sc.feed(loop.Event{Payload: loop.TurnEnded{Turn: loop.Turn{Claim: map[string]*loop.Claim{"done": {}}[claim]}}}, "inspect deep")
			sc.feed(loop.Event{Payload: loop.TreeInspected{Inspection: loop.Inspection{}}}, "gates final")
			sc.gates(green, "finish verified")
			if len(sc.s.Tasks) != 1 || sc.s.HasWorkLeft() {
				t.Errorf("tasks %+v, left %v", sc.s.Tasks, sc.s.HasWorkLeft())
			}
		})
	}
}

// Changes of the turn for a message are gated, even without a claim.
func TestWorkForMessageAfterLastClaimIsGated(t *testing.T) {
	t.Parallel()
	sc := inLastTurn(t, loop.Policy{})
	sc.committed("checkpoint")
	sc.checkpointed("gates baseline")
	sc.gates(green, "turn 2 fresh next_task")
	sc.feed(loop.Event{Payload: loop.TurnEnded{Turn: loop.Turn{ToolCalls: 1}}}, "inspect deep")
	sc.feed(loop.Event{Payload: loop.TreeInspected{Inspection: loop.Inspection{Changed: true}}}, "gates claim")
	sc.gates(red("x"), "turn 3 continue gates_failed")
	sc.feed(loop.Event{ID: "m2", Payload: loop.MessageArrived{Text: "thanks"}}, "")
	sc.turn("done", "gates claim")
	sc.gates(green, "commit message")
	sc.committed("checkpoint")
	sc.checkpointed("gates baseline")
	sc.gates(green, "turn 4 fresh next_task")
	sc.checkNotes("(sent while message was worked on) thanks")
	sc.feed(loop.Event{Payload: loop.TurnEnded{Turn: loop.Turn{}}}, "inspect deep")
	sc.feed(loop.Event{Payload: loop.TreeInspected{Inspection: loop.Inspection{}}}, "gates final")
	sc.gates(green, "finish verified")
	if sc.s.Progress() != "2 of 2 tasks done" {
		t.Error(sc.s.Progress())
	}
}

// So does a message during the final gates, or while the loop waits for the approval of its end.
func TestMessageDuringFinalGatesGetsAnotherTurn(t *testing.T) {
	t.Parallel()
	sc := inLastTurn(t, loop.Policy{Approve: []loop.Approval{loop.ApproveEnd}})
	sc.committed("checkpoint")
	sc.checkpointed("gates baseline")
	sc.gates(green, "turn 2 fresh next_task")
	sc.feed(loop.Event{Payload: loop.TurnEnded{Turn: loop.Turn{}}}, "inspect deep")
	sc.feed(loop.Event{Payload: loop.TreeInspected{Inspection: loop.Inspection{}}}, "gates final")
	sc.feed(loop.Event{ID: "m2", Payload: loop.MessageArrived{Text: "and tidy up"}}, "")
	sc.gates(green, "checkpoint")
	sc.checkpointed("gates baseline")
	sc.gates(green, "turn 3 fresh next_task")
	sc.checkNotes("and tidy up")
	sc.feed(loop.Event{Payload: loop.TurnEnded{Turn: loop.Turn{}}}, "inspect deep")
	sc.feed(loop.Event{Payload: loop.TreeInspected{Inspection: loop.Inspection{}}}, "gates final")
	sc.gates(green, "wait")
	sc.feed(loop.Event{ID: "m3", Payload: loop.MessageArrived{Text: "wait, no"}}, "")
	sc.feed(loop.Event{Payload: loop.Answered{Answer: "yes"}}, "checkpoint")
}

// A limit ends the loop despite an undelivered message. The message is named, and a reopened loop
// delivers it.
func TestUndeliveredMessageAtLimitIsReported(t *testing.T) {
	t.Parallel()
	sc := inLastTurn(t, loop.Policy{Limits: loop.Limits{Iterations: 1}})
	sc.committed("gates final")
	sc.gates(green, "note; finish verified")
	if n := len(sc.s.Unread()); n != 1 || !sc.s.HasWorkLeft() || sc.s.ResumeCommand("x") != "pawl resume x --max-iterations 10" {
		t.Fatalf("%d messages, left %v, %q", n, sc.s.HasWorkLeft(), sc.s.ResumeCommand("x"))
	}
	sc.feed(loop.Event{Payload: loop.Reopened{Limits: loop.Limits{Iterations: 5}}}, "checkpoint")
	sc.checkpointed("gates baseline")
	sc.gates(green, "turn 2 fresh next_task")
	sc.checkNotes("(sent while a was worked on) use v2")
}

// If a limit ends the turn for a message, its unfinished work is no claim.
func TestUnfinishedWorkForMessageAtLimitIsNoClaim(t *testing.T) {
	t.Parallel()
	for changed, want := range map[bool]string{true: "gates limit", false: "gates final"} {
		t.Run(fmt.Sprint("changed ", changed), func(t *testing.T) {
			t.Parallel()
			sc := inLastTurn(t, loop.Policy{})
			sc.committed("checkpoint")
			sc.checkpointed("gates baseline")
			sc.gates(green, "turn 2 fresh next_task")
			sc.feed(loop.Event{Payload: loop.LimitHit{Limit: loop.Duration}}, "interrupt")
			sc.feed(loop.Event{Payload: loop.AgentFailed{Turn: &loop.Turn{ContextPercent: -1}, Failure: loop.Failure{Class: loop.Interrupted}}}, "inspect deep")
			sc.feed(loop.Event{Payload: loop.TreeInspected{Inspection: loop.Inspection{Changed: changed}}}, want)
			if len(sc.s.Unread()) != 1 {
				t.Errorf("a turn that died has read the message: %+v", sc.s.Conversation)
			}
		})
	}
}

// A message during a task that ended without its work is delivered in another turn.
func TestMessageToBlockedTaskGetsAnotherTurn(t *testing.T) {
	t.Parallel()
	sc := begin(t, loop.Policy{}, open("a", "b")...)
	sc.checkpointed("turn 1 fresh first")
	sc.feed(loop.Event{ID: "m1", Payload: loop.MessageArrived{Text: "the key is in .env"}}, "")
	sc.feed(loop.Event{Payload: loop.TurnEnded{Turn: loop.Turn{Claim: &loop.Claim{Tasks: []string{"b"}}}}}, "inspect deep")
	sc.feed(loop.Event{Payload: loop.TreeInspected{Inspection: loop.Inspection{Changed: true}}}, "gates claim")
	sc.gates(loop.Gates{Status: gate.Pass}, "commit b")
	sc.committed("checkpoint")
	sc.checkpointed("turn 2 fresh next_task")
	sc.feed(loop.Event{ID: "m2", Payload: loop.MessageArrived{Text: "or in the vault"}}, "")
	sc.turn("blocked", "checkpoint")
	sc.checkpointed("checkpoint")
	if sc.s.Current != "a" {
		t.Errorf("continues with %q", sc.s.Current)
	}
	sc.checkpointed("turn 3 fresh next_task")
	sc.checkNotes("or in the vault")
	sc.turn("blocked", "checkpoint")
	sc.checkpointed("finish blocked")
}

// Pawl's own notes to the agent need no turn.
func TestInternalNotesNeedNoTurn(t *testing.T) {
	t.Parallel()
	sc := inLastTurn(t, loop.Policy{})
	for i := range sc.s.Messages {
		sc.s.Messages[i].ByPawl = true
	}
	sc.committed("gates final")
	sc.gates(green, "finish verified")
}
