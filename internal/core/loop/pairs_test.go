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

// samples are the events of a kind that lead to different places.
func samples(k loop.EventKind) []loop.Event {
	at := time.Date(2026, 11, 20, 1, 0, 0, 0, time.UTC)
	ev := func(e loop.Event) loop.Event { e.Kind, e.At = k, at; return e }
	var out []loop.Event
	switch k {
	case loop.Started:
		open := []loop.Task{{ID: "a", Status: loop.Open}, {ID: "b", Status: loop.Open, DependsOn: []string{"a"}}}
		done := []loop.Task{{ID: "a", Status: loop.Done, DoneEarlier: true}}
		for _, p := range []loop.Policy{
			{Kind: loop.Change},
			{Kind: loop.Change, Gates: true},
			{Kind: loop.Change, Gates: true, Restore: true},
			{Kind: loop.Change, Gates: true, Verify: true},
			{Kind: loop.Change, Gates: true, Attended: true},
			{Kind: loop.Change, Gates: true, Attended: true, Restore: true},
			{Kind: loop.Change, Gates: true, Attended: true, Handover: true, HandoverAt: 80, Tries: 1},
			{Kind: loop.Change, Gates: true, Attended: true, Verify: true, Isolate: true, Tries: 1},
			{Kind: loop.Answer, Gates: true},
			{Kind: loop.Answer, Gates: true, Reviews: true},
			{Kind: loop.Change, Gates: true, Restore: true, Reviews: true, ReviewRounds: 2},
			{Kind: loop.Explore},
			{Kind: loop.Periodic},
		} {
			p.Limits.Iterations = 6
			tasks := open
			if p.Handover || p.Isolate || p.Reviews { // one is enough for what is theirs
				tasks = open[:1]
			}
			out = append(out, ev(loop.Event{Start: &loop.Start{Policy: p, Tasks: tasks}}))
		}
		out = append(out, ev(loop.Event{Start: &loop.Start{Tasks: done}}), ev(loop.Event{Start: &loop.Start{}}))
	case loop.Reopened:
		out = append(out, ev(loop.Event{Start: &loop.Start{Policy: loop.Policy{Limits: loop.Limits{Iterations: 6}}}}))
	case loop.GatesFinished:
		for _, st := range []gate.Status{gate.Pass, gate.Fail, gate.Unknown} {
			for _, evd := range []gate.Evidence{gate.Proven, gate.Unproven} {
				out = append(out, ev(loop.Event{Gates: &loop.Gates{Status: st, Green: st == gate.Pass, Tree: "t", Proof: loop.Proof{Evidence: evd}}}))
			}
		}
		out = append(out, ev(loop.Event{Gates: &loop.Gates{Status: gate.Pass, Proof: loop.Proof{Evidence: gate.Proven}}}),
			ev(loop.Event{Gates: &loop.Gates{Status: gate.Unknown, Tree: "t", ReviewResult: loop.ReviewResult{RetriesSpent: true}}}),
			ev(loop.Event{Gates: &loop.Gates{Status: gate.Unknown, Tree: "t", ReviewResult: loop.ReviewResult{RetryAt: at.Add(time.Hour)}}}))
	case loop.TurnEnded:
		for _, c := range []*loop.Claim{nil, {}, {Blocked: true, Reason: "r"}} {
			out = append(out, ev(loop.Event{Turn: &loop.Turn{Claim: c, ToolCalls: 1, Background: []string{"server"}}}))
		}
		out = append(out, ev(loop.Event{Turn: &loop.Turn{ByUser: true}}), ev(loop.Event{Turn: &loop.Turn{}, Isolated: true}),
			ev(loop.Event{Turn: &loop.Turn{ToolCalls: 1, ContextPercent: 90}}))
	case loop.AgentFailed:
		for _, c := range loop.Classes() {
			out = append(out, ev(loop.Event{Failure: &loop.Failure{Class: c}}), ev(loop.Event{Failure: &loop.Failure{Class: c}, Isolated: true}))
		}
		out = append(out, ev(loop.Event{Turn: &loop.Turn{ByUser: true}, Failure: &loop.Failure{Class: loop.Crashed}}))
	case loop.TreeInspected:
		out = append(out, ev(loop.Event{Inspection: &loop.Inspection{}}), ev(loop.Event{Inspection: &loop.Inspection{Changed: true}}),
			ev(loop.Event{Inspection: &loop.Inspection{Tampered: []string{"x"}}}), ev(loop.Event{Inspection: &loop.Inspection{TickedByAgent: []string{"a"}, Shallow: true}}))
	case loop.LimitHit:
		out = append(out, ev(loop.Event{Limit: loop.Duration}), ev(loop.Event{Limit: "nonsense"}))
	case loop.LimitsChanged:
		out = append(out, ev(loop.Event{Limits: &loop.Limits{Iterations: 12}}), ev(loop.Event{Limits: &loop.Limits{Iterations: 1, Duration: -1}}))
	case loop.TestChangeRequested, loop.Approved, loop.Rejected:
		out = append(out, ev(loop.Event{Paths: []string{"a_test.go"}}))
	case loop.Checkpointed, loop.Committed, loop.Restored:
		out = append(out, ev(loop.Event{Tree: "t"}))
	case loop.HandoverRequested, loop.HandedOver:
		out = append(out, ev(loop.Event{Owner: loop.OwnerRunner}), ev(loop.Event{Owner: loop.OwnerSession}), ev(loop.Event{Owner: loop.OwnerSession, HandoverFailed: true}))
	case loop.QuestionAsked:
		out = append(out, ev(loop.Event{Question: &loop.Question{Text: "which?"}}))
	case loop.CheckpointRestored:
		out = append(out, ev(loop.Event{Tasks: []string{"a"}}))
	case loop.PlanEditRequested:
		out = append(out, ev(loop.Event{Edits: []plan.Edit{{ID: "m", Do: plan.Add, Title: "c"}}}))
	case loop.PlanEdited:
		for _, do := range []plan.EditKind{plan.Add, plan.Skip, plan.Reopen, plan.Move} {
			out = append(out, ev(loop.Event{Edits: []plan.Edit{{ID: "m", Do: do, Task: "a"}}}))
		}
	case loop.TimerFired, loop.Concluded, loop.MessageArrived, loop.Answered, loop.MergeRequested, loop.LessonLearned, loop.LessonForgotten, loop.PauseRequested, loop.Resumed, loop.Cancelled, loop.OwnerLost, loop.Faulted:
		out = append(out, ev(loop.Event{Text: "text"}))
	}
	return append(out, ev(loop.Event{})) // without what it should carry
}

