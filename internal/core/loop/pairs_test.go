package loop_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/core/plan"
)

var update = flag.Bool("update", false, "write docs/reference/machine.md anew")

const diagramFile = "../../../docs/reference/machine.md"

// sampleEvents returns events of a kind that lead to different states.
func sampleEvents(k loop.EventKind) []loop.Event {
	at := time.Date(2026, 11, 20, 1, 0, 0, 0, time.UTC)
	var out []loop.Event
	add := func(payloads ...loop.EventPayload) {
		for _, p := range payloads {
			out = append(out, loop.Event{At: at, Payload: p})
		}
	}
	switch k {
	case loop.KindStarted:
		open := []loop.Task{{ID: "a", Status: loop.Open}, {ID: "b", Status: loop.Open, DependsOn: []string{"a"}}}
		done := []loop.Task{{ID: "a", Status: loop.Done, DoneEarlier: true}}
		for _, p := range []loop.Policy{
			{Kind: loop.Change},
			{Kind: loop.Change, Gates: true},
			{Kind: loop.Change, Gates: true, Restore: true},
			{Kind: loop.Change, Gates: true, Verify: true},
			{Kind: loop.Change, Gates: true, InSession: true},
			{Kind: loop.Change, Gates: true, InSession: true, Restore: true},
			{Kind: loop.Change, Gates: true, InSession: true, Handover: true, HandoverAt: 80, Tries: 1},
			{Kind: loop.Change, Gates: true, InSession: true, Verify: true, Isolate: true, Tries: 1},
			{Kind: loop.Answer, Gates: true},
			{Kind: loop.Answer, Gates: true, Reviews: true},
			{Kind: loop.Change, Gates: true, Restore: true, Reviews: true, ReviewRounds: 2},
			{Kind: loop.Explore},
			{Kind: loop.Periodic},
		} {
			p.Limits.Iterations = 6
			tasks := open
			if p.Handover || p.Isolate || p.Reviews { // one policy is enough for these events
				tasks = open[:1]
			}
			add(loop.Started{Policy: p, Tasks: tasks})
		}
		add(loop.Started{Tasks: done}, loop.Started{})
	case loop.KindReopened:
		add(loop.Reopened{Limits: loop.Limits{Iterations: 6}})
	case loop.KindGatesFinished:
		for _, st := range []gate.Status{gate.Pass, gate.Fail, gate.Unknown} {
			for _, evd := range []gate.Evidence{gate.Proven, gate.Unproven} {
				add(loop.GatesFinished{Gates: loop.Gates{Status: st, Green: st == gate.Pass, Tree: "t", WorkResult: loop.WorkResult{Evidence: evd}}})
			}
		}
		add(loop.GatesFinished{Gates: loop.Gates{Status: gate.Pass, WorkResult: loop.WorkResult{Evidence: gate.Proven}}},
			loop.GatesFinished{Gates: loop.Gates{Status: gate.Unknown, Tree: "t", ReviewResult: loop.ReviewResult{RetriesSpent: true}}},
			loop.GatesFinished{Gates: loop.Gates{Status: gate.Unknown, Tree: "t", ReviewResult: loop.ReviewResult{RetryAt: at.Add(time.Hour)}}})
	case loop.KindTurnEnded:
		for _, c := range []*loop.Claim{nil, {}, {Blocked: true, Reason: "r"}} {
			add(loop.TurnEnded{Turn: loop.Turn{Claim: c, ToolCalls: 1, Background: []string{"server"}}})
		}
		add(loop.TurnEnded{Turn: loop.Turn{ByUser: true}}, loop.TurnEnded{Isolated: true}, loop.TurnEnded{Turn: loop.Turn{ToolCalls: 1, ContextPercent: 90}})
	case loop.KindAgentFailed:
		for _, c := range loop.Classes() {
			add(loop.AgentFailed{Failure: loop.Failure{Class: c}}, loop.AgentFailed{Failure: loop.Failure{Class: c}, Isolated: true})
		}
		add(loop.AgentFailed{Turn: &loop.Turn{ByUser: true}, Failure: loop.Failure{Class: loop.Crashed}})
	case loop.KindTreeInspected:
		add(loop.TreeInspected{}, loop.TreeInspected{Inspection: loop.Inspection{Changed: true}},
			loop.TreeInspected{Inspection: loop.Inspection{Tampered: []string{"x"}}}, loop.TreeInspected{Inspection: loop.Inspection{TickedByAgent: []string{"a"}, Shallow: true}})
	case loop.KindLimitHit:
		add(loop.LimitHit{Limit: loop.Duration}, loop.LimitHit{Limit: "nonsense"})
	case loop.KindLimitsChanged:
		add(loop.LimitsChanged{Limits: loop.Limits{Iterations: 12}}, loop.LimitsChanged{Limits: loop.Limits{Iterations: 1, Duration: -1}}, loop.LimitsChanged{})
	case loop.KindTestChangeRequested:
		add(loop.TestChangeRequested{Paths: []string{"a_test.go"}})
	case loop.KindApproved:
		add(loop.Approved{Paths: []string{"a_test.go"}}, loop.Approved{})
	case loop.KindRejected:
		add(loop.Rejected{Paths: []string{"a_test.go"}}, loop.Rejected{})
	case loop.KindCheckpointed:
		add(loop.Checkpointed{Tree: "t"})
	case loop.KindCommitted:
		add(loop.Committed{Tree: "t"})
	case loop.KindRestored:
		add(loop.Restored{Tree: "t"})
	case loop.KindWorkReapplied:
		add(loop.WorkReapplied{Tree: "t"})
	case loop.KindHandoverRequested:
		add(loop.HandoverRequested{To: loop.OwnerRunner}, loop.HandoverRequested{To: loop.OwnerSession}, loop.HandoverRequested{})
	case loop.KindHandedOver:
		add(loop.HandedOver{To: loop.OwnerRunner}, loop.HandedOver{To: loop.OwnerSession}, loop.HandedOver{To: loop.OwnerSession, Failed: true}, loop.HandedOver{})
	case loop.KindQuestionAsked:
		add(loop.QuestionAsked{Question: loop.Question{Text: "which?"}}, loop.QuestionAsked{})
	case loop.KindCheckpointRestored:
		add(loop.CheckpointRestored{DoneTasks: []string{"a"}}, loop.CheckpointRestored{})
	case loop.KindPlanEditRequested:
		add(loop.PlanEditRequested{Edits: []plan.Edit{{ID: "m", Do: plan.Add, Title: "c"}}})
	case loop.KindPlanEdited:
		for _, do := range []plan.EditKind{plan.Add, plan.Skip, plan.Reopen, plan.Move} {
			add(loop.PlanEdited{Edits: []plan.Edit{{ID: "m", Do: do, Task: "a"}}})
		}
		add(loop.PlanEdited{})
	case loop.KindMessageArrived:
		add(loop.MessageArrived{Text: "text"})
	case loop.KindAnswered:
		add(loop.Answered{Answer: "text"})
	case loop.KindMergeRequested:
		add(loop.MergeRequested{Summary: "text"})
	case loop.KindLessonLearned:
		add(loop.LessonLearned{Lesson: "text"})
	case loop.KindLessonForgotten:
		add(loop.LessonForgotten{Lesson: "text"})
	case loop.KindCancelled:
		add(loop.Cancelled{Cause: loop.ByStop})
	case loop.KindFaulted:
		add(loop.Faulted{Error: "text"})
		add(loop.Faulted{Error: "text", Moved: true})
	default:
		out = append(out, emptyEvent(k))
		out[0].At = at
	}
	return out
}

