package narrate

import (
	"strings"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
)

var began = time.Date(2026, 3, 1, 22, 0, 0, 0, time.UTC)

// play steps the machine over events and explains the last one.
func play(t *testing.T, p loop.Policy, events ...loop.Event) (decided, because string) {
	t.Helper()
	start := loop.Event{Payload: loop.Started{Policy: p, Tasks: []loop.Task{{ID: "1", Title: "sum", Status: loop.Open}, {ID: "2", Status: loop.Open}}}}
	var s Step
	for i, e := range append([]loop.Event{start}, events...) {
		e.At = began.Add(time.Duration(i) * time.Minute)
		s = Step{Before: s.After, Event: e}
		s.After, s.Actions = loop.Step(s.Before, e)
	}
	return strings.Join(s.Decided(), "\n"), strings.Join(s.Because(), "\n")
}

// Decisions are explained with the numbers behind them.
func TestDecisionsNameTheirNumbers(t *testing.T) {
	t.Parallel()
	policy := loop.Policy{Kind: loop.Change, Gates: true, Restore: true, Limits: loop.Limits{Iterations: 9, Duration: 8 * time.Hour}}
	few := policy
	few.Limits.Iterations = 1
	checkpointed := loop.Event{Payload: loop.Checkpointed{Tree: "t0"}}
	gates := func(g loop.Gates) loop.Event { return loop.Event{Payload: loop.GatesFinished{Gates: g}} }
	turn := func(tn loop.Turn) loop.Event { return loop.Event{Payload: loop.TurnEnded{Turn: tn}} }
	seen := func(s loop.Inspection) loop.Event { return loop.Event{Payload: loop.TreeInspected{Inspection: s}} }
	baseline := gates(loop.Gates{Purpose: loop.ForBaseline, Status: gate.Pass, Green: true})
	claim := turn(loop.Turn{ToolCalls: 3, Claim: &loop.Claim{}})
	changed := seen(loop.Inspection{Changed: true})
	red := func(print string) loop.Event {
		return gates(loop.Gates{Purpose: loop.ForClaim, Status: gate.Fail, Reason: "TestSum fails", Failures: loop.Failures{Failing: []string{"TestSum"}, Fingerprint: print}})
	}
	tampered := seen(loop.Inspection{Tampered: []string{"pawl.toml"}})
	tests := []struct {
		name             string
		policy           loop.Policy
		events           []loop.Event
		decided, because []string
	}{
		{"begin", policy, nil, []string{"make a checkpoint of the work tree"}, nil},
		{
			"first turn", policy,
			[]loop.Event{checkpointed, baseline},
			[]string{"start iteration 1 on task 1, in a fresh session (first)"},
			[]string{"all gates pass before the work", "limits: 1 of 9 iterations, 2m00s of 8h"},
		},
		{"a claim", policy, []loop.Event{checkpointed, baseline, claim}, []string{"compared with the task's start"}, []string{"a claim is checked"}},
		{"no claim", policy, []loop.Event{checkpointed, baseline, turn(loop.Turn{})}, []string{"protected files only"}, []string{"without a tool call: 1 of 3"}},
		{"claim without a change", policy, []loop.Event{checkpointed, baseline, claim, seen(loop.Inspection{})}, []string{"start iteration 2"}, []string{"no file changed"}},
		{
			"refused", policy,
			[]loop.Event{checkpointed, baseline, claim, changed, gates(loop.Gates{Purpose: loop.ForClaim, Status: gate.Pass, Green: true, WorkResult: loop.WorkResult{Evidence: gate.Unproven}})},
			[]string{"start iteration 2 on task 1"},
			[]string{"found unproven, task 1 wants proven", "refused once"},
		},
		{
			"red", policy,
			[]loop.Event{checkpointed, baseline, claim, changed, red("a")},
			[]string{"start iteration 2"},
			[]string{"did not fail when the task started: 1 (TestSum)", "same session, failed tries 1 of 3"},
		},
		{
			"red twice alike", policy,
			[]loop.Event{checkpointed, baseline, claim, changed, red("a"), claim, changed, red("a")},
			[]string{"in a fresh session"},
			[]string{"from same session to fresh session; the same failure twice in a row"},
		},
		{
			"red three times", policy,
			[]loop.Event{checkpointed, baseline, claim, changed, red("a"), claim, changed, red("b"), claim, changed, red("c")},
			[]string{"in a fresh session"},
			[]string{"from same session to fresh session; failed tries: 3 of 3"},
		},
		{
			"red there too", policy,
			[]loop.Event{checkpointed, baseline, claim, changed, red("a"), claim, changed, red("a"), claim, changed, red("b")},
			[]string{"restore the work tree"},
			[]string{"from fresh session to restore and retry; the only try there failed"},
		},
		{
			"proven", policy,
			[]loop.Event{checkpointed, baseline, claim, changed, gates(loop.Gates{Purpose: loop.ForClaim, Status: gate.Pass, Green: true, Tree: "t1", WorkResult: loop.WorkResult{Evidence: gate.Proven, Flipped: []string{"TestSum"}}})},
			[]string{"commit 1 as proven"},
			[]string{"failed before, passes now: 1 (TestSum)"},
		},
		{
			"unknown", policy,
			[]loop.Event{checkpointed, baseline, claim, changed, gates(loop.Gates{Purpose: loop.ForClaim, Status: gate.Unknown, Reason: "killed"})},
			[]string{"wait 10s"},
			[]string{"run 1 of 3: killed"},
		},
		{"violation", policy, []loop.Event{checkpointed, baseline, turn(loop.Turn{ToolCalls: 1}), tampered}, []string{"restore the protected files: pawl.toml"}, []string{"protected files: 1 of 3"}},
		{
			"overloaded", policy,
			[]loop.Event{checkpointed, baseline, {Payload: loop.AgentFailed{Failure: loop.Failure{Class: loop.Overloaded, Message: "529"}}}},
			[]string{"wait 5s"},
			[]string{"failed this way: 1 of 10"},
		},
		{"limit", few, []loop.Event{checkpointed, baseline, turn(loop.Turn{ToolCalls: 1}), seen(loop.Inspection{})}, []string{"run the gates: at the limit"}, []string{"limits: 1 of 1 iteration"}},
		{
			"limit ends it", few,
			[]loop.Event{checkpointed, baseline, turn(loop.Turn{ToolCalls: 1}), seen(loop.Inspection{}), gates(loop.Gates{Purpose: loop.ForLimit, Status: gate.Pass})},
			[]string{"end the loop as iterations"},
			[]string{"tasks: 0 done, 2 open"},
		},
		{"paused", policy, []loop.Event{checkpointed, {Payload: loop.PauseRequested{}}, baseline}, []string{"pause the loop"}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			decided, because := play(t, tt.policy, tt.events...)
			for _, want := range tt.decided {
				if !strings.Contains(decided, want) {
					t.Errorf("decided %q, want %q", decided, want)
				}
			}
			for _, want := range tt.because {
				if !strings.Contains(because, want) {
					t.Errorf("because %q, want %q", because, want)
				}
			}
		})
	}
}