// roundTrip is what the journal and the snapshot make of a state.
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

// explore feeds every sample to every kind of state that can be reached and
// returns the edges, and the pairs that are anomalies.
var explore = sync.OnceValues(func() (edges map[edge]bool, pairs map[[2]string]string) {
	edges, pairs = map[edge]bool{}, map[[2]string]string{}
	seen := map[signature]bool{}
	events := map[loop.EventKind][]loop.Event{}
	for _, k := range loop.EventKinds() {
		events[k] = samples(k)
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
				anomaly := slices.ContainsFunc(acts, func(a loop.Action) bool { return a.Do == loop.Notify && a.Level == loop.Anomaly })
				pair := [2]string{string(s.Phase), string(k)}
				switch {
				case anomaly:
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

// signature tells states apart as far as decisions do. What no decision of a phase
// looks at is left out of it: the states would be ten times as many.
type signature struct {
	phase                                    loop.Phase
	kind                                     loop.Kind
	after                                    loop.After
	purpose                                  loop.Purpose
	attempt, left                            int
	gates, restore, verify, reviews          bool
	attended, handover, isolate, handsOver   bool
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
		return signature{phase: s.Phase, kind: p.Kind, left: left, gates: p.Gates, attended: s.Attended, unjudged: s.HasWorkLeft()}
	}
	sig := signature{
		s.Phase, p.Kind, s.After, s.Purpose, s.Ladder.Attempt, left,
		p.Gates, p.Restore, p.Verify, p.Reviews,
		s.Attended, p.Handover, p.Isolate && !s.IsolationFailed, s.HandoverTo != "",
		s.TurnSinceGates, s.ReachedLimit != "", s.StopCause != "", s.Pause, s.Claim != nil, s.Claim != nil && s.Claim.Blocked,
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
	_, pairs := explore()
	answers := map[loop.Phase][]loop.EventKind{
		loop.New: {loop.Started}, loop.Checkpointing: {loop.Checkpointed}, loop.Baseline: {loop.GatesFinished},
		loop.Turning: {loop.TurnEnded, loop.AgentFailed}, loop.Inspecting: {loop.TreeInspected}, loop.Judging: {loop.GatesFinished},
		loop.Committing: {loop.Committed}, loop.Restoring: {loop.Restored}, loop.Waiting: {loop.TimerFired}, loop.Paused: nil,
		loop.TurningIsolated: {loop.TurnEnded, loop.AgentFailed}, loop.HandingOver: {loop.HandedOver}, loop.Editing: {loop.PlanEdited}, loop.Finishing: {loop.Concluded},
	}
	// In a user's session a turn may end at any time.
	unasked := []loop.EventKind{loop.TurnEnded, loop.AgentFailed}
	anywhere := []loop.EventKind{
		loop.PlanEditRequested, loop.MessageArrived, loop.Delivered, loop.QuestionAsked, loop.Answered, loop.MergeRequested, loop.TestChangeRequested, loop.Approved, loop.Rejected, loop.LessonLearned, loop.LessonForgotten, loop.PauseRequested, loop.Resumed, loop.Cancelled, loop.OwnerLost, loop.Faulted, loop.LimitHit, loop.LimitsChanged, loop.HandoverRequested,
	}
	for _, p := range loop.Phases() {
		for _, k := range loop.EventKinds() {
			want := "anomaly"
			if p == loop.Ended || slices.Contains(anywhere, k) || k == loop.CheckpointRestored && p != loop.New || slices.Contains(answers[p], k) ||
				p != loop.New && (slices.Contains(unasked, k) || k == loop.HandedOver) {
				want = "defined"
			}
			if got := pairs[[2]string{string(p), string(k)}]; got != want {
				t.Errorf("%s while %s: %q, want %q", k, p, got, want)
			}
		}
	}
}

// The diagram in the docs is what Step does, not what somebody drew.
func TestDiagramInTheDocsIsFresh(t *testing.T) {
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
	edges, _ := explore()
	on := map[[2]loop.Phase][]string{}
	anywhere := map[loop.EventKind]bool{
		loop.Cancelled: true, loop.Faulted: true, loop.OwnerLost: true, loop.PauseRequested: true,
		loop.PlanEditRequested: true, loop.MessageArrived: true, loop.Delivered: true, loop.QuestionAsked: true, loop.Answered: true, loop.MergeRequested: true, loop.TestChangeRequested: true, loop.Approved: true, loop.Rejected: true, loop.LessonLearned: true, loop.LessonForgotten: true, loop.LimitHit: true, loop.LimitsChanged: true, loop.HandedOver: true, loop.HandoverRequested: true, loop.CheckpointRestored: true,
	}
	for e := range edges {
		if e.on == loop.HandedOver && e.from != loop.HandingOver {
			continue
		}
		if e.from == e.to && (anywhere[e.on] || e.on == loop.Resumed) || e.from == loop.Ended && e.on != loop.Reopened || e.on == loop.Reopened && e.to == loop.Ended {
			continue
		}
		if (e.to == loop.Finishing || e.to == loop.Ended) && anywhere[e.on] {
			continue
		}
		ignored := e.from == e.to && !slices.Contains([]loop.Phase{loop.Turning, loop.Waiting}, e.from)
		if ignored && (e.on == loop.TurnEnded || e.on == loop.AgentFailed) {
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
	return `# The machine

Printed from ` + "`internal/core/loop`" + ` by its test; edit the code, not this page. An arrow is an event; what the
machine does on it is decided in ` + "`Step`" + `. Left out: ` + "`cancelled` and `faulted`" + ` (from everywhere to ` + "`finishing`" + `; a turn is
interrupted, a commit and a restore are finished first), ` + "`owner_lost`" + ` (the new owner performs what was pending),
` + "`handed_over`" + ` where nobody asked for it (the same, by an owner of the other kind), messages, and the turns of a user's session that end while Pawl is at work. That they end in ` + "`waiting` and `paused`" + `,
too, is of such sessions only.

` + "```mermaid\nstateDiagram-v2\n    [*] --> new\n" + strings.Join(lines, "\n") + "\n    ended --> [*]\n```\n"
}