// emptyEvent returns an event of a kind with an empty payload.
func emptyEvent(k loop.EventKind) (e loop.Event) {
	if err := json.Unmarshal(fmt.Appendf(nil, `{"kind":%q}`, k), &e); err != nil {
		panic(err)
	}
	return e
}

// roundTrip encodes and decodes a state, as the journal and the snapshot do.
func roundTrip(t *testing.T, s loop.State) loop.State {
	t.Helper()
	b, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var back loop.State
	if err := json.Unmarshal(b, &back); err != nil {
		t.Fatal(err)
	}
	return back
}

type edge struct {
	from loop.Phase
	on   loop.EventKind
	to   loop.Phase
}

// exploreStates feeds every sample to every kind of state that can be reached and
// returns the edges, and the pairs that are anomalies.
var exploreStates = sync.OnceValues(func() (edges map[edge]bool, pairs map[[2]string]string) {
	edges, pairs = map[edge]bool{}, map[[2]string]string{}
	seen := map[signature]bool{}
	events := map[loop.EventKind][]loop.Event{}
	for _, k := range loop.EventKinds() {
		events[k] = sampleEvents(k)
	}
	queue := []loop.State{{}}
	for len(queue) > 0 {
		s := queue[0]
		queue = queue[1:]
		if s.Phase == "" {
			s.Phase = loop.New
		}
		for _, k := range loop.EventKinds() {
			for _, e := range events[k] {
				next, acts := loop.Step(s, e)
				pair := [2]string{string(s.Phase), string(k)}
				switch {
				case hasAnomaly(acts):
					if pairs[pair] == "" {
						pairs[pair] = "anomaly"
					}
				default:
					pairs[pair] = "defined"
					edges[edge{s.Phase, k, next.Phase}] = true
				}
				if sig := signatureOf(next); !seen[sig] {
					seen[sig] = true
					queue = append(queue, next)
				}
			}
		}
	}
	return edges, pairs
})

