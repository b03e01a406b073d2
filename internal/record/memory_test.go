package record_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/store/journal"
)

var spec = record.Spec{
	Prompt:  "have every word",
	Promise: "DONE",
	Policy:  loop.Policy{Kind: loop.Change, Gates: true, Attended: true, Session: loop.Continue, Limits: loop.Limits{Iterations: 9}},
	Tasks:   []loop.Task{{ID: record.GoalTask, Status: loop.Open}},
}

// life is what happens in a loop, from its beginning to its end.
func life() []loop.Event {
	gates := func(p loop.Purpose, s gate.Status) loop.Event {
		return loop.Event{Kind: loop.GatesFinished, Gates: &loop.Gates{
			Purpose: p, Tree: "t1", Status: s, Green: s == gate.Pass, Evidence: gate.Proven, Reason: "why",
			Results: []gate.Result{{Gate: "check", Status: s}},
		}}
	}
	claim := loop.Event{Kind: loop.TurnEnded, Turn: &loop.Turn{ToolCalls: 1, Claim: &loop.Claim{}}}
	seen := loop.Event{Kind: loop.TreeSeen, Seen: &loop.Inspection{Changed: true}}
	return []loop.Event{
		{Kind: loop.Started, Start: &loop.Start{Policy: spec.Policy, Tasks: spec.Tasks}},
		{Kind: loop.Checkpointed, Tree: "t0"},
		gates(loop.ForBaseline, gate.Fail),
		{Kind: loop.TurnEnded, Turn: &loop.Turn{ToolCalls: 1}},
		{Kind: loop.TreeSeen, Seen: &loop.Inspection{Unknown: true}},
		{Kind: loop.TurnEnded, Turn: &loop.Turn{ByUser: true}},
		claim, seen, gates(loop.ForClaim, gate.Fail),
		{Kind: loop.MessageArrived, Text: "use tabs"},
		claim, seen, gates(loop.ForClaim, gate.Pass),
		{Kind: loop.Committed, Tree: "t1"},
		gates(loop.ForFinal, gate.Pass),
		{Kind: loop.Concluded},
	}
}

func TestTurnsBegun(t *testing.T) {
	t.Parallel()
	var m record.Memory
	begun := []int{0, 0, 1, 1, 2, 3, 3, 3, 4, 4, 4, 4, 4, 4, 4, 4}
	for i, e := range life() {
		e.At = time.Unix(int64(i), 0)
		m.Apply(e)
		if m.TurnsBegun != begun[i] {
			t.Errorf("after %d (%s, now %s): %d begun, want %d", i, e.Kind, m.State.Phase, m.TurnsBegun, begun[i])
		}
	}
	if m.State.Outcome != loop.Verified || len(m.Results) != 1 || m.Results[0].Status != gate.Pass {
		t.Errorf("%s: %s; %+v", m.State.Outcome, m.State.Reason, m.Results)
	}
}

// The memory is the same whether it is folded at once, event by event, or from any
// snapshot in between.
func TestLoadIsTheSameFromAnySnapshot(t *testing.T) {
	t.Parallel()
	l, err := store.Open(t.TempDir()).Create("/project", spec)
	if err != nil {
		t.Fatal(err)
	}
	o, err := l.Own(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	var live record.Memory
	live.Bound = record.Bound{Session: "s1", Agent: "claude", Client: 7}
	if _, err := o.Append(journal.Entry{Type: record.TypeBound, Data: record.Bound{Session: "s0"}}, journal.Entry{Type: record.TypeBound, Data: live.Bound}); err != nil {
		t.Fatal(err)
	}
	for i, e := range life() {
		e.At = time.Unix(int64(i), 0)
		e, data, err := record.Event(e, nil)
		if err != nil {
			t.Fatal(err)
		}
		live.Apply(e)
		if _, err := o.Append(journal.Entry{Type: record.TypeEvent, Data: data}, journal.Entry{Type: "of a later version", Data: 1}); err != nil {
			t.Fatal(err)
		}
		behind, mark, err := record.Load(l)
		if diff := cmp.Diff(live, behind, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(record.Memory{}, "Notices")); err != nil || diff != "" {
			t.Fatalf("after %d (%s): live (-), folded (+) %v\n%s", i, e.Kind, err, diff)
		}
		if i%3 == 0 {
			if err := o.Save(mark, behind, nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := os.Remove(filepath.Join(l.Dir, "state.json")); err != nil {
		t.Fatal(err)
	}
	again, _, err := record.Load(l)
	if diff := cmp.Diff(live, again, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(record.Memory{}, "Notices")); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
	sum, err := record.ReadSummary(l)
	if err != nil || sum.State != "ended" || sum.Outcome != loop.Verified || sum.Session != "s1" || !sum.Attended || sum.Tasks.Done != 1 || sum.Goal != spec.Prompt {
		t.Errorf("%+v %v", sum, err)
	}
}

func TestLoadNamesUnreadableRecord(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{record.TypeEvent, record.TypeSession, record.TypeBound, record.TypeAttribution, record.TypeBase} {
		l, err := store.Open(t.TempDir()).Create("/project", spec)
		if err != nil {
			t.Fatal(err)
		}
		o, err := l.Own(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := o.Append(journal.Entry{Type: kind, Data: "a text"}); err != nil {
			t.Fatal(err)
		}
		if err := o.Close(); err != nil {
			t.Fatal(err)
		}
		if _, _, err := record.Load(l); err == nil {
			t.Errorf("%s: a text was read", kind)
		}
	}
}
