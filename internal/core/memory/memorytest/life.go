// Package memorytest has the life of a loop, for tests of what folds and stores it.
package memorytest

import (
	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
)

// Policy is the policy of the loop.
func Policy() loop.Policy {
	return loop.Policy{Kind: loop.Change, Gates: true, InSession: true, Session: loop.Continue, Limits: loop.Limits{Iterations: 9}}
}

// Tasks are the tasks of the loop.
func Tasks() []loop.Task { return []loop.Task{{ID: loop.GoalTask, Status: loop.Open}} }

// Life returns what happens in a loop in a user's session, from its start to its
// verified end.
func Life() []loop.Event {
	gates := func(p loop.Purpose, s gate.Status) loop.Event {
		return loop.Event{Payload: loop.GatesFinished{Gates: loop.Gates{
			Purpose: p, Tree: "t1", Status: s, Green: s == gate.Pass, Reason: "why", Results: []gate.Result{{Gate: "check", Status: s}},
			WorkResult: loop.WorkResult{Evidence: gate.Proven},
		}}}
	}
	claim := loop.Event{Payload: loop.TurnEnded{Turn: loop.Turn{ToolCalls: 1, Claim: &loop.Claim{}}}}
	seen := loop.Event{Payload: loop.TreeInspected{Inspection: loop.Inspection{Changed: true}}}
	return []loop.Event{
		{Payload: loop.Started{Policy: Policy(), Tasks: Tasks()}},
		{Payload: loop.Checkpointed{Tree: "t0"}},
		gates(loop.ForBaseline, gate.Fail),
		{Payload: loop.MessageArrived{Text: "use tabs"}},
		{Payload: loop.TurnEnded{Turn: loop.Turn{ToolCalls: 1}}},
		{Payload: loop.TreeInspected{Inspection: loop.Inspection{Shallow: true}}},
		{Payload: loop.TurnEnded{Turn: loop.Turn{ByUser: true}}},
		claim, seen, gates(loop.ForClaim, gate.Fail),
		claim, seen, gates(loop.ForClaim, gate.Pass),
		{Payload: loop.Committed{Tree: "t1"}},
		gates(loop.ForFinal, gate.Pass),
		{Payload: loop.Concluded{}},
	}
}