// signature holds the parts of a state that decisions depend on. Others are left out: with them, there
// would be ten times as many states.
type signature struct {
	phase                                    loop.Phase
	kind                                     loop.GoalKind
	after                                    loop.After
	purpose                                  loop.Purpose
	attempt, left                            int
	gates, restore, verify, reviews          bool
	inSession, handover, isolate, handsOver  bool
	unjudged, hit, stop, pause, claim, block bool
	replaced, edits                          bool
}

func signatureOf(s loop.State) signature {
	p, left := s.Policy, 0
	for _, t := range s.Tasks {
		if t.Status == loop.Open {
			left++
		}
	}
	if s.Phase == loop.Ended {
		return signature{phase: s.Phase, kind: p.Kind, left: left, gates: p.Gates, inSession: s.InSession, unjudged: s.HasWorkLeft()}
	}
	sig := signature{
		s.Phase, p.Kind, s.After, s.Gates.Purpose, s.Ladder.Attempt, left,
		p.Gates, p.Restore, p.Verify, p.Reviews,
		s.InSession, p.Handover, p.Isolate && !s.Handover.IsolationFailed, s.Handover.To != "",
		s.Gates.TurnSince, s.Stop.Limit != "", s.Stop.Cause != "", s.Pause, s.Claim != nil, s.Claim != nil && s.Claim.Blocked,
		s.TreeReplaced, len(s.Edits) > 0,
	}
	if !slices.Contains([]loop.Phase{loop.Checkpointing, loop.Restoring, loop.Waiting, loop.Paused, loop.Editing}, s.Phase) {
		sig.after = ""
	}
	if s.Phase != loop.Judging && sig.after != loop.ThenGates {
		sig.purpose = ""
	}
	return sig
}

func TestEveryPairOfPhaseAndEventIsDefined(t *testing.T) {
	t.Parallel()
	_, pairs := exploreStates()
	answers := map[loop.Phase][]loop.EventKind{
		loop.New: {loop.KindStarted}, loop.Checkpointing: {loop.KindCheckpointed}, loop.Baseline: {loop.KindGatesFinished},
		loop.Turning: {loop.KindTurnEnded, loop.KindAgentFailed}, loop.Inspecting: {loop.KindTreeInspected}, loop.Judging: {loop.KindGatesFinished},
		loop.Committing: {loop.KindCommitted}, loop.Restoring: {loop.KindRestored, loop.KindWorkReapplied}, loop.Waiting: {loop.KindTimerFired}, loop.Paused: nil,
		loop.TurningIsolated: {loop.KindTurnEnded, loop.KindAgentFailed}, loop.HandingOver: {loop.KindHandedOver}, loop.Editing: {loop.KindPlanEdited}, loop.Finishing: {loop.KindConcluded},
	}
	// In a user's session a turn may end at any time.
	unasked := []loop.EventKind{loop.KindTurnEnded, loop.KindAgentFailed}
	anywhere := []loop.EventKind{
		loop.KindPlanEditRequested, loop.KindMessageArrived, loop.KindDelivered, loop.KindQuestionAsked, loop.KindAnswered, loop.KindMergeRequested, loop.KindTestChangeRequested, loop.KindApproved, loop.KindRejected, loop.KindLessonLearned, loop.KindLessonForgotten, loop.KindPauseRequested, loop.KindResumed, loop.KindCancelled, loop.KindOwnerChanged, loop.KindFaulted, loop.KindLimitHit, loop.KindLimitsChanged, loop.KindHandoverRequested,
	}
	for _, p := range loop.Phases() {
		for _, k := range loop.EventKinds() {
			want := "anomaly"
			if p == loop.Ended || slices.Contains(anywhere, k) || k == loop.KindCheckpointRestored && p != loop.New || slices.Contains(answers[p], k) ||
				p != loop.New && (slices.Contains(unasked, k) || k == loop.KindHandedOver) {
				want = "defined"
			}
			if got := pairs[[2]string{string(p), string(k)}]; got != want {
				t.Errorf("%s while %s: %q, want %q", k, p, got, want)
			}
		}
	}
}

// The diagram in the documentation is generated from Step.
func TestStateDiagramInDocsIsUpToDate(t *testing.T) {
	t.Parallel()
	got := diagram(t)
	if *update {
		if err := os.MkdirAll(filepath.Dir(diagramFile), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(diagramFile, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(diagramFile)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != got {
		t.Errorf("%s is stale: go test ./internal/core/loop -update", diagramFile)
	}
}

func diagram(t *testing.T) string {
	t.Helper()
	edges, _ := exploreStates()
	on := map[[2]loop.Phase][]string{}
	anywhere := map[loop.EventKind]bool{
		loop.KindCancelled: true, loop.KindFaulted: true, loop.KindOwnerChanged: true, loop.KindPauseRequested: true,
		loop.KindPlanEditRequested: true, loop.KindMessageArrived: true, loop.KindDelivered: true, loop.KindQuestionAsked: true, loop.KindAnswered: true, loop.KindMergeRequested: true, loop.KindTestChangeRequested: true, loop.KindApproved: true, loop.KindRejected: true, loop.KindLessonLearned: true, loop.KindLessonForgotten: true, loop.KindLimitHit: true, loop.KindLimitsChanged: true, loop.KindHandedOver: true, loop.KindHandoverRequested: true, loop.KindCheckpointRestored: true,
	}
	for e := range edges {
		if e.on == loop.KindHandedOver && e.from != loop.HandingOver {
			continue
		}
		if e.from == e.to && (anywhere[e.on] || e.on == loop.KindResumed) || e.from == loop.Ended && e.on != loop.KindReopened || e.on == loop.KindReopened && e.to == loop.Ended {
			continue
		}
		if (e.to == loop.Finishing || e.to == loop.Ended) && anywhere[e.on] {
			continue
		}
		ignored := e.from == e.to && !slices.Contains([]loop.Phase{loop.Turning, loop.Waiting}, e.from)
		if ignored && (e.on == loop.KindTurnEnded || e.on == loop.KindAgentFailed) {
			continue
		}
		on[[2]loop.Phase{e.from, e.to}] = append(on[[2]loop.Phase{e.from, e.to}], string(e.on))
	}
	var lines []string
	for pair, kinds := range on {
		slices.Sort(kinds)
		lines = append(lines, fmt.Sprintf("    %s --> %s: %s", pair[0], pair[1], strings.Join(kinds, ", ")))
	}
	slices.Sort(lines)
	return `# States of a loop

For contributors, and readers of ` + "`pawl log --json`" + `: the states of a loop. An arrow is an event; ` + "`Step`" + ` decides what
happens on it. A test of ` + "`internal/core/loop`" + ` prints this page; edit the code instead.

Left out:

| event | where it leads |
|---|---|
| ` + "`cancelled`, `faulted`" + ` | from every state to ` + "`finishing`" + `: a turn is interrupted, a commit and a restore are finished first |
| ` + "`owner_changed`" + `, if not shown | to the same state: the new owner performs what was pending |
| ` + "`handed_over`" + `, if nobody asked for it | as after ` + "`owner_changed`" + `, with an owner of the other kind |
| messages, requests and answers, if not shown; turns of your session that end while Pawl works | to the same state |

Arrows of ` + "`turn_ended` and `agent_failed` from `waiting` and `paused`" + ` exist in your own session only.

` + "```mermaid\nstateDiagram-v2\n    [*] --> new\n" + strings.Join(lines, "\n") + "\n    ended --> [*]\n```\n"
}
